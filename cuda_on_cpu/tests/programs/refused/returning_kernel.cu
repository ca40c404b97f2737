// A kernel that returns something.
__global__ int first(const int *values) { return values[0]; }

int main(void) {
  int *values;
  cudaMallocManaged(&values, 32 * sizeof(int));
  first<<<1, 1>>>(values);
}
