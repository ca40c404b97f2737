#include "ladders/gemm/hopper/tensor_map.hpp"

#include <array>
#include <string>

#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include "cuda/check.hpp"
#include "tensor/error.hpp"

namespace stagewise::shared_memory {
namespace {

/// The driver's function. It is asked for at run time: a program that is linked to the driver does
/// not start on a machine without one.
PFN_cuTensorMapEncodeTiled_v12000 encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result));
#else
  CUDA_CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result));
#endif
  if (result != cudaDriverEntryPointSuccess) {
    throw Error("the driver of this GPU knows no tensor maps; install one for CUDA 12 or later");
  }
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
}

}  // namespace

CUtensorMap make_tensor_map(MapType type, const void* data, Index rows, Index columns, Index pitch, int box_rows) {
  static const auto encode = encoder();
  const bool is_bf16 = type == MapType::bf16;
  const auto box_columns = static_cast<cuuint32_t>(box_row_bytes / (is_bf16 ? 2 : 4));
  // The driver counts from the innermost dimension.
  const std::array<cuuint64_t, 2> sizes = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const std::array<cuuint64_t, 1> pitches = {static_cast<cuuint64_t>(pitch)};
  const std::array<cuuint32_t, 2> box = {box_columns, static_cast<cuuint32_t>(box_rows)};
  const std::array<cuuint32_t, 2> every_element = {1, 1};
  CUtensorMap map;
  const CUresult status = encode(&map, is_bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2,
                                 const_cast<void*>(data), sizes.data(), pitches.data(), box.data(),
                                 every_element.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status == CUDA_SUCCESS) return map;
  throw Error("the driver refuses to describe a matrix of " + std::to_string(rows) + " x " + std::to_string(columns) +
              " numbers to the copy engine (error " + std::to_string(static_cast<int>(status)) + ")");
}

}  // namespace stagewise::shared_memory
