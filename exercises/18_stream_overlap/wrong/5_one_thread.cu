// expect: only 1 block of 1 thread
#include <algorithm>

__global__ void affine_kernel(int n, float* x) {
  for (int i = 0; i < n; ++i) x[i] = 2 * x[i] + 1;
}

/// y = 2 x + 1: copies chunks to the GPU in one stream, computes and copies back in another.
void affine_in_chunks(int n, int chunk, const float* x, float* y, float* const buffers[2],
                      cudaStream_t copying, cudaStream_t computing, const cudaEvent_t arrived[2],
                      const cudaEvent_t used[2]) {
  for (int c = 0; c * chunk < n; ++c) {
    // A kernel needs its chunk; a copy needs a buffer whose chunk has been copied to y.
    const int first = c * chunk;
    const int count = std::min(chunk, n - first);
    float* const buffer = buffers[c % 2];
    if (c >= 2) cudaStreamWaitEvent(copying, used[c % 2]);
    cudaMemcpyAsync(buffer, x + first, count * sizeof(float), cudaMemcpyHostToDevice, copying);
    cudaEventRecord(arrived[c % 2], copying);
    cudaStreamWaitEvent(computing, arrived[c % 2]);
    affine_kernel<<<1, 1, 0, computing>>>(count, buffer);
    cudaMemcpyAsync(y + first, buffer, count * sizeof(float), cudaMemcpyDeviceToHost, computing);
    cudaEventRecord(used[c % 2], computing);
  }
}
