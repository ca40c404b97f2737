#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "io/images/image.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

/// The kinds of files: "P5" begins a raw PGM.
struct Kind {
  std::string_view magic;
  Index channels;
  bool is_raw;
};

constexpr std::array<Kind, 4> kinds = {
    {{"P2", 1, false}, {"P3", 3, false}, {"P5", 1, true}, {"P6", 3, true}}};

bool is_blank(std::uint8_t byte) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/// Reads one number after another; between them are blanks and comments.
class PnmReader {
 public:
  explicit PnmReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  /// @throws Error if there is none, or it is not from `least` to `most`.
  int number(const std::string& what, int least, int most) {
    skip_blanks();
    std::string word;
    constexpr std::size_t longest = 12;
    while (!rest_.empty() && !is_blank(rest_[0]) && rest_[0] != '#' && word.size() < longest) {
      word += static_cast<char>(rest_[0]);
      rest_ = rest_.subspan(1);
    }
    if (word.empty()) throw Error("it is cut short: its " + what + " is missing");
    int value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < least || value > most) {
      throw Error("its " + what + " is " + in_quotes(word) + ", not a number from " +
                  std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
  }

  /// The next value of a raw file: a byte, or two, the more significant first.
  int raw(bool has_two_bytes) {
    const std::size_t size = has_two_bytes ? 2 : 1;
    if (rest_.size() < size) throw Error("it is cut short: some of its pixels are missing");
    const int value = has_two_bytes ? rest_[0] * 256 + rest_[1] : rest_[0];
    rest_ = rest_.subspan(size);
    return value;
  }

  /// Skips the single blank between the header of a raw file and its pixels.
  void skip_one() {
    if (!rest_.empty()) rest_ = rest_.subspan(1);
  }

 private:
  void skip_blanks() {
    bool is_comment = false;
    while (!rest_.empty() && (is_comment || is_blank(rest_[0]) || rest_[0] == '#')) {
      is_comment = rest_[0] == '#' || (is_comment && rest_[0] != '\n');
      rest_ = rest_.subspan(1);
    }
  }

  std::span<const std::uint8_t> rest_;
};

}  // namespace

Image read_pnm(std::span<const std::uint8_t> bytes) {
  const Kind* kind = nullptr;
  const std::string magic(bytes.begin(),
                          bytes.begin() + std::min<std::ptrdiff_t>(2, std::ssize(bytes)));
  for (const Kind& candidate : kinds) {
    const bool goes_on = bytes.size() > 2 && (is_blank(bytes[2]) || bytes[2] == '#');
    if (magic == candidate.magic && goes_on) kind = &candidate;
  }
  if (kind == nullptr) throw Error("it is neither a PNG nor a PGM or PPM image");
  PnmReader reader(bytes.subspan(2));
  constexpr int largest_side = 1 << 20;
  constexpr int largest_value = 65535;
  Image image;
  image.width = reader.number("width", 1, largest_side);
  image.height = reader.number("height", 1, largest_side);
  image.channels = kind->channels;
  const int white = reader.number("value of white", 1, largest_value);
  if (image.width * image.height > max_image_pixels) {
    throw Error("its " + std::to_string(image.width) + " x " + std::to_string(image.height) +
                " pixels are too many");
  }
  if (kind->is_raw) reader.skip_one();
  const Index count = image.width * image.height * image.channels;
  for (Index i = 0; i < count; ++i) {
    const int value = kind->is_raw ? reader.raw(white > 255) : reader.number("pixel", 0, white);
    if (value > white) throw Error("one of its pixels is brighter than its white");
    image.pixels.push_back(static_cast<std::uint8_t>((value * 255 + white / 2) / white));
  }
  return image;
}

}  // namespace stagewise
