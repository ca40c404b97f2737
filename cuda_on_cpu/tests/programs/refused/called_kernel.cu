// A kernel that is called without <<<>>>.
__global__ void number(int *values) { values[threadIdx.x] = 1; }

int main(void) {
  int *values;
  cudaMallocManaged(&values, 32 * sizeof(int));
  number(values);
  return cudaDeviceSynchronize();
}
