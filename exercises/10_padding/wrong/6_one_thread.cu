// expect: only 1 block of 1 thread|ask global memory for 393216 bytes; 49152 are enough
__global__ void transpose_kernel(int rows, int columns, const float* x, float* y) {
  for (int i = 0; i < rows * columns; ++i) y[i % columns * rows + i / columns] = x[i];
}

void transpose(int rows, int columns, const float* x, float* y) {
  transpose_kernel<<<1, 1>>>(rows, columns, x, y);
}
