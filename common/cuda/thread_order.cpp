#include "cuda/thread_order.hpp"

#include <cuda_runtime.h>

#ifdef CUDA_ON_CPU
#include "cuda_on_cpu/settings.hpp"
#endif

namespace stagewise::cuda {

#ifdef CUDA_ON_CPU

namespace {

using cuda_on_cpu::Settings;
using cuda_on_cpu::ThreadOrder;

/// While it exists, threads run in the requested order.
class InOrder {
 public:
  InOrder(ThreadOrder order, std::uint64_t seed) : before_(cuda_on_cpu::settings()) {
    cuda_on_cpu::settings().thread_order = order;
    cuda_on_cpu::settings().seed = seed;
  }
  ~InOrder() { cuda_on_cpu::settings() = before_; }
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;

 private:
  Settings before_;
};

bool repeats_in(ThreadOrder order, std::uint64_t seed, const std::function<bool()>& repeats) {
  const InOrder in_order(order, seed);
  return repeats();
}

}  // namespace

std::string explain_order(const std::function<bool()>& repeats) {
  bool same =
      repeats_in(ThreadOrder::forward, 1, repeats) && repeats_in(ThreadOrder::reverse, 1, repeats);
  for (std::uint64_t seed = 1; same && seed <= 3; ++seed) {
    same = repeats_in(ThreadOrder::random, seed, repeats);
  }
  if (same) return "The result is the same in every order of the threads that was tried.";
  return "The result depends on the order in which threads run: two threads use the same memory "
         "with no barrier between them; with STAGEWISE_CPU_OBSERVE=mistakes, the programs in "
         "bin/instrumented name the lines.";
}

#else

std::string explain_order(const std::function<bool()>& repeats) {
  bool same = true;
  for (int i = 0; same && i < 10; ++i) same = repeats();
  if (same) return "The result is the same each time.";
  return "The result differs from time to time: two threads use the same memory with no barrier "
         "between them, or one reads what nobody has written; compute-sanitizer names the lines, "
         "with --tool racecheck or initcheck.";
}

#endif

}  // namespace stagewise::cuda
