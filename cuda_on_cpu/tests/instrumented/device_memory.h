// What these programs share: memory of the device, unset or filled with zeros.
#pragma once

#include <cstdlib>

template <class T>
T* unset(size_t n) {
  T* values = nullptr;
  cudaMalloc(&values, n * sizeof(T));
  return values;
}

template <class T>
T* zeros(size_t n) {
  T* const values = unset<T>(n);
  cudaMemset(values, 0, n * sizeof(T));
  return values;
}
