// An index that comes from data, here labels in the other byte order, and is not looked at.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
__global__ void histogram(int n, const int* labels, double* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[labels[i]], 1.0);
}
//! [kernel]

//! [cure]
__global__ void histogram_cured(int n, const int* labels, int classes, double* bins, int* refused) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int label = labels[i];
  if (label >= 0 && label < classes) {
    atomicAdd(&bins[label], 1.0);
  } else {
    atomicAdd(refused, 1);  // the host will say so
  }
}
//! [cure]

}  // namespace

void wild_index(bool cured) {
  const int n = 4;
  const int classes = 10;
  const std::vector<int> host{0, 0x09000000, 0, 0};
  int* labels = nullptr;
  double* bins = nullptr;
  int* refused = nullptr;
  check(cudaMalloc(&labels, n * sizeof(int)));
  check(cudaMalloc(&bins, classes * sizeof(double)));
  check(cudaMalloc(&refused, sizeof(int)));
  check(cudaMemcpy(labels, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  check(cudaMemset(bins, 0, classes * sizeof(double)));
  check(cudaMemset(refused, 0, sizeof(int)));
  if (cured) {
    histogram_cured<<<1, 32>>>(n, labels, classes, bins, refused);
  } else {
    histogram<<<1, 32>>>(n, labels, bins);
  }
  check(cudaDeviceSynchronize());
  check(cudaFree(labels));
  check(cudaFree(bins));
  check(cudaFree(refused));
}

}  // namespace mistakes
