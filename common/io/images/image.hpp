/// @file
/// Pictures: as files hold them, and as samples that a network takes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "data/dataset.hpp"
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

/// What a drawing is drawn on.
enum class Background : std::uint8_t { automatic, light, dark };

/// The picture as a sample. One of the sample's own size stays as it is; another one is scaled
/// without distortion:
/// - grey, a drawing, as the digits of MNIST were: what is drawn becomes 5/7 of the sample's size,
///   its centre of mass comes to the middle;
/// - in colour, until it covers the sample; what protrudes at its sides is cut off.
///
/// Networks expect light strokes on a dark background: a grey picture with a light one is inverted.
/// @param sample [height, width, channels]; the picture has as many channels.
/// @param background `automatic`: light if most of the picture's edge is.
/// @param classes of the data set that is returned; its one label means nothing.
/// @throws Error if the picture, or what is left of it at the sample's size, is of a single colour:
///         nothing is drawn on it.
Dataset fit_image(const Image& image, const Shape& sample, Background background, int classes);

}  // namespace stagewise
