#include "io/report.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "io/file.hpp"
#include "io/report_json.hpp"

namespace stagewise {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
void put(Json& json, const char* key, const std::optional<Value>& value) {
  if (value) json[key] = *value;
}

Json to_json(const EpochReport& epoch) {
  Json json = {{"epoch", epoch.epoch},
               {"train_loss", epoch.train_loss},
               {"train_accuracy", epoch.train_accuracy}};
  put(json, "validation_loss", epoch.validation_loss);
  put(json, "validation_accuracy", epoch.validation_accuracy);
  json["seconds"] = epoch.seconds;
  json["images_per_second"] = epoch.images_per_second;
  return json;
}

Json to_json(const StepReport& step) {
  return {{"epoch", step.epoch},
          {"step", step.step},
          {"loss", step.loss},
          {"accuracy", step.accuracy},
          {"learning_rate", step.learning_rate},
          {"images_per_second", step.images_per_second}};
}

Json to_json(const TimingReport& timing) {
  Json json = {{"operation", timing.operation},
               {"calls", timing.calls},
               {"forward_seconds", timing.forward_seconds},
               {"backward_seconds", timing.backward_seconds}};
  put(json, "bytes", timing.bytes);
  put(json, "operations", timing.operations);
  put(json, "floor_seconds", timing.floor_seconds);
  put(json, "bound", timing.bound);
  if (timing.counters) json["counters"] = to_json(*timing.counters);
  put(json, "counted_floor_seconds", timing.counted_floor_seconds);
  return json;
}

Json to_json(const LatencyReport& latency) {
  return {{"path", latency.path},
          {"samples", latency.samples},
          {"median_seconds", latency.median_seconds},
          {"p95_seconds", latency.p95_seconds},
          {"p99_seconds", latency.p99_seconds}};
}

/// Null for what there is not.
Json to_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

/// Each row of pixels as one text, two hexadecimal digits a byte: as numbers, every byte would take
/// a line of its own.
Json to_json(const Image& image) {
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
  return {{"channels", image.channels}, {"rows", rows}};
}

Json to_json(const MistakeReport& mistake) {
  Json json = {{"sample", mistake.sample},
               {"label", mistake.label},
               {"predicted", mistake.predicted},
               {"confidence", mistake.confidence}};
  if (mistake.image) json["image"] = to_json(*mistake.image);
  return json;
}

Json to_json(const PredictionReport& prediction) {
  Json json = {{"sample", prediction.sample}};
  put(json, "label", prediction.label);
  json["predicted"] = prediction.predicted;
  json["scores"] = prediction.scores;
  return json;
}

template <typename Item>
Json to_json(const std::vector<Item>& items) {
  Json json = Json::array();
  for (const Item& item : items) json.push_back(to_json(item));
  return json;
}

}  // namespace

nlohmann::ordered_json to_json(const KernelCounters& counters) {
  return {{"launches", counters.launches},
          {"copies", counters.copies},
          {"loads", counters.loads},
          {"load_sectors", counters.load_sectors},
          {"stores", counters.stores},
          {"store_sectors", counters.store_sectors},
          {"distinct_bytes", counters.distinct_bytes},
          {"shared_cycles", counters.shared_cycles},
          {"bank_conflicts", counters.bank_conflicts}};
}

nlohmann::ordered_json to_json(const DeviceLimits& limits) {
  return {{"device", limits.device},
          {"bytes_per_second", limits.bytes_per_second},
          {"operations_per_second", limits.operations_per_second},
          {"launch_seconds", limits.launch_seconds},
          {"cache_bytes_per_second", limits.cache_bytes_per_second},
          {"shared_cycles_per_second", limits.shared_cycles_per_second}};
}

std::string command_line(const std::vector<std::string>& words) {
  const std::string usual =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+";
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
  Json json = {{"stage", report.stage},
               {"device", report.device},
               {"cuda_on_cpu", report.cuda_on_cpu},
               {"command", command_line(report.command)},
               {"model", report.model},
               {"dataset", report.dataset},
               {"precision", report.precision},
               {"batch_size", report.batch_size},
               {"seed", report.seed}};
  put(json, "ranks", report.ranks);
  put(json, "workers", report.workers);
  json["epochs"] = to_json(report.epochs);
  if (!report.steps.empty()) json["steps"] = to_json(report.steps);
  put(json, "best_epoch", report.best_epoch);
  put(json, "test_loss", report.test_loss);
  put(json, "test_accuracy", report.test_accuracy);
  if (!report.class_names.empty()) json["class_names"] = report.class_names;
  if (report.confusion) {
    json["confusion"] = {{"counts", report.confusion->counts},
                         {"precision", to_json(report.confusion->precision)},
                         {"recall", to_json(report.confusion->recall)}};
  }
  if (report.mistakes) json["mistakes"] = to_json(*report.mistakes);
  if (!report.predictions.empty()) json["predictions"] = to_json(report.predictions);
  if (!report.latency.empty()) json["latency"] = to_json(report.latency);
  json["timings"] = to_json(report.timings);
  if (report.limits) json["limits"] = to_json(*report.limits);
  json["peak_memory_bytes"] = peak_memory_bytes();

  // A path on the command line may be any bytes; JSON is UTF-8.
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  write_file(path, std::as_bytes(std::span(text)), "report");
}

}  // namespace stagewise
