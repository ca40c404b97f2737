#include "app/drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace stagewise {
namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Red, green and blue, each from 0 to 1.
using Pixel = std::array<double, 3>;

/// An image as it is shown.
struct Pixels {
  Index height = 0;
  Index width = 0;
  std::vector<Pixel> values;

  const Pixel& at(Index y, Index x) const {
    return values[static_cast<std::size_t>(y * width + x)];
  }
};

/// The sample's values, moved into [0, 1] if they are not there.
std::vector<double> shown_values(const Dataset& dataset, Index sample) {
  std::vector<double> values(static_cast<std::size_t>(dataset.sample_shape().elements()));
  const std::array<std::uint32_t, 1> samples = {static_cast<std::uint32_t>(sample)};
  dataset.gather(std::span<const std::uint32_t>(samples), values.data());
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double low = *least;
  const double range = *most - low;
  if (low >= 0 && low + range <= 1) return values;
  for (double& value : values) value = range > 0 ? (value - low) / range : 0;
  return values;
}

/// Means over squares of pixels, as large as it takes to fit.
Pixels fit(const Dataset& dataset, Index sample, std::size_t columns) {
  const std::vector<double> values = shown_values(dataset, sample);
  const Shape& shape = dataset.sample_shape();
  const Index side = (shape[1] - 1) / static_cast<Index>(columns) + 1;
  Pixels pixels = {
      .height = (shape[0] - 1) / side + 1, .width = (shape[1] - 1) / side + 1, .values = {}};
  for (Index top = 0; top < shape[0]; top += side) {
    for (Index left = 0; left < shape[1]; left += side) {
      const Index bottom = std::min(top + side, shape[0]);
      const Index end = std::min(left + side, shape[1]);
      Pixel mean{};
      for (Index y = top; y < bottom; ++y) {
        for (Index x = left; x < end; ++x) {
          for (std::size_t colour = 0; colour < mean.size(); ++colour) {
            const Index channel = shape[2] == 3 ? static_cast<Index>(colour) : 0;
            mean.at(colour) +=
                values[static_cast<std::size_t>((y * shape[1] + x) * shape[2] + channel)];
          }
        }
      }
      for (double& value : mean) value /= static_cast<double>((bottom - top) * (end - left));
      pixels.values.push_back(mean);
    }
  }
  return pixels;
}

int level(double value, int most) {
  return static_cast<int>(std::lround(value * most));
}

/// The colour as the end of a terminal's sequence that chooses one.
std::string colour_code(const Pixel& pixel, Colours colours) {
  if (colours == Colours::all) {
    std::string code = "2";
    for (const double value : pixel) code += ";" + std::to_string(level(value, 255));
    return code;
  }
  constexpr int cube = 16;    // 6 x 6 x 6 colours
  constexpr int greys = 232;  // 24 of them, without black and white, which are in the cube
  const auto [red, green, blue] = pixel;
  if (red == green && green == blue) {
    const int grey = level(red, 25);
    const int code = grey == 0 ? cube : grey == 25 ? greys - 1 : greys + grey - 1;
    return "5;" + std::to_string(code);
  }
  return "5;" + std::to_string(cube + 36 * level(red, 5) + 6 * level(green, 5) + level(blue, 5));
}

/// Two rows of pixels: of each half block, the upper pixel is the foreground.
std::string coloured_line(const Pixels& pixels, Index top, Colours colours) {
  std::string line;
  for (Index x = 0; x < pixels.width; ++x) {
    line += "\033[38;" + colour_code(pixels.at(top, x), colours);
    if (top + 1 < pixels.height) line += ";48;" + colour_code(pixels.at(top + 1, x), colours);
    line += "m\u2580";
  }
  return line + "\033[0m";
}

std::string plain_line(const Pixels& pixels, Index top) {
  constexpr std::string_view shades = " .:-=+*#%@";
  const Index bottom = std::min(top + 1, pixels.height - 1);
  std::string line;
  for (Index x = 0; x < pixels.width; ++x) {
    double sum = 0;
    for (const Index y : {top, bottom}) {
      for (const double value : pixels.at(y, x)) sum += value;
    }
    const int shade = level(sum / 6, static_cast<int>(shades.size()) - 1);
    line += shades[static_cast<std::size_t>(shade)];
  }
  return line;
}

}  // namespace

Colours colours_of_output() {
  const std::string_view terminal = environment("TERM");
  if (::isatty(STDOUT_FILENO) == 0 || !environment("NO_COLOR").empty() || terminal == "dumb") {
    return Colours::none;
  }
  const std::string_view colours = environment("COLORTERM");
  if (colours == "truecolor" || colours == "24bit") return Colours::all;
  return terminal.ends_with("256color") ? Colours::of_256 : Colours::none;
}

std::size_t columns_of_output() {
  constexpr std::size_t usual = 80;
  winsize size{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : usual;
}

Drawing draw(const Dataset& dataset, Index sample, Colours colours, std::size_t columns) {
  const Pixels pixels = fit(dataset, sample, columns);
  Drawing drawing = {.lines = {}, .width = static_cast<std::size_t>(pixels.width)};
  for (Index top = 0; top < pixels.height; top += 2) {
    drawing.lines.push_back(colours == Colours::none ? plain_line(pixels, top)
                                                     : coloured_line(pixels, top, colours));
  }
  return drawing;
}

Image shown_image(const Dataset& dataset, Index sample) {
  const Shape& shape = dataset.sample_shape();
  const Index channels = shape[2] == 3 ? 3 : 1;
  Image image = {.height = shape[0], .width = shape[1], .channels = channels, .pixels = {}};
  const std::vector<double> values = shown_values(dataset, sample);
  for (Index i = 0; i < shape.elements(); ++i) {
    if (i % shape[2] >= channels) continue;
    image.pixels.push_back(
        static_cast<std::uint8_t>(level(values[static_cast<std::size_t>(i)], 255)));
  }
  return image;
}

void print_drawings(const std::vector<Drawing>& drawings,
                    const std::vector<std::vector<std::string>>& captions, std::size_t columns) {
  constexpr std::size_t gap = 2;
  std::size_t width = 0;  // of the widest
  for (std::size_t i = 0; i < drawings.size(); ++i) {
    width = std::max(width, drawings[i].width);
    for (const std::string& line : captions[i]) width = std::max(width, line.size());
  }
  const std::size_t beside = std::max<std::size_t>(1, (columns + gap) / (width + gap));
  for (std::size_t first = 0; first < drawings.size(); first += beside) {
    const std::size_t end = std::min(first + beside, drawings.size());
    std::cout << '\n';
    // All drawings are of the same height.
    const auto print = [&](std::size_t count, const auto& line_of, const auto& width_of) {
      for (std::size_t row = 0; row < count; ++row) {
        for (std::size_t i = first; i < end; ++i) {
          std::cout << line_of(i, row);
          if (i + 1 < end) std::cout << std::string(width - width_of(i, row) + gap, ' ');
        }
        std::cout << '\n';
      }
    };
    print(
        drawings[first].lines.size(),
        [&](std::size_t i, std::size_t row) { return drawings[i].lines[row]; },
        [&](std::size_t i, std::size_t /*row*/) { return drawings[i].width; });
    print(
        captions[first].size(), [&](std::size_t i, std::size_t row) { return captions[i][row]; },
        [&](std::size_t i, std::size_t row) { return captions[i][row].size(); });
  }
}

}  // namespace stagewise
