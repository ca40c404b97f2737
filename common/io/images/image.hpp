/// @file
/// Pictures as files hold them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tensor/shape.hpp"

namespace stagewise {

/// A picture: rows from top to bottom, channel fastest.
struct Image {
  Index height = 0;
  Index width = 0;
  Index channels = 1;  ///< 1: grey; 3: red, green, blue
  std::vector<std::uint8_t> pixels;

  /// A pixel's value in a channel.
  std::uint8_t at(Index y, Index x, Index channel) const {
    return pixels[static_cast<std::size_t>((y * width + x) * channels + channel)];
  }
};

/// The most pixels that a picture may have.
inline constexpr Index max_image_pixels = 1 << 26;

/// Reads a picture, a PNG file. What is transparent becomes white.
/// @param channels that it shall have, 1 or 3; colours become grey by their luminance.
/// @throws Error naming the file and what is wrong with it: missing, no PNG, damaged, cut short,
///         too large; also if the project was built without libpng.
Image read_image(const std::filesystem::path& path, Index channels);

/// Reads a PNG file's bytes.
/// @throws Error as above, without the file's name: "it is damaged".
Image read_png(std::span<const std::uint8_t> bytes, Index channels);

}  // namespace stagewise
