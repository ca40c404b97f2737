/// @file
/// What is wrong: error codes, and sentences on standard error, each with the line of the original
/// source.
///
/// CUDA knows two kinds of error: one that belongs to a call, and is forgotten when it is asked
/// for, and one that spoils the device, and stays until cudaDeviceReset().
#pragma once

#include <cstdint>
#include <string>

#include "cuda_on_cpu/block.hpp"

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

/// Prints a sentence, in one piece, so that other threads and processes do not cut into it.
void report(const std::string& sentence);
/// The same behind "file:line: ".
void report_at(Place place, const std::string& sentence);
/// Reports what is wrong with a call, and makes the error this thread's last one.
cudaError_t refuse(Place place, const std::string& sentence, cudaError_t error = cudaErrorInvalidValue);
/// A sentence with the running thread: kernel, block, thread.
void report_in_kernel(const Worker& worker, const std::string& place, const std::string& sentence);

/// "folder/file.cu:31": as much of the path as tells the stages apart. Empty for no place.
std::string to_string(Place place);
/// "(1, 0, 0)"
std::string to_string(uint3 index);
/// The block of a grid, or the thread of a block, with this number.
uint3 index_of(std::uint64_t number, dim3 extents);
/// "0x7f12a0"
std::string hexadecimal(std::uintptr_t address);
/// "kernel 'gemm<T>', block (0, 0, 0), thread (3, 1, 0)"
std::string running_thread(const RunningLaunch& launch, uint3 block, uint3 thread);
/// "1 thread", "2 threads"
std::string counted(std::uint64_t count, const std::string& noun);

/// The line of the source that an instruction was compiled from; its function, or the address,
/// where there is no debug information.
std::string place_of_instruction(std::uintptr_t instruction);
/// The function that begins at the address; empty if the program does not tell.
std::string function_at(std::uintptr_t address);

/// Installs the handlers for faults, and gives the calling thread a stack to handle its own on.
void watch_faults();

}  // namespace cuda_on_cpu
