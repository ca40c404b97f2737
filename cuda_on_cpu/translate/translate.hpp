/// @file
/// Rewrites the two things of CUDA C++ that no header can give to a C++ compiler: the launch
/// `kernel<<<grid, block>>>(a, b)` and the declaration `__shared__ float tile[32][33]`.
#pragma once

#include <string>
#include <string_view>

namespace cuda_on_cpu {

/// Translates a .cu or .cuh file into C++. Every line keeps its number, also within macros, so that
/// a compiler and a debugger speak of the original file.
/// @param file the original's path, for `#line` and for sentences.
/// @throws TranslationError with the file, the line and what cannot be translated there.
std::string translate(std::string_view text, const std::string& file);

/// Translates what the compiler's preprocessor has made of a program. It says itself which lines
/// are whose, and branches and macros are gone from it; so all of CUDA can be understood, and what
/// is not there refused.
std::string translate_preprocessed(std::string_view text, const std::string& file);

/// A program whose preprocessor asks for __CUDA_ARCH__ is two programs: one for the host, where it
/// is not defined, and one for the device.
/// @return one text of both: the bodies of kernels and device functions are those of the device's
/// pass, what is outside of them that of the host's. A function for both sides asks where it runs.
/// @param host,device preprocessed without and with __CUDA_ARCH__.
std::string merge_passes(std::string_view host, std::string_view device, const std::string& file);

}  // namespace cuda_on_cpu
