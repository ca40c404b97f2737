#include <cuda.h>
#include <stdio.h>

int main() {
  int count = 0;
  cuInit(0);
  cuDeviceGetCount(&count);
  printf("%d\n", count);
}
