// A kernel that is called without <<<>>>.
__global__ void fill(int *values) { values[threadIdx.x] = 1; }

int main(void) {
  int *values;
  cudaMallocManaged(&values, 32 * sizeof(int));
  fill(values);
  return cudaDeviceSynchronize();
}
