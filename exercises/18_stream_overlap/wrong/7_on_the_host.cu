// expect: no kernel was launched|does not do the copies
void affine_in_chunks(int n, int chunk, const float* x, float* y, float* const buffers[2],
                      cudaStream_t copying, cudaStream_t computing, const cudaEvent_t arrived[2],
                      const cudaEvent_t used[2]) {
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + 1;
}
