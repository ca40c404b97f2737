#include "cuda_on_cpu/peer_words.hpp"

#include <sched.h>
#include <sys/mman.h>

namespace cuda_on_cpu {

PeerWords::PeerWords(int file, std::size_t offset, std::size_t bytes) : bytes_(bytes_for(bytes)) {
  void* const mapped =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  if (mapped != MAP_FAILED) words_ = static_cast<PeerWord*>(mapped);
}

PeerWords::~PeerWords() {
  if (words_ != nullptr) munmap(words_, bytes_);
}

void PeerWords::lock(PeerWord& word) {
  while (__atomic_exchange_n(&word.is_locked, 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
}

}  // namespace cuda_on_cpu
