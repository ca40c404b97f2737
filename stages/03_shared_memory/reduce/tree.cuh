/// @file
/// What every in-block reduction of the ladder is to its callers.
///
/// A tree is a type with one function,
///
///     template <typename T> static __device__ void add_up(T* partial);
///
/// All threads of a one-dimensional block call it, after each has written partial[threadIdx.x] in
/// shared memory. blockDim.x is a power of two from 32 to 1,024. Afterwards thread 0 finds the sum
/// in partial[0]; the others must not look before a barrier. Other kernels use the trees, too: the
/// dot products of the GEMM ladder, for one.
#pragma once
