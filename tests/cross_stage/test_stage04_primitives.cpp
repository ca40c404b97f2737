/// @file
/// Stage 04 computes what stage 01 computes. Its fused kernels have a test of their own beside this
/// one.

#include "04_minibatch/minibatch_backend.hpp"
#include "cross_stage/primitives.hpp"

namespace stagewise {
namespace {

struct Minibatch {
  static constexpr bool adds_in_order = false;
  template <typename T>
  static std::unique_ptr<Backend<T>> make() {
    return std::make_unique<MinibatchBackend<T>>();
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Stage04, Primitives, StageTypes<Minibatch>, StageNames);

}  // namespace
}  // namespace stagewise
