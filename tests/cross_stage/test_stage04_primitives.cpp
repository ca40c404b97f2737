/// @file
/// Stage 04 computes what stage 01 computes. Its fused kernels have a test of their own beside this
/// one.

#include "04_minibatch/fuse/fuse.hpp"
#include "04_minibatch/minibatch_executor.hpp"
#include "cross_stage/primitives.hpp"

namespace stagewise {
namespace {

struct Minibatch {
  static constexpr bool adds_in_order = false;
  template <typename T>
  static std::unique_ptr<Executor<T>> make() {
    return std::make_unique<MinibatchExecutor<T>>();
  }
  template <typename T>
  static Program rewrite(const Program& program, Index max_rows) {
    return minibatch::fuse<T>(program, max_rows);
  }
};
const int stage04_primitives = register_primitives<Minibatch>("Stage04");

}  // namespace
}  // namespace stagewise
