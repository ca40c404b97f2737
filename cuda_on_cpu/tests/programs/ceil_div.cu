// <cuda/cmath>: how many blocks a launch needs, and how to round.
#include <cuda/cmath>
#include <cstdint>
#include <cstdio>

__global__ void add(const float* a, const float* b, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

int main() {
  const int n = 1000;
  float* values = nullptr;
  cudaMallocManaged(&values, 3 * n * sizeof(float));
  for (int i = 0; i < 2 * n; ++i) values[i] = static_cast<float>(i);
  add<<<cuda::ceil_div(n, 256), 256>>>(values, values + n, values + 2 * n, n);
  cudaDeviceSynchronize();
  std::printf("%g\n", values[3 * n - 1]);
  std::printf("%d %d %d\n", cuda::ceil_div(0, 3), cuda::ceil_div(1024, 256), cuda::ceil_div(2147483647, 2));
  std::printf("%d %d %d\n", cuda::round_up(1000, 256), cuda::round_up(1024, 256), cuda::round_down(1000, 256));
  std::printf("%d %d %d %d\n", cuda::ilog2(1), cuda::ilog2(1023), cuda::ilog10(999), cuda::ilog10(1000));
  std::printf("%u %u %u %u\n", cuda::next_power_of_two(0U), cuda::next_power_of_two(1024U),
              cuda::next_power_of_two(1025U), cuda::prev_power_of_two(1023U));
  std::printf("%d %d\n", cuda::is_power_of_two(std::uint64_t{1} << 40), cuda::is_power_of_two(12));
  static_assert(cuda::ceil_div(std::uint8_t{255}, std::uint8_t{2}) == 128, "");
}
