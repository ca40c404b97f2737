// expect: results are wrong
__global__ void gather_kernel(int width, const float* x, const int* order, float* y) {
  const int row = blockIdx.x;
  const int i = threadIdx.x;
  if (i < width) y[row * width + i] = x[order[row] * width + i];
}

void gather(int batch, int width, const float* x, const int* order, float* y) {
  gather_kernel<<<batch, 128>>>(width, x, order, y);
}
