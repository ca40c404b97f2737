#include "io/report.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "io/file.hpp"
#include "io/report_json.hpp"

/// @cond
/// Absent values are null; see without_absent().
template <typename Value>
struct nlohmann::adl_serializer<std::optional<Value>> {
  static void to_json(nlohmann::ordered_json& json, const std::optional<Value>& value) {
    json = value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  }
};
/// @endcond

/// As NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE, in the order of the members, and only for writing: each
/// member under its name.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): nlohmann's are used in it
#define STAGEWISE_TO_JSON(Type, ...)                                         \
  void to_json(Json& nlohmann_json_j, const Type& nlohmann_json_t) {         \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__)) \
  }                                                                          \
  static_assert(true)

namespace stagewise {

using Json = nlohmann::ordered_json;

/// @cond They are documented in the header.
STAGEWISE_TO_JSON(KernelCounters, launches, copies, loads, load_sectors, stores, store_sectors, distinct_bytes,
                  shared_cycles, bank_conflicts);
STAGEWISE_TO_JSON(DeviceLimits, device, bytes_per_second, operations_per_second, launch_seconds, cache_bytes_per_second,
                  shared_cycles_per_second);
/// @endcond
static STAGEWISE_TO_JSON(EpochReport, epoch, train_loss, train_accuracy, validation_loss, validation_accuracy, seconds,
                         images_per_second);
static STAGEWISE_TO_JSON(StepReport, epoch, step, loss, accuracy, learning_rate, images_per_second);
static STAGEWISE_TO_JSON(TimingReport, operation, calls, forward_seconds, backward_seconds, bytes, operations,
                         floor_seconds, bound, counters, counted_floor_seconds);
static STAGEWISE_TO_JSON(LatencyReport, path, samples, median_seconds, p95_seconds, p99_seconds);
static STAGEWISE_TO_JSON(ConfusionReport, counts, precision, recall);

/// Each row of pixels as one text, two hexadecimal digits a byte: as numbers, every byte would take
/// a line of its own.
static void to_json(Json& json, const Image& image) {
  constexpr std::string_view digits = "0123456789abcdef";
  Json rows = Json::array();
  const auto row_size = static_cast<std::size_t>(image.width * image.channels);
  for (std::size_t begin = 0; begin < image.pixels.size(); begin += row_size) {
    std::string row;
    for (const std::uint8_t byte : std::span(image.pixels).subspan(begin, row_size)) {
      row += digits[byte / digits.size()];
      row += digits[byte % digits.size()];
    }
    rows.push_back(row);
  }
  json = {{"channels", image.channels}, {"rows", rows}};
}

static STAGEWISE_TO_JSON(MistakeReport, sample, label, predicted, confidence, image);
static STAGEWISE_TO_JSON(PredictionReport, sample, label, predicted, scores);
static STAGEWISE_TO_JSON(Report, stage, device, cuda_on_cpu, command, model, dataset, precision, batch_size, seed,
                         ranks, workers, epochs, steps, best_epoch, test_loss, test_accuracy, class_names, confusion,
                         mistakes, predictions, latency, timings, limits);

namespace {

/// Without the members that are null, in all objects.
Json without_absent(const Json& json) {
  if (!json.is_structured()) return json;
  Json result = json.is_array() ? Json::array() : Json::object();
  for (const auto& item : json.items()) {
    if (json.is_array()) {
      result.push_back(without_absent(item.value()));
    } else if (!item.value().is_null()) {
      result[item.key()] = without_absent(item.value());
    }
  }
  return result;
}

}  // namespace

std::string command_line(const std::vector<std::string>& words) {
  const std::string usual = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+";
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && word.find_first_not_of(usual) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

std::int64_t peak_memory_bytes() {
  // getrusage() would count what the parent process had resident when it started this one.
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    std::int64_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

void write_report(const std::filesystem::path& path, const Report& report) {
  Json json = report;
  json["command"] = command_line(report.command);
  for (const char* const list : {"steps", "class_names", "predictions", "latency"}) {
    if (json[list].empty()) json.erase(list);
  }
  json["peak_memory_bytes"] = peak_memory_bytes();
  // A path on the command line may be any bytes; JSON is UTF-8.
  const std::string text = without_absent(json).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  write_file(path, std::as_bytes(std::span(text)), "report");
}

}  // namespace stagewise
