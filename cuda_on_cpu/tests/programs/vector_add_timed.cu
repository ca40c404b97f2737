//  Lab 1: vector addition
//
//  The parts that are marked with "Task" were left to the student.
//> success, in some milliseconds

#include <stdio.h>
#include <stdlib.h>
#include <assert.h>
#include "cuda.h"
#include "cuda_runtime.h"
#include "device_launch_parameters.h"

#define cudaCheckErrors(msg) \
    do { \
        cudaError_t __err = cudaGetLastError(); \
        if (__err != cudaSuccess) { \
            fprintf(stderr, "Fatal error: %s (%s at %s:%d)\n", \
                msg, cudaGetErrorString(__err), \
                __FILE__, __LINE__); \
            fprintf(stderr, "*** FAILED - ABORTING\n"); \
            exit(1); \
        } \
    } while (0)

const int DSIZE = 4096;
const int block_size = 256;  // CUDA maximum is 1024

// Task: C = A + B, each thread one element
__global__ void vadd(const float *A, const float *B, float *C, int ds){
  int idx = threadIdx.x + blockDim.x * blockIdx.x;
  if (idx < ds)
    C[idx] = A[idx] + B[idx];
}

int main(){
  float *h_A, *h_B, *h_C, *d_A, *d_B, *d_C;
  h_A = new float[DSIZE];
  h_B = new float[DSIZE];
  h_C = new float[DSIZE];
  for (int i = 0; i < DSIZE; i++){
    h_A[i] = i / (float)DSIZE;
    h_B[i] = 1.0f - h_A[i];
    h_C[i] = 0;}
  cudaMalloc(&d_A, DSIZE*sizeof(float));
  cudaMalloc(&d_B, DSIZE*sizeof(float));
  cudaMalloc(&d_C, DSIZE*sizeof(float));
  cudaCheckErrors("cudaMalloc failure");
  cudaMemcpy(d_A, h_A, DSIZE*sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_B, h_B, DSIZE*sizeof(float), cudaMemcpyHostToDevice);
  cudaCheckErrors("cudaMemcpy H2D failure");

  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start, 0);
  vadd<<<(DSIZE+block_size-1)/block_size, block_size>>>(d_A, d_B, d_C, DSIZE);
  cudaEventRecord(stop, 0);
  cudaCheckErrors("kernel launch failure");
  cudaEventSynchronize(stop);
  float ms = -1.f;
  cudaEventElapsedTime(&ms, start, stop);
  assert(ms >= 0);
  cudaMemcpy(h_C, d_C, DSIZE*sizeof(float), cudaMemcpyDeviceToHost);
  cudaCheckErrors("kernel execution failure or cudaMemcpy D2H failure");
  for (int i = 0; i < DSIZE; i++)
    if (h_C[i] != 1.0f) { printf("mismatch at %d, was: %f, should be: 1.0\n", i, h_C[i]); return -1; }
  printf("success, %s\n", ms < 0 ? "but no time" : "in some milliseconds");
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  cudaFree(d_A); cudaFree(d_B); cudaFree(d_C);
  delete[] h_A; delete[] h_B; delete[] h_C;
  return 0;
}
