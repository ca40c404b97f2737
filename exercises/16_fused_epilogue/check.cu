#include <cmath>

#include "check.hpp"

#include EXERCISE_FILE

// Here, names such as count() are the check's, also if the learner's file has them.
namespace exercise {
namespace {

struct Size {
  int m;
  int n;
  int k;
};

std::string name(Size size) {
  return "For m, n, k = " + std::to_string(size.m) + ", " + std::to_string(size.n) + ", " +
         std::to_string(size.k);
}

/// The layer, one number after the other.
std::vector<float> layer_of(Size size, const std::vector<float>& a, const std::vector<float>& b,
                            const std::vector<float>& bias) {
  std::vector<float> c(size.m * size.n);
  for (int row = 0; row < size.m; ++row) {
    for (int column = 0; column < size.n; ++column) {
      float sum = bias[column];
      for (int i = 0; i < size.k; ++i) sum += a[row * size.k + i] * b[i * size.n + column];
      c[row * size.n + column] = std::max(sum, 0.f);
    }
  }
  return c;
}

void run() {
  for (const Size size :
       {Size{1, 1, 1}, {1, 1, 5}, {3, 40, 7}, {33, 5, 10}, {17, 33, 1}, {32, 64, 16}}) {
    const std::vector<float> a = numbers(size.m * size.k, 1);
    const std::vector<float> b = numbers(size.k * size.n, 2);
    const std::vector<float> bias = numbers(size.n, 3);
    DeviceArray<float> device_a(a, "a");
    DeviceArray<float> device_b(b, "b");
    DeviceArray<float> device_bias(bias, "bias");
    DeviceArray<float> c(size.m * size.n, "c");
    linear_relu(size.m, size.n, size.k, device_a.data(), device_b.data(), device_bias.data(),
                c.data());
    expect_no_error(name(size));
    const std::vector<float> got = c.values();
    expect(!std::all_of(got.begin(), got.end(), [](float number) { return std::isnan(number); }),
           name(size) + ", no number has been written to c.");
    expect_equal(got, layer_of(size, a, b, bias), name(size), size.n);
  }
  pass("six layers are right");

  for (const Size size : {Size{17, 33, 5}, {32, 64, 16}}) {
    DeviceArray<float> a(numbers(size.m * size.k, 1), "a");
    DeviceArray<float> b(numbers(size.k * size.n, 2), "b");
    DeviceArray<float> bias(numbers(size.n, 3), "bias");
    DeviceArray<float> c(size.m * size.n, "c");
    cuda_on_cpu::MemoryCounts before{};
    count(
        [&] {
          before = cuda_on_cpu::counted_accesses();
          linear_relu(size.m, size.n, size.k, a.data(), b.data(), bias.data(), c.data());
        },
        [&](const Counts& counts) {
          expect_kernel(counts, name(size));
          expect(counts.launches == 1, name(size) + ", " + text(counts.launches) +
                                           " kernels are launched; one is enough if the thread "
                                           "that has a number of the product finishes it.");
          const cuda_on_cpu::MemoryCounts after = cuda_on_cpu::counted_accesses();
          const auto stored = static_cast<double>(after.stores.bytes - before.stores.bytes);
          const double needed = sizeof(float) * static_cast<double>(size.m) * size.n;
          expect(stored <= needed, name(size) + ", the stores into c have " +
                                       std::to_string(static_cast<long>(stored)) + " bytes; " +
                                       std::to_string(static_cast<long>(needed)) +
                                       " are enough if the sum stays in a register until it is "
                                       "finished, and each number is stored once.");
          if (size.n % 32 != 0) return;
          expect_threads(counts, name(size), 128, "each of which computes some numbers of c");
          expect_full_warps(counts, name(size));
        });
  }
  pass_counted("a single kernel stores each number once");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::run();
}
