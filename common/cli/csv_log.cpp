#include "cli/csv_log.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/text.hpp"
#include "io/file.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view columns =
    "epoch,step,loss,accuracy,learning_rate,images_per_second,validation_loss,"
    "validation_accuracy\n";

/// How far a training has come.
struct Progress {
  std::int64_t epoch = 0;
  std::int64_t step = 0;

  bool operator==(const Progress&) const = default;
};

std::string to_text(const Progress& progress) {
  return "epoch " + with_thousands(progress.epoch) + ", step " + with_thousands(progress.step);
}

/// What the first two cells of a row say.
std::optional<Progress> progress_of(const std::string& row) {
  Progress progress;
  std::array<char, 2> commas{};
  std::istringstream cells(row);
  cells >> std::noskipws >> progress.epoch >> commas[0] >> progress.step >> commas[1];
  if (!cells || commas != std::array{',', ','}) return std::nullopt;
  return progress;
}

/// The rows that a training has written up to `end`.
std::string rows_until(const Progress& end, const fs::path& path, const std::string& source) {
  const auto failure = [&](const std::string& what) {
    return Error("the table " + path.string() + " cannot be continued: " + what +
                 "; choose another name for --csv");
  };
  std::error_code error;
  if (!fs::exists(path, error) && !error) return "";
  const std::string objection = objection_to_reading(path);
  if (!objection.empty()) throw failure(objection);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw failure(std::strerror(errno));
  if (file.peek() == std::ifstream::traits_type::eof() && !file.bad()) return "";
  std::string line;
  if (!std::getline(file, line) || line + '\n' != columns) {
    throw failure("its first line is not that of a training's log");
  }
  std::string rows;
  Progress last;
  while (std::getline(file, line) && !file.eof()) {  // the end of a line may have been cut off
    const std::optional<Progress> progress = progress_of(line);
    if (!progress) throw failure("it has a row without epoch and step");
    if (progress->epoch > end.epoch) break;  // will be trained, and written, again
    last = *progress;
    rows += line + '\n';
  }
  if (file.bad()) throw failure("it cannot be read to its end");
  if (!rows.empty() && last != end) {
    throw failure("its rows lead to " + to_text(last) + ", but " + source + " is of " +
                  to_text(end));
  }
  return rows;
}

std::string text_of(const std::optional<double>& value) {
  return value ? shortest(*value) : "";
}

std::string row_of(const StepReport& step, const EpochReport& epoch) {
  return csv_line({std::to_string(step.epoch), std::to_string(step.step), shortest(step.loss),
                   shortest(step.accuracy), shortest(step.learning_rate),
                   shortest(step.images_per_second), text_of(epoch.validation_loss),
                   text_of(epoch.validation_accuracy)});
}

}  // namespace

CsvLog::CsvLog(fs::path path, const Checkpoint* resumed, const std::string& source)
    : path_(std::move(path)), beginning_(columns) {
  if (path_.empty() || resumed == nullptr) return;
  beginning_ += rows_until({resumed->epoch, resumed->step}, path_, source);
}

void CsvLog::add(const EpochReport& epoch, std::span<const StepReport> rows) {
  if (path_.empty()) return;
  std::string text;
  for (const StepReport& row : rows) {
    text += row_of(row, &row == &rows.back() ? epoch : EpochReport{});
  }
  const auto bytes_of = [](const std::string& some) { return std::as_bytes(std::span(some)); };
  if (is_begun_ && fs::exists(path_)) {
    append_to_file(path_, bytes_of(text), "table");
  } else {
    write_file(path_, bytes_of(beginning_ + text), "table");
  }
  is_begun_ = true;
}

}  // namespace stagewise
