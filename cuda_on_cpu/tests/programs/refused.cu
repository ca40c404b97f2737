// Programs that are refused in one sentence: with -DMISTAKE=n, the n-th. The sentence is said about the line behind it.
// Where nothing is linked before it is said, main() is left out.
#include <cuda.h>
#include <stdio.h>

// Headers of libraries that are not there cost nothing; what is used of them is refused.
#if MISTAKE <= 7
#include <cub/cub.cuh>
#include <cuda/ptx>
#include <cuda_fp8.h>
#include <cufft.h>
#include <helper_cuda.h>
#include <nvrtc.h>
#include <surface_types.h>
#endif

#if MISTAKE == 1
#if 0
#include <cublas.h>
#endif
//! 'cufftHandle', of <cufft.h>, belongs to cuFFT, which needs a GPU build; of the libraries, CUDA on the CPU has cuBLAS,
//! cuRAND, Thrust and the common part of CUB
cufftHandle plan;

#elif MISTAKE == 2
__global__ void shift(int *x) {
  //! of CUB, CUDA on the CPU does not have 'cub::BlockShuffle'; this needs a GPU build
  using Shuffle = cub::BlockShuffle<int, 128>;
}

#elif MISTAKE == 3
//! <cublas.h> is the interface to cuBLAS of before 2010, in which CUDA on the CPU has no part: include <cublas_v2.h>
#include <cublas.h>

#elif MISTAKE == 4
int main() {
  //! 'nvrtcCreateProgram', of <nvrtc.h>, belongs to NVRTC, which needs a GPU build; of the libraries, CUDA on the CPU has
  //! cuBLAS, cuRAND, Thrust and the common part of CUB
  return nvrtcCreateProgram();
}

#elif MISTAKE == 5
//! '__nv_fp8_e4m3', of <cuda_fp8.h>, belongs to the CUDA Toolkit, and CUDA on the CPU does not model it; this needs a GPU
//! build
__nv_fp8_e4m3 value;

#elif MISTAKE == 6
__global__ void mark() {
  //! 'cuda::ptx', of <cuda/ptx>, belongs to libcu++, of which CUDA on the CPU has <cuda/atomic>, <cuda/barrier>,
  //! <cuda/cmath>, <cuda/functional>, <cuda/pipeline> and some of <cuda/std/...>; this needs a GPU build
  cuda::ptx::fence_proxy_alias();
}

#elif MISTAKE == 7
//! 'checkCudaErrors', of <helper_cuda.h>, comes with NVIDIA's CUDA samples: put that header, and those that it includes,
//! beside the program
int main() { checkCudaErrors(cudaDeviceSynchronize()); }

#elif MISTAKE == 8
//! conio.h belongs to Windows; put it, and what needs it, between #ifdef _WIN32 and #endif
#include <conio.h>

#elif MISTAKE == 9
//! there is no ../common/book_of_helpers.h here: put it beside the program, or name its folder by -I
#include "../common/book_of_helpers.h"

#elif MISTAKE == 10
int main() {
  //! 'cuInit' is of the driver API; CUDA on the CPU has the runtime API (cuda...) only
  cuInit(0);
}

#elif MISTAKE == 11
//! 'tex2DLod': of textures and surfaces, CUDA on the CPU has tex1Dfetch(), tex1D(), tex2D(), tex3D(), surf2Dread() and
//! surf2Dwrite(); this needs a GPU
__global__ void fetch(float *out, cudaTextureObject_t image) { out[0] = tex2DLod<float>(image, 0, 0, threadIdx.x); }

#elif MISTAKE == 12
int main() {
  void* p = nullptr;
  //! CUDA on the CPU does not know 'cudaMallocOnTheMoon': it is misspelt or not modelled
  return cudaMallocOnTheMoon(&p, 100);
}

#elif MISTAKE == 13
__device__ __forceinline__ unsigned int reversed_bytes(unsigned int x) {
  unsigned int y;
  //! inline PTX (asm) in the device function 'reversed_bytes' is for a GPU's processor; of PTX, CUDA on the CPU knows
  //! mma.sync and reading special registers, so write this in C++
  asm("prmt.b32 %0, %1, 0, 0x0123;" : "=r"(y) : "r"(x));
  return y;
}

