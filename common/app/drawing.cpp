#include "app/drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <span>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace stagewise {
namespace {

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

int level(double value, int most) {
  return static_cast<int>(std::lround(value * most));
}

/// How light an image is on average from a pixel on, over `size`, as far as there is an image.
double brightness(const std::vector<double>& values, const Shape& shape,
                  const std::array<Index, 2>& first, const std::array<Index, 2>& size) {
  const Index channels = shape[2] == 3 ? 3 : 1;
  double sum = 0;
  double count = 0;
  for (Index y = first[0]; y < std::min(first[0] + size[0], shape[0]); ++y) {
    for (Index x = first[1]; x < std::min(first[1] + size[1], shape[1]); ++x) {
      for (Index channel = 0; channel < channels; ++channel) {
        sum += values[static_cast<std::size_t>((y * shape[1] + x) * shape[2] + channel)];
        ++count;
      }
    }
  }
  return sum / count;
}

}  // namespace

std::size_t columns_of_output() {
  constexpr std::size_t usual = 80;
  winsize size{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : usual;
}

Drawing draw(const Dataset& dataset, Index sample, std::size_t columns) {
  constexpr std::string_view shades = " .:-=+*#%@";
  const std::vector<double> values = shown_values(dataset, sample);
  const Shape& shape = dataset.sample_shape();
  const Index side = (shape[1] - 1) / static_cast<Index>(columns) + 1;
  Drawing drawing = {.lines = {}, .width = static_cast<std::size_t>((shape[1] - 1) / side + 1)};
  for (Index y = 0; y < shape[0]; y += 2 * side) {
    std::string& line = drawing.lines.emplace_back();
    for (Index x = 0; x < shape[1]; x += side) {
      const double light = brightness(values, shape, {y, x}, {2 * side, side});
      line += shades[static_cast<std::size_t>(level(light, static_cast<int>(shades.size()) - 1))];
    }
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
