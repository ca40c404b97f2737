#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "data/generators.hpp"

namespace stagewise {
namespace {

constexpr int side = 28;  // height and width of an image, in pixels
constexpr std::size_t image_pixels = std::size_t{side} * side;
constexpr int span_pieces = 6;  // straight pieces that stand for the curve between two points

/// In a glyph: x to the right and y down, the digit filling the unit square. In an image: pixels.
struct Point {
  double x;
  double y;
};

/// A smooth curve through these points. A corner is where one stroke ends and the next begins.
using Stroke = std::vector<Point>;

/// One way to write a digit.
using Glyph = std::vector<Stroke>;

/// One way to write a digit: the points of its strokes, each as x,y in percent of the unit square.
struct Way {
  std::size_t digit;
  const char* strokes;
};

/// People differ most in 1, 2, 4 and 7.
constexpr std::array ways_to_write = {
    // 0: one loop, broad or narrow
    Way{0, "55,2 28,15 18,50 28,86 52,98 74,84 83,48 72,13 50,3"},
    Way{0, "58,2 36,17 28,52 36,86 52,98 66,85 72,48 66,15 52,3"},
    // 1: a bar; with a flag; with a flag and a foot
    Way{1, "50,2 50,98"},
    Way{1, "28,28 54,3 | 54,3 52,98"},
    Way{1, "30,24 52,3 | 52,3 51,97 | 26,97 76,97"},
    // 2: with a corner, or with a loop, at the lower left
    Way{2, "20,26 34,6 62,5 76,26 62,54 36,80 16,96 | 16,96 84,95"},
    Way{2, "22,22 42,3 70,12 70,40 48,74 26,95 15,84 30,76 54,90 84,94"},
    // 3: round, or with a flat top
    Way{3, "22,16 46,3 72,14 68,38 42,47 | 42,47 72,56 78,80 52,98 20,86"},
    Way{3, "22,5 74,5 | 74,5 44,42 | 44,42 74,54 76,82 50,98 20,88"},
    // 4: closed, or open at the top
    Way{4, "64,2 14,66 | 14,66 88,66 | 64,2 64,98"},
    Way{4, "28,4 22,36 30,54 54,56 80,48 | 78,4 72,50 68,98"},
    // 5: with a bar on top of a belly
    Way{5, "78,4 32,4 | 32,4 26,46 | 26,46 52,37 76,52 76,80 50,98 20,88"},
    // 6: a curve into a loop
    Way{6, "70,4 44,18 26,46 22,74 40,96 66,93 78,72 62,54 40,56 25,70"},
    // 7: plain, or crossed
    Way{7, "16,5 82,5 | 82,5 58,45 42,98"},
    Way{7, "18,6 82,5 | 82,5 60,42 46,98 | 34,50 76,48"},
    // 8: one line that crosses itself in the middle
    Way{8, "72,16 50,2 28,14 30,34 52,48 75,66 72,90 48,98 24,88 24,66 50,47 70,32 72,16"},
    // 9: a loop with a straight tail, or with a hooked one
    Way{9, "74,22 54,3 28,12 24,38 46,50 68,40 74,22 | 74,22 70,60 62,98"},
    Way{9, "74,24 54,4 28,14 26,38 48,49 68,40 74,24 | 74,24 76,66 58,96 26,90"},
};

/// The ways to write each digit.
const std::array<std::vector<Glyph>, 10>& glyphs() {
  static const std::array<std::vector<Glyph>, 10> all = [] {
    std::array<std::vector<Glyph>, 10> result;
    for (const Way& way : ways_to_write) {
      Glyph& glyph = result.at(way.digit).emplace_back(1);
      std::istringstream words(way.strokes);
      for (std::string word; words >> word;) {
        if (word == "|") {
          glyph.emplace_back();
          continue;
        }
        const std::size_t comma = word.find(',');
        glyph.back().push_back({std::stoi(word) / 100.0, std::stoi(word.substr(comma + 1)) / 100.0});
      }
    }
    return result;
  }();
  return all;
}

/// How one image's hand differs from the glyph: a smooth bend of the unit square, then an affine
/// map to the image. Both are continuous, so strokes that meet still meet.
class Hand {
 public:
  explicit Hand(Random& random) : bend_x_(Wave::draw(random)), bend_y_(Wave::draw(random)) {
    const double angle = random.uniform(-0.25, 0.25);  // radians; 0.25 is 14 degrees
    const double shear = random.uniform(-0.2, 0.4);    // most people lean to the right
    const double width = random.uniform(14, 19);       // pixels
    const double height = random.uniform(17, 21);
    const double cosine = std::cos(angle);
    const double sine = std::sin(angle);
    xx_ = cosine * width;
    xy_ = -sine * height - cosine * shear * width;
    yx_ = sine * width;
    yy_ = cosine * height - sine * shear * width;
    centre_.x = 0.5 * (side - 1) + random.uniform(-2, 2);
    centre_.y = 0.5 * (side - 1) + random.uniform(-2, 2);
  }

  /// Where a point of the glyph comes to lie in the image.
  Point operator()(const Point& p) const {
    const double x = p.x - 0.5 + bend_x_.at(p);
    const double y = p.y - 0.5 + bend_y_.at(p);
    return {centre_.x + xx_ * x + xy_ * y, centre_.y + yx_ * x + yy_ * y};
  }

 private:
  /// A plane wave across the unit square, at most about one period of it.
  struct Wave {
    double amplitude;
    double along_x;
    double along_y;
    double phase;

