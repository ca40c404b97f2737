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

/// c = a b, one after the other.
std::vector<float> product_of(Size size, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c(size.m * size.n);
  for (int row = 0; row < size.m; ++row) {
    for (int i = 0; i < size.k; ++i) {
      for (int column = 0; column < size.n; ++column) {
        c[row * size.n + column] += a[row * size.k + i] * b[i * size.n + column];
      }
    }
  }
  return c;
}

void run() {
  for (const Size size :
       {Size{1, 1, 1}, {5, 3, 7}, {16, 16, 16}, {33, 65, 17}, {64, 64, 16}, {70, 31, 40}}) {
    const std::vector<float> a = numbers(size.m * size.k, 1);
    const std::vector<float> b = numbers(size.k * size.n, 2);
    DeviceArray<float> device_a(a, "a");
    DeviceArray<float> device_b(b, "b");
    DeviceArray<float> c(size.m * size.n, "c");
    product(size.m, size.n, size.k, device_a.data(), device_b.data(), c.data());
    expect_no_error(name(size));
    expect_equal(c.values(), product_of(size, a, b), name(size), size.n);
  }
  pass("six products are right");

  for (const Size size : {Size{128, 128, 16}}) {
    DeviceArray<float> a(numbers(size.m * size.k, 1), "a");
    DeviceArray<float> b(numbers(size.k * size.n, 2), "b");
    DeviceArray<float> c(size.m * size.n, "c");
    const double multiplications = static_cast<double>(size.m) * size.n * size.k;
    cuda_on_cpu::MemoryCounts before{};
    count(
        [&] {
          before = cuda_on_cpu::counted_accesses();
          product(size.m, size.n, size.k, a.data(), b.data(), c.data());
        },
        [&](const Counts& counts) {
          expect_threads(counts, name(size), 64, "each of which computes some numbers of c");
          expect_full_warps(counts, name(size));
          const double global_bytes =
              static_cast<double>(cuda_on_cpu::counted_accesses().loads.bytes - before.loads.bytes);
          const double global = global_bytes / sizeof(float) / multiplications;
          expect(global <= 0.13,
                 name(size) + ", the kernel asks global memory for " + text(global) +
                     " numbers for each multiplication; 0.125 are enough with tiles of 16 x 16 in "
                     "shared memory, fewer with larger ones.");
          const double shared = 32 * counts.shared_loads / multiplications;
          expect(shared <= 0.6,
                 name(size) + ", the kernel asks shared memory for " + text(shared) +
                     " numbers for each multiplication; 0.5 are enough if a thread computes 4 x 4 "
                     "numbers of c in registers.");
        });
  }
  pass_counted("few numbers are loaded from global memory, and from shared memory");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::run();
}
