/// y = the rows of x with the numbers that are in `order`.
__global__ void gather_kernel(int batch, int width, const float* x, const int* order, float* y) {
  // Your code.
}

void gather(int batch, int width, const float* x, const int* order, float* y) {
  gather_kernel<<<1, 1>>>(batch, width, x, order, y);  // Your launch.
}