#elif MISTAKE == 14
__global__ void warp_sum(int *values) {
  //! no device since Volta (2017) has __shfl_down(): write __shfl_down_sync(0xffffffff, ...), which names the
  //! lanes that take part
  values[0] += __shfl_down(values[0], 16);
}

#elif MISTAKE == 15
#define LAUNCH(kernel, ...) kernel<<<1, 32>>>(__VA_ARGS__)
__global__ void child(int *x) { x[threadIdx.x] = threadIdx.x; }
__global__ void parent(int *x) {
  LAUNCH(child, x);
  //! the kernel 'parent' calls 'cudaDeviceSynchronize', but since CUDA 12 a kernel cannot wait for what it launches; leave
  //! it out: its grid ends when all that has
  cudaDeviceSynchronize();
}

#elif MISTAKE == 16
__device__ float square(float x) { return x * x; }
__global__ void squares(float *values) { values[threadIdx.x] = square(values[threadIdx.x]); }
int main() {
  //! 'main' calls 'square' on the host, but that is __device__; write __host__ __device__ before it
  printf("%g\n", square(2));
}

#elif MISTAKE == 17
float square(float x) { return x * x; }
__global__ void squares(float *values) {
  //! the kernel 'squares' calls 'square', a function of the host; write __device__ before that one
  values[threadIdx.x] = square(values[threadIdx.x]);
}

#elif MISTAKE == 18
#include <stdlib.h>
//! the device function 'drawn' calls 'rand', a function of the host, which no GPU has
__device__ int drawn() { return rand() % 6; }

#elif MISTAKE == 19
#include <iostream>
//! the kernel 'hello' uses std::cout, which is the host's; in a kernel, write printf()
__global__ void hello() { std::cout << "hello\n"; }

#elif MISTAKE == 20
__global__ void number(int *values) { values[threadIdx.x] = 1; }
int main() {
  //! the kernel 'number' is called like a function; launch it: number<<<blocks, threads>>>(...)
  number(nullptr);
}

#elif MISTAKE == 21
__global__ void fill(int *values) { values[threadIdx.x] = 1; }
int main() {
  //! a launch needs a grid and a block: kernel<<<blocks, threads>>>(...)
  fill<<<1>>>(nullptr);
}

#elif MISTAKE == 22
//! the kernel 'first' returns something, but a kernel must be void
__global__ int first(const int *values) { return values[0]; }

#elif MISTAKE == 23
void square(int *values) { values[threadIdx.x] *= values[threadIdx.x]; }
int main() {
  //! 'square' is launched, but is no kernel; declare it as __global__ void
  square<<<1, 32>>>(nullptr);
}

#elif MISTAKE == 24
template <typename T>
__global__ void doubled(T *values) {
  //! 'extern __shared__ scratch[]' has been declared with another type, which nvcc refuses: give each type a name of its
  //! own, or declare unsigned char scratch[] and cast it
  extern __shared__ T scratch[];
  scratch[threadIdx.x] = 2 * values[threadIdx.x];
}
void doubleAll(float *a, double *b) {
  doubled<<<1, 32, 128>>>(a);
  doubled<<<1, 32, 256>>>(b);
}

#elif MISTAKE == 25
//! refused.cu: no main(), so it cannot be run
__global__ void kernel(int* x) { *x = 1; }

#elif MISTAKE == 26
const int size = 32; // as a constant, kernels may name it
float scale = 2, filter[3];
__device__ float own(float scale) { return scale * size; }
//! the kernel 'scaled' uses 'scale', a variable of the host; hand it over as an argument, or declare it __device__ or
//! __constant__
__global__ void scaled(float *x) { x[0] = own(x[threadIdx.x]) * scale; }

#elif MISTAKE == 27
#include <cooperative_groups.h>
__global__ void exchange(int *x) {
  //! 'this_cluster' is of clusters of thread blocks, which CUDA on the CPU does not model
  auto cluster = cooperative_groups::this_cluster();
  cluster.sync();
}
#endif
