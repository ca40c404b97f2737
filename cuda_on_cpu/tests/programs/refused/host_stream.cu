// std::cout in a kernel.
#include <iostream>

__global__ void hello() { std::cout << "hello\n"; }

int main() {
  hello<<<1, 1>>>();
  cudaDeviceSynchronize();
}
