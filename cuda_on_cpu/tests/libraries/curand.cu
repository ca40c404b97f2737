// Random numbers by cuRAND, in kernels and by generators: the same output on a GPU (nvcc -lcurand).
// What depends on the last bits of a logarithm or a sine is printed with few digits.
// curand_kernel.h has curand.h, too.
#include <cstdio>

#include <curand_kernel.h>

template <class State>
__global__ void fill(unsigned* bits, double* numbers, unsigned long long seed,
                     unsigned long long offset) {
  const int i = threadIdx.x;
  State state;
  curand_init(seed, i * 1000003ULL, offset, &state);
  for (int j = 0; j < 3; ++j) bits[3 * i + j] = curand(&state);
  double* mine = numbers + 10 * i;
  mine[0] = curand_uniform(&state);
  mine[1] = curand_uniform_double(&state);
  mine[2] = curand_normal(&state);
  mine[3] = curand_normal(&state);
  mine[4] = curand_normal_double(&state);
  mine[5] = curand_normal_double(&state);
  const float2 pair = curand_normal2(&state);
  mine[6] = pair.x + pair.y;
  mine[7] = curand_log_normal(&state, 0.5f, 0.25f);
  mine[8] = curand_poisson(&state, 5.5);
  mine[9] = curand_poisson(&state, 10000);
}

__global__ void fours(curandStatePhilox4_32_10_t* states, uint4* bits, float4* uniform,
                      float4* normal) {
  curandStatePhilox4_32_10_t state;
  curand_init(7, threadIdx.x, 2, &state);
  curand(&state);
  bits[threadIdx.x] = curand4(&state);
  uniform[threadIdx.x] = curand_uniform4(&state);
  normal[threadIdx.x] = curand_normal4(&state);
  states[threadIdx.x] = state;
}

template <class State>
void show(const char* name, unsigned long long seed, unsigned long long offset) {
  unsigned* bits;
  double* numbers;
  cudaMallocManaged(&bits, 12 * sizeof *bits);
  cudaMallocManaged(&numbers, 40 * sizeof *numbers);
  fill<State><<<1, 4>>>(bits, numbers, seed, offset);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; ++i) {
    printf("%s %d: %u %u %u |", name, i, bits[3 * i], bits[3 * i + 1], bits[3 * i + 2]);
    for (int j = 0; j < 10; ++j) printf(" %.3f", numbers[10 * i + j]);
    printf("\n");
  }
  cudaFree(bits);
  cudaFree(numbers);
}

void show_generator(const char* name, curandRngType_t type) {
  const int n = 10000;
  static unsigned host[n];
  unsigned* bits;
  float* uniform;
  curandGenerator_t generator;
  cudaMalloc(&bits, n * sizeof *bits);
  cudaMallocManaged(&uniform, n * sizeof *uniform);
  if (curandCreateGenerator(&generator, type) != CURAND_STATUS_SUCCESS) printf("no generator\n");
  curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_LEGACY);
  curandSetPseudoRandomGeneratorSeed(generator, 1234ULL);
  curandGenerate(generator, bits, n);
  cudaMemcpy(host, bits, sizeof host, cudaMemcpyDeviceToHost);
  printf("%s: %u %u %u %u %u\n", name, host[0], host[1], host[4095], host[4096], host[9999]);
  curandSetGeneratorOffset(generator, 4097);
  curandGenerateUniform(generator, uniform, n);
  cudaDeviceSynchronize();
  printf("uniform: %.5f %.5f %.5f\n", uniform[0], uniform[1], uniform[5000]);
  double sum = 0, squares = 0;
  curandGenerateNormal(generator, uniform, n, 10, 2);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; ++i) sum += uniform[i], squares += uniform[i] * uniform[i];
  printf("normal: mean %.0f, deviation %.0f\n", sum / n, sqrt(squares / n - sum / n * sum / n));
  printf("odd: %d\n", curandGenerateNormal(generator, uniform, 3, 0, 1));
  curandDestroyGenerator(generator);
  cudaFree(bits);
  cudaFree(uniform);
}

int main() {
  curandGenerator_t before_kernels;
  unsigned* numbers;
  cudaMalloc(&numbers, 2 * sizeof *numbers);
  curandCreateGenerator(&before_kernels, CURAND_RNG_PSEUDO_XORWOW);
  curandGenerate(before_kernels, numbers, 2);
  curandDestroyGenerator(before_kernels);
  cudaFree(numbers);
  show<curandState>("XORWOW", 1234, 0);
  show<curandStateXORWOW_t>("XORWOW", 0x123456789abcdefULL, 1000000000005ULL);
  show<curandStatePhilox4_32_10_t>("Philox", 1234, 0);
  show<curandStatePhilox4_32_10_t>("Philox", 0x123456789abcdefULL, 1000000000005ULL);
  show<curandStateMRG32k3a>("MRG32k3a", 1234, 0);
  show<curandStateMRG32k3a>("MRG32k3a", 0x123456789abcdefULL, 1000000000005ULL);
  curandStatePhilox4_32_10_t* states;
  uint4* bits;
  float4 *uniform, *normal;
  cudaMalloc(&states, 2 * sizeof *states);
  cudaMallocManaged(&bits, 2 * sizeof *bits);
  cudaMallocManaged(&uniform, 2 * sizeof *uniform);
  cudaMallocManaged(&normal, 2 * sizeof *normal);
  fours<<<1, 2>>>(states, bits, uniform, normal);
  cudaDeviceSynchronize();
  for (int i = 0; i < 2; ++i) {
    printf("four: %u %u %u %u | %.5f %.5f %.5f %.5f | %.3f %.3f %.3f %.3f\n", bits[i].x, bits[i].y,
           bits[i].z, bits[i].w, uniform[i].x, uniform[i].y, uniform[i].z, uniform[i].w,
           normal[i].x, normal[i].y, normal[i].z, normal[i].w);
  }
  show_generator("XORWOW", CURAND_RNG_PSEUDO_DEFAULT);
  show_generator("MRG32k3a", CURAND_RNG_PSEUDO_MRG32K3A);
}
