#include "ladders/persistent/latency/mailbox.hpp"

#include <algorithm>
#include <atomic>

#include "cuda/check.hpp"
#include "cuda/memory.hpp"

namespace stagewise::minibatch {
namespace {

template <typename T>
Index words_of_input(const PersistentMlp<T>& mlp, int layer) {
  return Index{mlp.layers[layer].in} * words_of<T>;
}

template <typename T>
Index words_between_blocks(const PersistentMlp<T>& mlp) {
  if (mlp.layer_count == 1) return 0;  // block 0 reads the mailbox
  Index words = 0;
  for (int l = 0; l < mlp.layer_count; ++l) words += words_of_input(mlp, l);
  return words;
}

}  // namespace

template <typename T>
Mailbox<T>::Mailbox(PersistentMlp<T>& mlp, const cuda::Stream& stream)
    : mailbox_({words_of_input(mlp, 0)}, cuda::pinned_memory()),
      answer_({1}, cuda::pinned_memory()),
      between_blocks_({words_between_blocks(mlp)}, cuda::device_memory()) {
  mlp.mailbox = mailbox_.data();
  mlp.answer = answer_.data();
  mlp.layers[0].input = mailbox_.data();
  Index begin = 0;
  for (int l = 0; l < mlp.layer_count && mlp.layer_count > 1; ++l) {
    mlp.layers[l].input = between_blocks_.data() + begin;
    begin += words_of_input(mlp, l);
  }
  // Earlier contents must not look like a message.
  std::fill_n(mailbox_.data(), mailbox_.elements(), make_word(no_request, 0));
  std::fill_n(answer_.data(), 1, make_word(no_request, 0));
  CUDA_CHECK(cudaMemsetAsync(between_blocks_.data(), 0,
                             static_cast<std::size_t>(between_blocks_.elements()) * sizeof(Word),
                             stream.get()));
}

//! [post]
template <typename T>
void Mailbox<T>::post(std::uint32_t request, const T* features) {
  Word* to = mailbox_.data();
  for (Index i = 0; i < mailbox_.elements() / words_of<T>; ++i) {
    for (const Word word : make_message(request, features[i]).words) {
      std::atomic_ref(*to++).store(word, std::memory_order_relaxed);
    }
  }
}
//! [post]

template <typename T>
void Mailbox<T>::post_stop() {
  for (Index i = 0; i < mailbox_.elements(); ++i) {
    std::atomic_ref(mailbox_.data()[i])
        .store(make_word(stop_request, 0), std::memory_order_relaxed);
  }
}

template <typename T>
bool Mailbox<T>::is_answered(std::uint32_t request) const {
  const Word word = std::atomic_ref(*answer_.data()).load(std::memory_order_relaxed);
  return number_of(word) == request;
}

template <typename T>
std::int32_t Mailbox<T>::answer() const {
  const Word word = std::atomic_ref(*answer_.data()).load(std::memory_order_relaxed);
  return static_cast<std::int32_t>(data_of(word));
}

template class Mailbox<float>;
template class Mailbox<double>;

}  // namespace stagewise::minibatch
