/// @file
/// Stage 04 with convolutions in TF32: `ladder tf32`.
#pragma once

#include "04_minibatch/minibatch_executor.hpp"

namespace stagewise {

/// Rounds the factors of convolutions to TF32; the rest is stage 04's.
class Tf32Executor final : public MinibatchExecutor<float> {
 public:
  using MinibatchExecutor<float>::run;
  void run(const ConvolutionReluPool& op);
  void run(const ConvolutionBackward& op);

 private:
  void run(const Line& line) override { run_in_range(*this, line); }
};

}  // namespace stagewise
