/// @file
/// Training steps of 784-256-10 at a batch of 100 in float, for each variant of GEMM: images/s.
///
/// Run it: `bench_training`. The data are random bytes in the shape and number of MNIST's training
/// images, made in memory; what the network learns from them does not matter to its speed. A step
/// is all of it: gather a shuffled batch, forward, count losses and hits, backward, update.
/// `compare_cpu.py` runs it beside PyTorch.

#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "01_serial/serial_executor.hpp"
#include "data/dataset.hpp"
#include "network/initialize.hpp"
#include "network/workers.hpp"
#include "tensor/random.hpp"
#include "training/step.hpp"
#include "training/trainer.hpp"

namespace stagewise {
namespace {

constexpr Index images = 60000;
constexpr Index batch_size = 100;

Dataset random_images() {
  Random random(1);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(images * 28 * 28));
  for (std::uint8_t& pixel : pixels) pixel = static_cast<std::uint8_t>(random.bits());
  std::vector<std::int32_t> labels(static_cast<std::size_t>(images));
  for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random.below(10));
  return {Shape{28, 28, 1}, 10, std::move(pixels), std::move(labels)};
}

void run(benchmark::State& state, serial::GemmVariant variant) {
  static const Dataset data = random_images();
  const ModelOptions model{.sample = data.sample_shape(), .classes = data.classes()};
  Network<float> network(build_model(model), std::make_unique<SerialExecutor<float>>(variant));
  ProgramStep<float> step({.network = network, .training_set = data, .max_rows = batch_size},
                          build_training(network.model, {.learning_rate = 0.1}, {}),
                          {initial_parameters(network.model, model, 1)});

  std::vector<std::uint32_t> order;
  std::int64_t epoch = 0;
  Index first = images;
  for ([[maybe_unused]] const auto iteration : state) {
    if (first == images) {
      order_of_epoch(images, 1, ++epoch, true, order);
      step.begin_epoch(order);
      first = 0;
    }
    step.run(first, batch_size);
    first += batch_size;
  }
  state.SetItemsProcessed(state.iterations() * batch_size);
}

[[maybe_unused]] const bool added = [] {
  for (const std::string& variant : serial::gemm_variant_names()) {
    benchmark::RegisterBenchmark(("training/784-256-10/float/" + variant).c_str(), run,
                                 serial::parse_gemm_variant(variant))
        ->Unit(benchmark::kMicrosecond)
        ->UseRealTime();
  }
  return true;
}();

}  // namespace
}  // namespace stagewise
