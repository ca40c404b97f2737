#include "fuzz/fuzz_input.hpp"
#include "io/images/fit_image.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stagewise;
  const InputOnDisk file(std::span(data, size));
  for (const Index channels : {1, 3}) {
    expect_success_or_sentence([&] {
      const Image image = read_image(file.path(), channels);
      constexpr Index largest = 1 << 12;  // larger ones only take longer
      if (image.height * image.width > largest) return;
      fit_image(image, {28, 28, channels}, Background::automatic, 10);
    });
  }
  return 0;
}
