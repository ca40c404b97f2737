#include "io/images/image.hpp"

#include "io/data_sets/input_file.hpp"
#include "tensor/error.hpp"

namespace stagewise {

Image read_image(const std::filesystem::path& path, Index channels) {
  constexpr std::uint64_t most_bytes = 1U << 29U;  // of raw pixels, and more
  InputFile file(path);
  const std::vector<std::uint8_t> bytes = file.read(most_bytes);
  try {
    const bool is_png = bytes.size() > 3 && bytes[1] == 'P' && bytes[2] == 'N' && bytes[3] == 'G';
    if (!is_png) throw Error("it is no PNG image");
    return read_png(bytes, channels);
  } catch (const Error& error) {
    throw Error("cannot read the image " + path.string() + ": " + error.what());
  }
}

}  // namespace stagewise
