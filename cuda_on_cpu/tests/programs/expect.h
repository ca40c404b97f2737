// What these programs share: they print what is wrong, and nothing else.
#pragma once

#include <cstdio>
#include <cstring>

#define EXPECT(...) \
  ((__VA_ARGS__) ? (void)0 : (void)std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #__VA_ARGS__))

// The call must succeed.
#define OK(...) EXPECT((__VA_ARGS__) == cudaSuccess)

// What kernels have computed: the device comes to the end of its work without an error, and then this is so.
#define RESULT(...) (OK(cudaDeviceSynchronize()), EXPECT(__VA_ARGS__))

// Memory of host and device, filled with zeros.
template <class T>
T* zeros(std::size_t n) {
  T* values = nullptr;
  OK(cudaMallocManaged(&values, n * sizeof(T)));
  std::memset(static_cast<void*>(values), 0, n * sizeof(T));
  return values;
}
