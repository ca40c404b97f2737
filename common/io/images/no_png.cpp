// For builds without libpng.

#include "io/images/image.hpp"
#include "tensor/error.hpp"

namespace stagewise {

Image read_png(std::span<const std::uint8_t> /*bytes*/, Index /*channels*/) {
  throw Error(
      "it is a PNG image, and this build has no libpng; install it with sudo apt install "
      "libpng-dev and build again");
}

}  // namespace stagewise
