#include "check_cuda.hpp"

namespace {

int executable_graphs = 0;

template <class... Arguments>
cudaError_t counted_instantiate(Arguments... arguments) {
  ++executable_graphs;
  return cudaGraphInstantiate(arguments...);
}

template <class... Arguments>
cudaError_t counted_instantiate_with_flags(Arguments... arguments) {
  ++executable_graphs;
  return cudaGraphInstantiateWithFlags(arguments...);
}

}  // namespace

#define cudaGraphInstantiate counted_instantiate
#define cudaGraphInstantiateWithFlags counted_instantiate_with_flags
#include EXERCISE_FILE
#undef cudaGraphInstantiate
#undef cudaGraphInstantiateWithFlags

namespace exercise {
namespace {

void check_steps(int n, int steps) {
  const std::string what = say("For ", several(n, "number"), " and ", several(steps, "step"));
  const std::vector<float> x = numbers(n, 1);
  const std::vector<float> target = numbers(n, 2);
  std::vector<float> rates(steps);
  for (int step = 0; step < steps; ++step) rates[step] = step % 3 == 1 ? 0.25F : 0.5F;
  std::vector<float> expected = x;
  for (const float rate : rates) {
    for (int i = 0; i < n; ++i) expected[i] += rate * (target[i] - expected[i]);
  }

  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  DeviceArray<float> device_x(x, "x");
  DeviceArray<float> device_target(target, "target");
  DeviceArray<float> device_rates(rates, "rates");
  cudaDeviceSynchronize();
  executable_graphs = 0;
  count(
      [&] {
        run_steps(n, steps, device_target.data(), device_rates.data(), device_x.data(), stream);
        cudaStreamSynchronize(stream);
        expect_no_error(what);
        expect_equal(device_x.values(), expected, what, 0, 1e-6);
      },
      [&](const Counts& counts) {
        expect(executable_graphs <= 1, what, ", the call makes ", executable_graphs,
               " executable graphs; one, of one step, can be launched as often as there are "
               "steps.");
        expect(counts.graph_launches == steps, what, ", the call does ", counts.graph_launches,
               counts.graph_launches == 1 ? " launch of a graph" : " launches of graphs",
               " instead of ", steps, ": one for each step.");
        expect_kernel(counts, what);
        if (n >= 1000) expect_threads(counts, what, n, "one for each number");
      });
  cudaStreamDestroy(stream);
}

}  // namespace

void check() {
  check_steps(1000, 4);
  check_steps(1, 1);
  check_steps(129, 6);
  pass_counted("the results are right");
  pass_counted("each step is a launch of the same graph");
}

}  // namespace exercise
