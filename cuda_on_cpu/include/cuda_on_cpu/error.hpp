/// @file
/// The two kinds of error that CUDA knows: one that belongs to a call, and is forgotten when it is
/// asked for, and one that spoils the device, and stays until cudaDeviceReset().
#pragma once

#include <driver_types.h>

namespace cuda_on_cpu {

/// Makes the error this thread's last one, unless it is cudaSuccess; returns it.
cudaError_t record(cudaError_t error);

/// Gives a call's answer, if there is room for it.
template <class T, class Value>
cudaError_t answer(T* result, const Value& value) {
  if (result == nullptr) return record(cudaErrorInvalidValue);
  *result = value;
  return cudaSuccess;
}

/// The error that spoilt the device; cudaSuccess if none has.
cudaError_t sticky_error();
/// Spoils the device.
void set_sticky_error(cudaError_t error);
/// For cudaDeviceReset().
void forget_errors();

}  // namespace cuda_on_cpu
