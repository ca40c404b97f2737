// A kernel without its mark.
void square(int *values) { values[threadIdx.x] *= values[threadIdx.x]; }

int main(void) {
  int *values;
  cudaMallocManaged(&values, 32 * sizeof(int));
  square<<<1, 32>>>(values);
  return cudaDeviceSynchronize();
}
