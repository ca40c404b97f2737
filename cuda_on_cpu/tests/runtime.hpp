/// @file
/// What the tests of the runtime share. Their kernels are written as the translator would write
/// them, so that the runtime is tested without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cuda_on_cpu/settings.hpp"
#include "cuda_runtime.h"

/// The call must succeed.
#define OK(...) EXPECT_EQ((__VA_ARGS__), cudaSuccess)

namespace cuda_on_cpu {

/// Puts the settings back at the end of a test.
class WithSettings {
 public:
  WithSettings() : before_(settings()) {}
  ~WithSettings() { settings() = before_; }
  WithSettings(const WithSettings&) = delete;
  WithSettings& operator=(const WithSettings&) = delete;

 private:
  Settings before_;
};

/// A test that leaves settings and device as they were.
class RuntimeTest : public testing::Test {
 protected:
  void TearDown() override { cudaDeviceReset(); }

 private:
  WithSettings settings_;
};

/// What the runtime says while `work` runs, and the error that it leaves behind.
struct Outcome {
  std::string text;
  cudaError_t error;
};

template <class Work>
Outcome outcome_of(const Work& work) {
  testing::internal::CaptureStderr();
  work();
  const cudaError_t error = cudaGetLastError();
  const std::string text = testing::internal::GetCapturedStderr();
  cudaDeviceReset();
  return {text, error};
}

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "' does not say '" << part << "'";
}

/// Expects all parts in the text.
inline void expect_says(const Outcome& outcome, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) expect_contains(outcome.text, part);
}

inline std::string here(unsigned line, const char* file = __builtin_FILE()) {
  const std::string path = file;
  return path.substr(path.rfind('/') + 1) + ":" + std::to_string(line);
}

/// Device memory of n elements, with values. Reports name the line that calls this.
template <class T>
T* on_device(const std::vector<T>& values, CUDA_ON_CPU_HERE) {
  T* pointer = nullptr;
  OK(cudaMalloc(&pointer, values.size() * sizeof(T), place));
  OK(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return pointer;
}

template <class T>
std::vector<T> from_device(const T* pointer, std::size_t n) {
  std::vector<T> values(n);
  OK(cudaMemcpy(values.data(), pointer, n * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

}  // namespace cuda_on_cpu
