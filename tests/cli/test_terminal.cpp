// What a training shows on a terminal, and that it shows it nowhere else.

#include <cstddef>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

constexpr std::size_t columns = 80;

/// Whether programs and tests are compiled with AddressSanitizer, under which everything takes
/// several times as long and as much memory.
#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

/// As much of a terminal as the programs use: characters, line breaks, a return to the line's
/// begin, and the erasure of its rest. Remembers everything that a line has shown.
class Screen {
 public:
  explicit Screen(const std::string& bytes) : bytes_(bytes) {
    const std::string erase = "\033[K";
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes.compare(i, erase.size(), erase) == 0) {
        remember();
        line_.resize(column_, ' ');
        i += erase.size() - 1;
      } else if (bytes[i] == '\r') {
        remember();
        column_ = 0;
      } else if (bytes[i] == '\n') {
        remember();
        lines_.push_back(line_);
        line_.clear();
        column_ = 0;
      } else {
        EXPECT_EQ(bytes[i] & '\x80', 0) << "more than ASCII may count as more than one column";
        EXPECT_GE(bytes[i], ' ') << "a control character";
        if (line_.size() <= column_) line_.resize(column_ + 1, ' ');
        line_[column_++] = bytes[i];
      }
    }
    remember();
    if (!line_.empty()) lines_.push_back(line_);
  }

  const std::string& bytes() const { return bytes_; }

  /// What can be read in the end.
  const std::vector<std::string>& lines() const { return lines_; }

  /// Every state of a line that was overwritten or ended.
  const std::vector<std::string>& shown() const { return shown_; }

 private:
  void remember() {
    if (!line_.empty()) shown_.push_back(line_);
  }

  std::string bytes_;
  std::string line_;
  std::size_t column_ = 0;
  std::vector<std::string> lines_;
  std::vector<std::string> shown_;
};

class Terminal : public CommandLine {
 protected:
  Terminal() { surroundings_.variables["TERM"] = "xterm"; }

  Screen screen_of(const std::string& command, TerminalWidth width = {}) {
    const Outcome outcome = run_on_terminal(resolve(command), surroundings_, width);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    return Screen(outcome.out);
  }
};

bool is_bar(const std::string& line) {
  return line.find(" left") != std::string::npos && line.find('[') != std::string::npos;
}

// Long enough for several bars.
const std::string long_training =
    std::string("stage01_serial train --test-limit 20 --batch-size 10 --epochs 3 --gemm naive ") +
    (sanitized ? "--train-limit 600 --hidden 128" : "--train-limit 1000 --hidden 400");

TEST_F(Terminal, ShowsABarAndTakesItBack) {
  const Screen screen = screen_of(long_training);
  std::size_t bars = 0;
  for (const std::string& line : screen.shown()) {
    if (!is_bar(line)) continue;
    ++bars;
    EXPECT_LT(line.size(), columns) << line;
    EXPECT_NE(line.find(" left ["), std::string::npos) << line;
    EXPECT_TRUE(line.ends_with(" images/s")) << line;
  }
  EXPECT_GE(bars, 3U) << screen.bytes();

  // In the end only what a file would have received is left: lines, one after another.
  ASSERT_EQ(screen.lines().size(), 7U);
  for (const std::string& line : screen.lines()) EXPECT_FALSE(is_bar(line)) << line;
  for (std::size_t i = 3; i < 6; ++i) {
    EXPECT_TRUE(screen.lines()[i].starts_with("epoch " + std::to_string(i - 2) + "/3  loss ")) << screen.lines()[i];
  }
  EXPECT_TRUE(screen.lines()[6].starts_with("test   loss "));
}

TEST_F(Terminal, ShowsWhatThereIsRoomFor) {
  for (const unsigned short width : std::vector<unsigned short>{10, 20, 30, 50}) {
    std::size_t bars = 0;
    const Screen screen = screen_of(long_training, {.columns = width});
    for (const std::string& line : screen.shown()) {
      if (line.find("loss") != std::string::npos || line.find('%') == std::string::npos) continue;
      ++bars;
      EXPECT_LT(line.size(), width) << line;
      EXPECT_EQ(line.find(" left") != std::string::npos, width >= 30) << line;
      EXPECT_EQ(line.find('[') != std::string::npos, width >= 50) << line;
    }
    EXPECT_EQ(bars > 0, width >= 20) << width << screen.bytes();
  }
}

TEST_F(Terminal, NoticesThatItBecomesNarrower) {
  const Screen screen = screen_of(long_training, {.columns = 80, .later = 20});
  std::vector<std::string> bars;
  for (const std::string& line : screen.shown()) {
    if (line.find('%') != std::string::npos) bars.push_back(line);
  }
  ASSERT_GE(bars.size(), 2U) << screen.bytes();
  EXPECT_GE(bars.front().size(), 20U);
  EXPECT_LT(bars.back().size(), 20U);
}

TEST_F(Terminal, IsLeftAloneIfItCannotErase) {
  surroundings_.variables["TERM"] = "dumb";
  const Outcome outcome = run_on_terminal(resolve(long_training), surroundings_);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out.find('\033'), std::string::npos) << outcome.out;
  EXPECT_EQ(Screen(outcome.out).lines().size(), 7U) << outcome.out;
  EXPECT_EQ(run_well(long_training).find_first_of("\r\033"), std::string::npos) << "there is none";
}

TEST_F(Terminal, ShowsNoBarBesideAnError) {
  const Outcome outcome =
      run_on_terminal(resolve("stage01_serial train --learning-rate 1e30 --train-limit 200"), surroundings_);
  EXPECT_EQ(outcome.exit_code, 1);
  const Screen screen(outcome.out);
  ASSERT_GE(screen.lines().size(), 4U);
  EXPECT_TRUE(screen.lines()[3].starts_with("stage01_serial: the loss became NaN in epoch 1, ")) << outcome.out;
}

}  // namespace
}  // namespace stagewise