    static Wave draw(Random& random) {
      const double amplitude = random.uniform(0, 0.075);
      const double along_x = random.uniform(-5, 5);
      const double along_y = random.uniform(-5, 5);
      return {amplitude, along_x, along_y, random.uniform(0, 2 * std::numbers::pi)};
    }

    double at(const Point& p) const { return amplitude * std::sin(along_x * p.x + along_y * p.y + phase); }
  };

  Wave bend_x_;
  Wave bend_y_;
  Point centre_{};
  double xx_, xy_, yx_, yy_;
};

/// How much ink each pixel has, from 0 to 1.
class Canvas {
 public:
  /// @param radius half the thickness of the pen, in pixels.
  explicit Canvas(double radius) : radius_(radius) {}

  /// A smooth curve through the points (a Catmull-Rom spline), as a chain of straight lines.
  void draw(const Stroke& stroke) {
    const std::size_t last = stroke.size() - 1;
    Point from = stroke[0];
    for (std::size_t i = 0; i < last; ++i) {
      const Point& before = stroke[i == 0 ? 0 : i - 1];
      const Point& after = stroke[std::min(i + 2, last)];
      for (int piece = 1; piece <= span_pieces; ++piece) {
        const double t = static_cast<double>(piece) / span_pieces;
        const Point to = {spline(before.x, stroke[i].x, stroke[i + 1].x, after.x, t),
                          spline(before.y, stroke[i].y, stroke[i + 1].y, after.y, t)};
        draw_line(from, to);
        from = to;
      }
    }
  }

  double ink(int row, int column) const { return ink_[place(row, column)]; }

 private:
  static std::size_t place(int row, int column) {
    return static_cast<std::size_t>(row) * side + static_cast<std::size_t>(column);
  }

  /// Goes from `b` (t = 0) to `c` (t = 1), with the slopes of the lines from `a` to `c` and from
  /// `b` to `d`.
  static double spline(double a, double b, double c, double d, double t) {
    return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
  }

  /// Only the pixels around the line are visited, which makes a digit about 20 times cheaper.
  void draw_line(const Point& from, const Point& to) {
    const double reach = radius_ + 0.5;
    const int first_row = std::max(0, static_cast<int>(std::ceil(std::min(from.y, to.y) - reach)));
    const int last_row = std::min(side - 1, static_cast<int>(std::floor(std::max(from.y, to.y) + reach)));
    const int first_column = std::max(0, static_cast<int>(std::ceil(std::min(from.x, to.x) - reach)));
    const int last_column = std::min(side - 1, static_cast<int>(std::floor(std::max(from.x, to.x) + reach)));
    const double dx = to.x - from.x;
    const double dy = to.y - from.y;
    const double length_squared = std::max(dx * dx + dy * dy, 1e-12);
    for (int row = first_row; row <= last_row; ++row) {
      for (int column = first_column; column <= last_column; ++column) {
        const double px = column - from.x;
        const double py = row - from.y;
        const double t = std::clamp((px * dx + py * dy) / length_squared, 0.0, 1.0);
        const double distance = std::sqrt((px - t * dx) * (px - t * dx) + (py - t * dy) * (py - t * dy));
        double& ink = ink_[place(row, column)];
        ink = std::max(ink, std::clamp(reach - distance, 0.0, 1.0));
      }
    }
  }

  double radius_;
  std::array<double, image_pixels> ink_{};
};

/// About normal, mean 0 and deviation 1: the sum of four 16-bit numbers. One draw and no logarithm,
/// since every pixel of every image needs one.
double noise(Random& random) {
  const std::uint64_t bits = random.bits();
  const std::uint64_t sum = (bits & 0xffffU) + ((bits >> 16U) & 0xffffU) + ((bits >> 32U) & 0xffffU) + (bits >> 48U);
  constexpr double mean = 2 * 65535.0;
  constexpr double deviation = 37837.2;  // sqrt(4 * (2^32 - 1) / 12)
  return (static_cast<double>(sum) - mean) / deviation;
}

/// Writes the `image_pixels` bytes of one image of `digit`.
void draw_digit(std::size_t digit, Random& random, std::uint8_t* pixels) {
  const std::vector<Glyph>& ways = glyphs()[digit];
  const Glyph& glyph = ways[random.below(ways.size())];
  const Hand hand(random);
  Canvas canvas(random.uniform(0.9, 1.9));
  const double brightness = random.uniform(170, 255);
  const double noise_level = random.uniform(6, 30);
  Stroke placed;
  for (const Stroke& stroke : glyph) {
    placed.resize(stroke.size());
    std::transform(stroke.begin(), stroke.end(), placed.begin(), hand);
    canvas.draw(placed);
  }
  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < side; ++column) {
      const double value = brightness * canvas.ink(row, column) + noise_level * noise(random);
      *pixels++ = static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
    }
  }
}

}  // namespace

// Everything is computed in double and rounded to a byte at the end, so that the last bits, in
// which processors and libraries may differ, practically never show.
Dataset make_digits(Index count, std::uint64_t seed, Purpose purpose) {
  const auto images = static_cast<std::size_t>(count);
  std::vector<std::uint8_t> pixels(images * image_pixels);
  std::vector<std::int32_t> labels(images);
  for (std::size_t i = 0; i < images; ++i) {
    Random random(seed, purpose, i);
    const std::uint64_t digit = random.below(glyphs().size());
    labels[i] = static_cast<std::int32_t>(digit);
    draw_digit(digit, random, pixels.data() + i * image_pixels);
  }
  return Dataset({side, side, 1}, 10, std::move(pixels), std::move(labels));
}

}  // namespace stagewise
