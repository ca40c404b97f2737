/// @file
/// What a file is that was meant to be another.
#pragma once

#include <string>
#include <string_view>

namespace stagewise {

/// What a file is that none of our readers reads, and what to do with it.
/// @param head its first bytes, 512 of them if it has so many; behind a gzip header, those that it compresses.
/// @return for a sentence: "it is a zip archive; unzip it first"; empty if nothing is known against it.
std::string foreign_kind(std::string_view head);

/// The same of a network of Keras's, for which it takes more than the first bytes.
inline constexpr const char* kind_of_keras =
    "it is a network of Keras's, not of Stagewise; docs/pages/data.md shows under Checkpoints how to bring its weights";

}  // namespace stagewise
