#include "cli/drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <span>
#include <string_view>

#include <unistd.h>

#include "cli/status_line.hpp"
#include "cli/text.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

/// How light an image is on average over `side` columns and twice as many rows, from 0 to 1, as far
/// as there is an image.
double brightness(const Image& image, Index top, Index left, Index side) {
  double sum = 0;
  double count = 0;
  for (Index y = top; y < std::min(top + 2 * side, image.height); ++y) {
    for (Index x = left; x < std::min(left + side, image.width); ++x) {
      for (Index channel = 0; channel < image.channels; ++channel) {
        sum += image.at(y, x, channel);
        ++count;
      }
    }
  }
  return sum / count / 255;
}

/// Prints drawings with captions beside one another.
void print_beside(const std::vector<Drawing>& drawings, std::size_t columns) {
  constexpr std::size_t gap = 2;
  std::size_t width = 0;  // of the widest line
  for (const Drawing& drawing : drawings) {
    for (const std::string& line : drawing) width = std::max(width, line.size());
  }
  const std::size_t beside = std::max<std::size_t>(1, (columns + gap) / (width + gap));
  for (std::size_t first = 0; first < drawings.size(); first += beside) {
    const std::size_t end = std::min(first + beside, drawings.size());
    std::cout << '\n';
    for (std::size_t row = 0; row < drawings[first].size(); ++row) {  // all are of the same height
      for (std::size_t i = first; i < end; ++i) {
        const std::string& line = drawings[i][row];
        std::cout << (i + 1 < end ? left(line, width + gap) : line + '\n');
      }
    }
  }
}

}  // namespace

Image shown_image(const Dataset& dataset, Index sample) {
  const Shape& shape = dataset.sample_shape();
  std::vector<double> values(static_cast<std::size_t>(shape.elements()));
  const std::array<std::uint32_t, 1> samples = {static_cast<std::uint32_t>(sample)};
  dataset.gather(std::span<const std::uint32_t>(samples), values.data());
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const bool is_brightness = *least >= 0 && *most <= 1;
  const double low = is_brightness ? 0 : *least;
  const double range = is_brightness ? 1 : std::max(*most - *least, 1e-300);  // all may be the same

  const Index channels = shape[2] == 3 ? 3 : 1;
  Image image = {.height = shape[0], .width = shape[1], .channels = channels, .pixels = {}};
  for (Index i = 0; i < shape.elements(); ++i) {
    if (i % shape[2] >= channels) continue;
    const double light = (values[static_cast<std::size_t>(i)] - low) / range;
    image.pixels.push_back(static_cast<std::uint8_t>(std::lround(255 * light)));
  }
  return image;
}

Drawing draw(const Image& image, std::size_t columns) {
  constexpr std::string_view shades = " .:-=+*#%@";
  const Index side = (image.width - 1) / static_cast<Index>(columns) + 1;
  Drawing drawing;
  for (Index y = 0; y < image.height; y += 2 * side) {
    std::string& line = drawing.emplace_back();
    for (Index x = 0; x < image.width; x += side) {
      const double shade = brightness(image, y, x, side) * static_cast<double>(shades.size() - 1);
      line += shades[static_cast<std::size_t>(std::lround(shade))];
    }
  }
  return drawing;
}

void print_mistakes(const std::vector<MistakeReport>& mistakes, const std::vector<std::string>& names,
                    const std::string& score) {
  if (mistakes.empty()) {
    std::cout << "\nmistakes: none\n";
    return;
  }
  std::cout << "\nmistakes: the most confident first, each with the " << score << " of its answer\n";
  const std::size_t columns = terminal_columns(STDOUT_FILENO);
  std::vector<Drawing> drawings;
  for (const MistakeReport& mistake : mistakes) {
    constexpr std::size_t longest = 16;  // so that two captions fit on a line
    const auto name = [&](Index number) { return excerpt(names[static_cast<std::size_t>(number)], longest); };
    const std::string label = "sample " + std::to_string(mistake.sample) + ": " + name(mistake.label);
    const std::string answer = "taken for " + name(mistake.predicted) + ", " + fixed(mistake.confidence, 4);
    if (mistake.image) {
      Drawing& drawing = drawings.emplace_back(draw(*mistake.image, columns));
      drawing.insert(drawing.end(), {label, answer});
    } else {
      std::cout << label << ", " << answer << '\n';
    }
  }
  print_beside(drawings, columns);
}

}  // namespace stagewise
