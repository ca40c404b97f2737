// expect: it comes from chunk 2, which was copied into the buffer before chunk 0 had left it
#include <algorithm>

__global__ void affine_kernel(int n, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 2 * x[i] + 1;
}

// A buffer is overwritten while it may still be in use.
void affine_in_chunks(int n, int chunk, const float* x, float* y, float* const buffers[2],
                      cudaStream_t copying, cudaStream_t computing, const cudaEvent_t arrived[2],
                      const cudaEvent_t used[2]) {
  for (int c = 0; c * chunk < n; ++c) {
    const int first = c * chunk;
    const int count = std::min(chunk, n - first);
    float* const buffer = buffers[c % 2];
    cudaMemcpyAsync(buffer, x + first, count * sizeof(float), cudaMemcpyHostToDevice, copying);
    cudaEventRecord(arrived[c % 2], copying);
    cudaStreamWaitEvent(computing, arrived[c % 2]);
    affine_kernel<<<(count + 127) / 128, 128, 0, computing>>>(count, buffer);
    cudaMemcpyAsync(y + first, buffer, count * sizeof(float), cudaMemcpyDeviceToHost, computing);
    cudaEventRecord(used[c % 2], computing);
  }
}
