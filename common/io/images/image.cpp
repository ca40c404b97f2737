#include "io/images/image.hpp"

#include <cmath>

#include "io/data_sets/input_file.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

/// The luminance of colours (ITU-R BT.601), or a grey for each channel.
Image with_channels(const Image& image, Index channels) {
  if (image.channels == channels) return image;
  Image result = {.height = image.height, .width = image.width, .channels = channels, .pixels = {}};
  for (Index y = 0; y < image.height; ++y) {
    for (Index x = 0; x < image.width; ++x) {
      if (channels == 1) {
        const double luminance =
            0.299 * image.at(y, x, 0) + 0.587 * image.at(y, x, 1) + 0.114 * image.at(y, x, 2);
        result.pixels.push_back(static_cast<std::uint8_t>(std::lround(luminance)));
      } else {
        result.pixels.insert(result.pixels.end(), static_cast<std::size_t>(channels),
                             image.at(y, x, 0));
      }
    }
  }
  return result;
}

}  // namespace

Image read_image(const std::filesystem::path& path, Index channels) {
  constexpr std::uint64_t most_bytes = 1U << 29U;  // of raw pixels with 16 bits, and more
  InputFile file(path);
  const std::vector<std::uint8_t> bytes = file.read(most_bytes);
  try {
    const bool is_png = bytes.size() > 3 && bytes[1] == 'P' && bytes[2] == 'N' && bytes[3] == 'G';
    return is_png ? read_png(bytes, channels) : with_channels(read_pnm(bytes), channels);
  } catch (const Error& error) {
    throw Error("cannot read the image " + path.string() + ": " + error.what());
  }
}

}  // namespace stagewise
