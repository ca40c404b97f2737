/// @file
/// A program whose preprocessor asks for __CUDA_ARCH__ is two programs: one for the host, where it
/// is not defined, and one for the device.
#pragma once

#include <string>
#include <string_view>

namespace cuda_on_cpu {

/// One text of both: the bodies of kernels and device functions are those of the device's pass,
/// what is outside of them that of the host's. A function for both sides asks where it runs.
/// @param host,device preprocessed without and with __CUDA_ARCH__.
std::string merge_passes(std::string_view host, std::string_view device, const std::string& file);

}  // namespace cuda_on_cpu
