// A launch that says only how many blocks.
__global__ void fill(int *values) { values[threadIdx.x] = 1; }

int main(void) {
  int *values;
  cudaMallocManaged(&values, 32 * sizeof(int));
  fill<<<1>>>(values);
}
