#include "04_minibatch/persistent/persistent_trainer.hpp"

#include "cuda/check.hpp"
#include "cuda/memory.hpp"
#include "tensor/error.hpp"

namespace stagewise::minibatch {
namespace {

template <typename T>
PersistentPlan plan_of(const MlpShape& shape) {
  const auto plan = plan_persistent<T>(shape);
  if (!plan) throw Error("no persistent kernel for this network fits onto this GPU");
  return *plan;
}

}  // namespace

template <typename T>
PersistentTrainer<T>::PersistentTrainer(const MlpShape& shape)
    : plan_(plan_of<T>(shape)), mailbox_({plan_.mailbox.size}, cuda::device_memory()) {
  CUDA_CHECK(cudaMemset(mailbox_.data(), 0,
                        static_cast<std::size_t>(mailbox_.elements()) * sizeof(Word)));
  load_persistent_mlp<T>(plan_);
  CUDA_CHECK(cudaStreamSynchronize(nullptr));  // other streams do not wait for this one
}

//! [train]
template <typename T>
void PersistentTrainer<T>::train(cudaStream_t stream, const PersistentMlp<T>& mlp) {
  train_persistently(stream, mlp, plan_, mailbox_.data(), next_flag_);
  // After 2^32 steps numbers come again, when all words have others.
  next_flag_ += static_cast<std::uint32_t>(mlp.steps);
}
//! [train]

template class PersistentTrainer<float>;
template class PersistentTrainer<double>;

}  // namespace stagewise::minibatch
