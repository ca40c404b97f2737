#include "04_minibatch/minibatch_backend.hpp"

#include "cuda/range.hpp"

namespace stagewise {

template class MinibatchBackend<float>;
template class MinibatchBackend<double>;

}  // namespace stagewise
