/// @file
/// What is said about a file, wherever it lies.
#pragma once

#include <filesystem>
#include <string>

#include "support.hpp"

namespace stagewise {

/// The sentence of the Error that `work` throws, with FILE for the file's path.
template <typename Work>
std::string sentence_about(const std::filesystem::path& file, const Work& work) {
  std::string sentence = sentence_of(work);
  const std::size_t place = sentence.find(file.string());
  if (place != std::string::npos) sentence.replace(place, file.string().size(), "FILE");
  return sentence.empty() ? "nothing was refused" : sentence;
}

}  // namespace stagewise
