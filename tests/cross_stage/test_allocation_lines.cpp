/// @file
/// CUDA on the CPU knows which line has asked for memory: not that of a wrapper, but of whoever
/// uses it.

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "02_naive_cuda/naive_cuda_executor.hpp"
#include "cross_stage/cuda_array.hpp"
#include "cross_stage/device_array.hpp"
#include "cuda/memory.hpp"
#include "cuda_on_cpu/memory.hpp"

namespace stagewise {
namespace {

/// Expects that a report about the memory would name the line of the call before `line_behind`.
void expect_line_before(const void* pointer, int line_behind) {
  // NOLINTNEXTLINE(*-reinterpret-cast)
  const std::string text = cuda_on_cpu::describe_address(reinterpret_cast<std::uintptr_t>(pointer));
  const std::string expected =
      "the 40 bytes allocated in cross_stage/test_allocation_lines.cpp:" + std::to_string(line_behind - 1);
  EXPECT_TRUE(text.ends_with(expected)) << text << " does not end with " << expected;
}

TEST(AllocationLines, AreThoseThatAskForTheMemory) {
  NaiveCudaExecutor<float> executor;
  const std::vector<float> values(10);
  Tensor<float> tensor({10}, cuda::device_memory());
  expect_line_before(tensor.data(), __LINE__);
  tensor = Tensor<float>({10}, cuda::pinned_memory());
  expect_line_before(tensor.data(), __LINE__);
  DeviceArray through_executor(executor, values);
  expect_line_before(through_executor.get(), __LINE__);
  CudaArray through_cuda(values);
  expect_line_before(through_cuda.get(), __LINE__);
}

}  // namespace
}  // namespace stagewise
