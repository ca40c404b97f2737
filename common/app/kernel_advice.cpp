#include "app/kernel_advice.hpp"

#include <string>

#include "training/not_finite.hpp"

namespace stagewise {

int with_kernel_advice(bool cuda_on_cpu, const std::function<int()>& body) {
  try {
    return body();
  } catch (const NotFinite& error) {
    if (!cuda_on_cpu || !error.may_be_a_kernel()) throw;
    throw Error(error.what() +
                std::string("; if you changed a kernel: run the same command with "
                            "STAGEWISE_CPU_THREAD_ORDER=reverse before it; if it ends "
                            "differently, threads race (docs/pages/when_your_kernel_is_wrong.md)"));
  }
}

}  // namespace stagewise
