#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/sort.h>

int main() {
  thrust::device_vector<int> x(100);
  thrust::sort(x.begin(), x.end());
}
