#include "cuda_on_cpu/observer.hpp"
namespace cuda_on_cpu {
Observer* make_checking_observer() {
  return nullptr;
}
}  // namespace cuda_on_cpu
