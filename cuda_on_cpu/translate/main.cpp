/// @file
/// `translate [--preprocessed] INPUT OUTPUT`: makes C++ of a .cu or .cuh file, or of what a
/// preprocessor has made of one. The build calls it where no nvcc is used. Ends with 0, with 1 if
/// the file cannot be read, translated or written, with 2 on wrong usage.

#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <system_error>

#include "scanner.hpp"
#include "translate.hpp"

namespace {

namespace fs = std::filesystem;
using cuda_on_cpu::TranslationError;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) throw TranslationError(path.string() + " cannot be read");
  return text;
}

void write(const fs::path& path, const std::string& text) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw TranslationError(path.string() + " cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  const bool preprocessed = argc >= 4 && std::string(argv[1]) == "--preprocessed";
  if (argc != 3 && !(preprocessed && argc <= 5)) {
    std::cerr << "Usage: translate [--preprocessed] INPUT OUTPUT [INPUT WITH __CUDA_ARCH__]\n";
    return 2;
  }
  const char* const device = argc == 5 ? argv[4] : nullptr;
  if (preprocessed) ++argv;
  try {
    const fs::path input = fs::absolute(argv[1]).lexically_normal();
    std::error_code is_new;
    if (fs::equivalent(input, argv[2], is_new)) {
      throw TranslationError("INPUT and OUTPUT are the same file, " + input.string());
    }
    const auto translate = preprocessed ? cuda_on_cpu::translate_preprocessed : cuda_on_cpu::translate;
    std::string text = read(input);
    if (device != nullptr) text = cuda_on_cpu::merge_passes(text, read(device), input.string());
    write(argv[2], translate(text, input.string()));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
