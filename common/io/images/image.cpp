#include "io/images/image.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/data_sets/input_file.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

/// A part of a picture, in pixels and fractions of them.
struct Frame {
  double top = 0;
  double left = 0;
  double height = 0;
  double width = 0;
};

/// A frame with the sample's proportions.
/// @param scale how many pixels of the picture a pixel of the sample is wide.
Frame around(double y, double x, double scale, const Shape& sample) {
  const double height = scale * static_cast<double>(sample[0]);
  const double width = scale * static_cast<double>(sample[1]);
  return {y - height / 2, x - width / 2, height, width};
}

/// The mean of a channel over a frame; what lies outside the picture is black.
double mean_over(const Image& image, const Frame& frame, Index channel) {
  const auto overlap = [](Index pixel, double begin, double length) {
    const auto low = static_cast<double>(pixel);
    return std::max(0.0, std::min(low + 1, begin + length) - std::max(low, begin));
  };
  const auto first = [](double begin) { return std::max<Index>(0, std::llround(begin - 0.5)); };
  const auto last = [](double end, Index size) { return std::min<Index>(size, static_cast<Index>(std::ceil(end))); };
  double sum = 0;
  for (Index y = first(frame.top); y < last(frame.top + frame.height, image.height); ++y) {
    const double rows = overlap(y, frame.top, frame.height);
    for (Index x = first(frame.left); x < last(frame.left + frame.width, image.width); ++x) {
      sum += rows * overlap(x, frame.left, frame.width) * image.at(y, x, channel);
    }
  }
  return sum / (frame.height * frame.width);
}

/// A part of the picture, scaled to `sample`.
Image scaled(const Image& image, const Frame& frame, const Shape& sample) {
  Image result = {.height = sample[0], .width = sample[1], .channels = sample[2], .pixels = {}};
  const double height = frame.height / static_cast<double>(sample[0]);
  const double width = frame.width / static_cast<double>(sample[1]);
  for (Index y = 0; y < sample[0]; ++y) {
    for (Index x = 0; x < sample[1]; ++x) {
      const Frame pixel = {frame.top + height * static_cast<double>(y), frame.left + width * static_cast<double>(x),
                           height, width};
      for (Index channel = 0; channel < sample[2]; ++channel) {
        result.pixels.push_back(static_cast<std::uint8_t>(std::lround(mean_over(image, pixel, channel))));
      }
    }
  }
  return result;
}

/// Whether most of the edge is lighter than middle grey.
bool has_light_edge(const Image& image) {
  Index light = 0;
  Index all = 0;
  for (Index y = 0; y < image.height; ++y) {
    const bool is_inner = y > 0 && y + 1 < image.height;
    const Index step = is_inner ? std::max<Index>(1, image.width - 1) : 1;
    for (Index x = 0; x < image.width; x += step) {
      ++all;
      if (image.at(y, x, 0) > 127) ++light;
    }
  }
  return 2 * light > all;
}

/// Whether all pixels are the same: then there is nothing to classify.
bool is_of_one_colour(const Image& image) {
  return std::equal(image.pixels.begin() + image.channels, image.pixels.end(), image.pixels.begin());
}

/// The value up to which a pixel counts as background: that of the darkest, and a fifth of the
/// range.
std::uint8_t black_of(const Image& image) {
  const auto [darkest, lightest] = std::minmax_element(image.pixels.begin(), image.pixels.end());
  return static_cast<std::uint8_t>(*darkest + (*lightest - *darkest) / 5);
}

/// The part of the picture around a drawing that is to fill the sample.
/// @param black of the picture's background.
Frame around_drawing(const Image& image, const Shape& sample, std::uint8_t black) {
  constexpr double part_drawn = 5.0 / 7;  // of MNIST's 28 pixels, 20
  Index top = image.height;
  Index bottom = 0;
  Index left = image.width;
  Index end = 0;
  double mass = 0;
  double y_sum = 0;
  double x_sum = 0;
  for (Index y = 0; y < image.height; ++y) {
    for (Index x = 0; x < image.width; ++x) {
      const double value = image.at(y, x, 0);
      if (value <= black) continue;
      top = std::min(top, y);
      bottom = std::max(bottom, y + 1);
      left = std::min(left, x);
      end = std::max(end, x + 1);
      mass += value;
      y_sum += value * (static_cast<double>(y) + 0.5);
      x_sum += value * (static_cast<double>(x) + 0.5);
    }
  }
  const double scale = std::max(static_cast<double>(bottom - top) / static_cast<double>(sample[0]),
                                static_cast<double>(end - left) / static_cast<double>(sample[1])) /
                       part_drawn;
  return around(y_sum / mass, x_sum / mass, scale, sample);
}

/// The largest part of the picture's middle with the sample's proportions.
Frame middle(const Image& image, const Shape& sample) {
  const auto height = static_cast<double>(image.height);
  const auto width = static_cast<double>(image.width);
  const double scale = std::min(height / static_cast<double>(sample[0]), width / static_cast<double>(sample[1]));
  return around(height / 2, width / 2, scale, sample);
}

}  // namespace

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

Dataset fit_image(const Image& image, const Shape& sample, Background background, int classes) {
  if (is_of_one_colour(image)) throw Error("nothing is drawn on it: all its pixels are the same");
  Image result = image;
  const bool is_light =
      background == Background::light || (background == Background::automatic && has_light_edge(image));
  if (sample[2] == 1 && is_light) {
    for (std::uint8_t& value : result.pixels) value = static_cast<std::uint8_t>(255 - value);
  }
  if (image.height != sample[0] || image.width != sample[1]) {
    const std::uint8_t black = black_of(result);
    const Frame frame = sample[2] == 1 ? around_drawing(result, sample, black) : middle(result, sample);
    // Paper is not quite white, but the digits of MNIST are on black.
    for (std::uint8_t& value : result.pixels) {
      if (sample[2] == 1 && value <= black) value = 0;
    }
    result = scaled(result, frame, sample);
    if (is_of_one_colour(result)) {
      throw Error("nothing of it is left at " + std::to_string(sample[1]) + "x" + std::to_string(sample[0]) +
                  ": all pixels are the same");
    }
  }
  return {sample, classes, std::move(result.pixels), {0}};
}

}  // namespace stagewise
