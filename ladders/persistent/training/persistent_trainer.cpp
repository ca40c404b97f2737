#include "ladders/persistent/training/persistent_trainer.hpp"

#include "cuda/check.hpp"
#include "cuda/memory.hpp"
#include "tensor/error.hpp"

namespace stagewise::minibatch::persistent {
namespace {

template <typename T>
Plan plan_of(const MlpShape& shape) {
  const auto plan = plan_blocks<T>(shape);
  if (!plan) throw Error("no persistent kernel for this network fits onto this GPU");
  return *plan;
}

}  // namespace

template <typename T>
Trainer<T>::Trainer(const MlpShape& shape)
    : plan_(plan_of<T>(shape)), mailbox_({plan_.mailbox.size}, cuda::device_memory()) {
  CUDA_CHECK(
      cudaMemset(mailbox_.data(), 0, static_cast<std::size_t>(mailbox_.elements()) * sizeof(Word)));
  load_kernel<T>(plan_);
  CUDA_CHECK(cudaStreamSynchronize(nullptr));  // other streams do not wait for this one
}

//! [train]
template <typename T>
void Trainer<T>::train(cudaStream_t stream, const Mlp<T>& mlp) {
  train_steps(stream, mlp, plan_, mailbox_.data(), next_flag_);
  // After 2^32 steps numbers come again, when all words have others.
  next_flag_ += static_cast<std::uint32_t>(mlp.steps);
}
//! [train]

template class Trainer<float>;
template class Trainer<double>;

}  // namespace stagewise::minibatch::persistent
