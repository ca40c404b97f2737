// Pictures: reading them, and making samples of them.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/images/image.hpp"
#include "support.hpp"
#include "unit/temporary_folder.hpp"

namespace stagewise {
namespace {

Image read(const Bytes& bytes, Index channels = 1) {
  const TemporaryFolder folder;
  write_file(folder / "image", bytes);
  return read_image(folder / "image", channels);
}

// -------------------------------------------------------------------------------------------- PNG

/// 3 x 2 pixels of RGBA: red, green, blue, white, black, transparent.
const Bytes rgba = {0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
                    0x44, 0x52, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02, 0x08, 0x06, 0x00, 0x00,
                    0x00, 0x9d, 0x74, 0x66, 0x1a, 0x00, 0x00, 0x00, 0x1a, 0x49, 0x44, 0x41, 0x54, 0x78,
                    0xda, 0x63, 0xf8, 0xcf, 0xc0, 0xf0, 0x1f, 0x0c, 0x19, 0xfe, 0x03, 0x49, 0x20, 0x60,
                    0x00, 0xb2, 0x38, 0x39, 0x39, 0x19, 0x00, 0xa0, 0xca, 0x0b, 0x11, 0x04, 0x5c, 0xca,
                    0x85, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};

class Png : public testing::Test {
 protected:
  void SetUp() override {
    const std::string said = sentence_of([] { read_png(rgba, 3); });
    if (said.find("no libpng") != std::string::npos) GTEST_SKIP() << said;
  }
};

TEST_F(Png, ReadsColoursAndPutsThemOnWhite) {
  const Image image = read(rgba, 3);
  EXPECT_EQ(image.width, 3);
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.pixels, (Bytes{255, 0, 0, 0, 255, 0, 0, 0, 255,  //
                                 255, 255, 255, 0, 0, 0, 255, 255, 255}));
  const Image grey = read(rgba, 1);
  ASSERT_EQ(grey.pixels.size(), 6U);
  EXPECT_EQ(grey.pixels[3], 255);
  EXPECT_EQ(grey.pixels[4], 0);
  EXPECT_EQ(grey.pixels[5], 255) << "transparent";
  EXPECT_GT(grey.pixels[1], grey.pixels[0]) << "green is brighter than red";
  EXPECT_GT(grey.pixels[0], grey.pixels[2]) << "and red than blue";
}

TEST_F(Png, RefusesDamage) {
  for (std::size_t size = 4; size + 12 < rgba.size(); ++size) {  // the last chunk holds nothing
    const Bytes cut(rgba.begin(), rgba.begin() + static_cast<std::ptrdiff_t>(size));
    const std::string said = sentence_of([&] { read(cut); });
    EXPECT_NE(said.find(": it is no whole PNG image: "), std::string::npos) << size << said;
  }
  Bytes huge = rgba;
  huge[16] = 0x40;  // the width's first byte
  EXPECT_NE(sentence_of([&] { read(huge); }), "");
}

// ----------------------------------------------------------------------------------------- fitting

/// A picture of one grey with a bar on it.
Image bar(Index height, Index width, std::uint8_t paper, std::uint8_t ink) {
  Image image = {.height = height, .width = width, .channels = 1, .pixels = {}};
  for (Index y = 0; y < height; ++y) {
    for (Index x = 0; x < width; ++x) {
      const bool is_ink = 4 * y >= height && 4 * y < 3 * height && 8 * x >= width && 4 * x < width;
      image.pixels.push_back(is_ink ? ink : paper);
    }
  }
  return image;
}

const Shape digit{28, 28, 1};

TEST(FitImage, LeavesOneOfItsSizeAsItIsButInvertsWhatIsOnALightBackground) {
  const Image light = bar(28, 28, 252, 5);
  const Image dark = bar(28, 28, 3, 250);
  const Dataset sample = fit_image(dark, digit, Background::automatic, 10);
  EXPECT_EQ(*sample.pixels(), dark.pixels);
  EXPECT_EQ(sample.sample_shape(), digit);
  EXPECT_EQ(sample.classes(), 10);
  EXPECT_EQ(*fit_image(light, digit, Background::automatic, 10).pixels(), dark.pixels);
  EXPECT_EQ(*fit_image(light, digit, Background::light, 10).pixels(), dark.pixels);
  EXPECT_EQ(*fit_image(light, digit, Background::dark, 10).pixels(), light.pixels);
  EXPECT_EQ(*fit_image(dark, digit, Background::light, 10).pixels(), light.pixels);
}

/// Where a sample's light is.
struct Light {
  double y = 0;
  double x = 0;
  Index height = 0;
};

Light light_of(const Dataset& sample) {
  Light light;
  double sum = 0;
  for (Index y = 0; y < 28; ++y) {
    bool is_lit = false;
    for (Index x = 0; x < 28; ++x) {
      const double value = (*sample.pixels())[static_cast<std::size_t>(28 * y + x)];
      sum += value;
      light.y += value * (static_cast<double>(y) + 0.5);
      light.x += value * (static_cast<double>(x) + 0.5);
      is_lit = is_lit || value > 20;
    }
    if (is_lit) ++light.height;
  }
  light.y /= sum;
  light.x /= sum;
  return light;
}

TEST(FitImage, CentresADrawingOfAnySize) {
  for (const Index height : {16, 40, 200, 333}) {
    for (const Index width : {24, 160, 517}) {
      for (const bool is_light : {false, true}) {
        const Image image = bar(height, width, is_light ? 240 : 20, is_light ? 10 : 230);
        const Light light = light_of(fit_image(image, digit, Background::automatic, 10));
        EXPECT_NEAR(light.y, 14, 0.1) << height << " x " << width;
        EXPECT_NEAR(light.x, 14, 0.1) << height << " x " << width;
        // Paper counts for nothing: the drawing itself is scaled.
        if (height / 2 < width / 8) continue;
        EXPECT_NEAR(static_cast<double>(light.height), 20, 1.01) << height << " x " << width;
      }
    }
  }
}

TEST(FitImage, CutsColoursToTheMiddle) {
  Image image = {.height = 2, .width = 6, .channels = 3, .pixels = {}};
  for (Index y = 0; y < 2; ++y) {
    for (std::uint8_t x = 0; x < 6; ++x) {
      image.pixels.insert(image.pixels.end(), {static_cast<std::uint8_t>(10 * x), x, static_cast<std::uint8_t>(y)});
    }
  }
  const Dataset sample = fit_image(image, {4, 4, 3}, Background::automatic, 10);
  ASSERT_EQ(sample.pixels()->size(), 48U);
  const std::vector<std::uint8_t>& pixels = *sample.pixels();
  for (std::size_t y = 0; y < 4; ++y) {
    for (std::size_t x = 0; x < 4; ++x) {
      const std::size_t at = 3 * (4 * y + x);
      EXPECT_EQ(pixels[at], 10 * (2 + x / 2));
      EXPECT_EQ(pixels[at + 1], 2 + x / 2);
      EXPECT_EQ(pixels[at + 2], y / 2);
    }
  }
}

/// A picture of one colour.
Image sheet(Index height, Index width, const std::vector<std::uint8_t>& colour) {
  Image image = {.height = height, .width = width, .channels = static_cast<Index>(colour.size()), .pixels = {}};
  for (Index i = 0; i < height * width; ++i) {
    image.pixels.insert(image.pixels.end(), colour.begin(), colour.end());
  }
  return image;
}

TEST(FitImage, RefusesAnEmptySheetOfAnySize) {
  const auto refusal = [](const Image& image, const Shape& sample) {
    return sentence_of([&] { fit_image(image, sample, Background::automatic, 10); });
  };
  const std::string empty = "nothing is drawn on it: all its pixels are the same";
  for (const Index size : {1, 28, 32, 50}) {
    for (const std::uint8_t grey : std::vector<std::uint8_t>{0, 100, 255}) {
      EXPECT_EQ(refusal(sheet(size, size, {grey}), digit), empty) << size;
    }
    EXPECT_EQ(refusal(sheet(size, size, {10, 200, 30}), {32, 32, 3}), empty) << size;
  }
  EXPECT_EQ(refusal(bar(28, 28, 3, 4), digit), "");
}

TEST(FitImage, RefusesWhatVanishes) {
  Image line = sheet(2, 30'000, {0});  // a thousandth of its length is seen, too thin to be
  std::fill(line.pixels.begin(), line.pixels.begin() + line.width, std::uint8_t{200});
  EXPECT_EQ(sentence_of([&] { fit_image(line, digit, Background::dark, 10); }),
            "nothing of it is left at 28x28: all pixels are the same");
  Image side = sheet(8, 80, {10, 200, 30});
  side.pixels[0] = 255;  // what protrudes is cut off
  EXPECT_EQ(sentence_of([&] {
              fit_image(side, {8, 8, 3}, Background::automatic, 10);
            }),
            "nothing of it is left at 8x8: all pixels are the same");
}

}  // namespace
}  // namespace stagewise
