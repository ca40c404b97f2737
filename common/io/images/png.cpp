#include <png.h>

#include "io/images/image.hpp"
#include "tensor/error.hpp"

namespace stagewise {

Image read_png(std::span<const std::uint8_t> bytes, Index channels) {
  struct Reader {
    Reader() { png.version = PNG_IMAGE_VERSION; }
    ~Reader() { ::png_image_free(&png); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    png_image png{};
  } reader;
  png_image& png = reader.png;
  const auto failure = [&] { return Error("it is no whole PNG image: " + std::string(png.message)); };
  if (::png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0) throw failure();
  if (Index{png.width} * Index{png.height} > max_image_pixels) {
    throw Error("its " + std::to_string(png.width) + " x " + std::to_string(png.height) + " pixels are too many");
  }
  png.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  Image image = {.height = png.height, .width = png.width, .channels = channels, .pixels = {}};
  image.pixels.resize(PNG_IMAGE_SIZE(png));
  constexpr png_color white = {255, 255, 255};
  if (::png_image_finish_read(&png, &white, image.pixels.data(), 0, nullptr) == 0) throw failure();
  return image;
}

}  // namespace stagewise
