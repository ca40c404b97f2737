#include "ladders/program/results.hpp"

#include <algorithm>
#include <iostream>

#include "cuda/device.hpp"
#include "io/file.hpp"
#include "io/report.hpp"
#include "io/report_json.hpp"
#include "ladders/program/table.hpp"
#include "network/cost.hpp"

namespace stagewise::ladder {
namespace {

nlohmann::ordered_json to_json(const Row& row, const Table& table, const DeviceLimits& limits) {
  nlohmann::ordered_json json = {{"name", row.name}};
  if (!row.file.empty()) json["file"] = row.file;
  if (!row.idea.empty()) json["idea"] = row.idea;
  if (!row.plan.empty()) json["plan"] = row.plan;
  if (row.picked) json["picked"] = true;
  if (!row.skipped.empty()) {
    json["skipped"] = row.skipped;
    return json;
  }
  json["verified"] = row.wrong.empty();
  if (!row.wrong.empty()) json["wrong"] = row.wrong;
  json["difference"] = row.difference;
  json["worst_difference"] = row.worst;
  json["worst_difference_bound"] = row.bound;
  if (row.reference_difference) json["difference_from_reference"] = *row.reference_difference;
  if (row.operations > 0) json["operations"] = row.operations;
  json["bytes"] = row.bytes;
  if (row.seconds) json["seconds"] = *row.seconds;
  if (row.first_seconds) json["preparing_seconds"] = *row.first_seconds;
  if (row.counters) {
    json["counters"] = *row.counters;
    json["counted_floor_seconds"] = counted_floor_of(*row.counters, row.operations, limits).seconds;
  }
  const std::optional<double> share = share_of_reference(row, table);
  if (share) json["fraction_of_reference"] = *share;
  return json;
}

nlohmann::ordered_json to_json(const Table& table, const DeviceLimits& limits) {
  nlohmann::ordered_json json = {{"heading", table.heading}};
  json["rows"] = nlohmann::ordered_json::array();
  for (const Row& row : table.rows) json["rows"].push_back(to_json(row, table, limits));
  if (table.reference) json["reference"] = to_json(*table.reference, table, limits);
  return json;
}

}  // namespace

void write_report(const std::filesystem::path& path, const Results& results, const Options& options,
                  const std::vector<std::string>& command) {
  nlohmann::ordered_json json = {{"stage", "ladder"},
                                 {"device", cuda::describe_device()},
                                 {"cuda_on_cpu", cuda::runs_on_cpu()},
                                 {"command", command_line(command)},
                                 {"ladder", results.ladder}};
  json.update(results.problem);
  json["precision"] = options.precision;
  json["seed"] = options.seed;
  json["repetitions"] = options.repetitions;
  json["tables"] = nlohmann::ordered_json::array();
  for (const Table& table : results.tables) {
    json["tables"].push_back(to_json(table, results.limits));
  }
  json["limits"] = results.limits;
  json["peak_memory_bytes"] = peak_memory_bytes();
  const std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  write_file(path, std::as_bytes(std::span(text)), "report");
}

std::vector<Row> all_rows(const Table& table) {
  std::vector<Row> rows = table.rows;
  if (table.reference) rows.push_back(*table.reference);
  return rows;
}

double speed_of(const Row& row) { return (row.operations > 0 ? row.operations : row.bytes) / *row.seconds; }

std::optional<double> share_of_reference(const Row& row, const Table& table) {
  if (!row.seconds || !table.reference || !table.reference->seconds) return std::nullopt;
  return speed_of(row) / speed_of(*table.reference);
}

bool is_right(const std::vector<Table>& tables) {
  return std::ranges::all_of(tables, [](const Table& table) {
    return std::ranges::all_of(all_rows(table), [](const Row& row) { return row.wrong.empty(); });
  });
}

int finish(const Results& results, const Options& options, const std::vector<std::string>& command) {
  print_verdict(std::cout, results.tables);
  if (!options.report.empty()) write_report(options.report, results, options, command);
  return is_right(results.tables) ? 0 : 1;
}

}  // namespace stagewise::ladder
