/// @file
/// The short vectors of CUDA (int2, float4, ...), laid out and aligned as on a GPU, and dim3.
#pragma once

#define CUDA_ON_CPU_VECTOR_TYPE(T, name)                                \
  struct name##1 {                                                      \
    T x;                                                                \
  };                                                                    \
  struct alignas(2 * sizeof(T)) name##2 {                               \
    T x, y;                                                             \
  };                                                                    \
  struct name##3 {                                                      \
    T x, y, z;                                                          \
  };                                                                    \
  struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) name##4 {     \
    T x, y, z, w;                                                       \
  };                                                                    \
  constexpr name##1 make_##name##1(T x) { return {x}; }                 \
  constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

CUDA_ON_CPU_VECTOR_TYPE(signed char, char)
CUDA_ON_CPU_VECTOR_TYPE(unsigned char, uchar)
CUDA_ON_CPU_VECTOR_TYPE(short, short)
CUDA_ON_CPU_VECTOR_TYPE(unsigned short, ushort)
CUDA_ON_CPU_VECTOR_TYPE(int, int)
CUDA_ON_CPU_VECTOR_TYPE(unsigned int, uint)
CUDA_ON_CPU_VECTOR_TYPE(long, long)
CUDA_ON_CPU_VECTOR_TYPE(unsigned long, ulong)
CUDA_ON_CPU_VECTOR_TYPE(long long, longlong)
CUDA_ON_CPU_VECTOR_TYPE(unsigned long long, ulonglong)
CUDA_ON_CPU_VECTOR_TYPE(float, float)
CUDA_ON_CPU_VECTOR_TYPE(double, double)
#undef CUDA_ON_CPU_VECTOR_TYPE

/// The extents of a grid or a block.
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_extent = 1, unsigned int y_extent = 1, unsigned int z_extent = 1)
      : x(x_extent), y(y_extent), z(z_extent) {}
  constexpr dim3(uint3 extents) : x(extents.x), y(extents.y), z(extents.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
