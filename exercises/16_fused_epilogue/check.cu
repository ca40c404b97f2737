#include <algorithm>

#include "check_cuda.hpp"

#include EXERCISE_FILE

namespace exercise {
namespace {

/// A layer, whose operands are on the GPU.
struct Layer {
  int m;
  int n;
  int k;
  std::string what = say("For m, n, k = ", m, ", ", n, ", ", k);
  std::vector<float> host_a = numbers(m * k, 1);
  std::vector<float> host_b = numbers(k * n, 2);
  std::vector<float> host_bias = numbers(n, 3);
  DeviceArray<float> a = {host_a, "a"};
  DeviceArray<float> b = {host_b, "b"};
  DeviceArray<float> bias = {host_bias, "bias"};
  DeviceArray<float> c = {static_cast<std::size_t>(m * n), "c"};

  void compute() { linear_relu(m, n, k, a.data(), b.data(), bias.data(), c.data()); }
};

}  // namespace

void check() {
  const int sizes[][3] = {{1, 1, 1}, {1, 1, 5}, {3, 40, 7}, {33, 5, 10}, {17, 33, 1}, {32, 64, 16}};
  for (const auto& [m, n, k] : sizes) {
    Layer layer{m, n, k};
    std::vector<float> expected = product_of(m, n, k, layer.host_a, layer.host_b);
    for (int i = 0; i < m * n; ++i)
      expected[i] = std::max(expected[i] + layer.host_bias[i % n], 0.f);
    layer.compute();
    expect_no_error(layer.what);
    expect_set(layer.c.values(), layer.what, n);
    expect_equal(layer.c.values(), expected, layer.what, n);
  }
  pass("six layers are right");

  const int counted_sizes[][3] = {{17, 33, 5}, {32, 64, 16}};
  for (const auto& [m, n, k] : counted_sizes) {
    Layer layer{m, n, k};
    count([&] { layer.compute(); },
          [&](const Counts& counts) {
            expect_kernel(counts, layer.what);
            expect(counts.launches == 1, layer.what, ", ", counts.launches,
                   " kernels are launched; one is enough if the thread that has a number of the "
                   "product finishes it.");
            const double needed = sizeof(float) * layer.m * layer.n;
            expect(counts.stored_bytes <= needed, layer.what, ", the stores into c have ",
                   counts.stored_bytes, " bytes; ", needed,
                   " are enough if the sum stays in a register until it is finished, and each "
                   "number is stored once.");
            if (layer.n % 32 != 0) return;
            expect_threads(counts, layer.what, 128, "each of which computes some numbers of c");
            expect_full_warps(counts, layer.what);
          });
  }
  pass_counted("a single kernel stores each number once");
}

}  // namespace exercise
