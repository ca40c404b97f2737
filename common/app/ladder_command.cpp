#include "app/ladder_command.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "app/ladder_table.hpp"
#include "app/status_line.hpp"
#include "app/text.hpp"
#include "app/values.hpp"
#include "io/file.hpp"
#include "io/report.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

constexpr std::int64_t largest_size = std::numeric_limits<std::int32_t>::max();

std::vector<std::string> rung_choices(const LadderCommand& ladder) {
  std::vector<std::string> choices = {"all"};
  choices.insert(choices.end(), ladder.rungs.begin(), ladder.rungs.end());
  return choices;
}

void check_factor(const std::string& name, double value, const std::string& precision) {
  if (precision == "double") return;
  const auto in_float = static_cast<float>(value);
  const bool infinite = !std::isfinite(in_float);
  if (!infinite && (in_float != 0) == (value != 0)) return;
  throw UsageError("--" + name + " " + shortest(value) + " is " + (infinite ? "infinite" : "0") +
                   " in float; choose another, or --precision double");
}

nlohmann::ordered_json to_json(const LadderRow& row, const LadderTable& table) {
  nlohmann::ordered_json json = {{"name", row.name}};
  if (!row.file.empty()) json["file"] = row.file;
  if (!row.idea.empty()) json["idea"] = row.idea;
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
  const std::optional<double> share = share_of_reference(row, table);
  if (share) json["fraction_of_reference"] = *share;
  return json;
}

nlohmann::ordered_json to_json(const LadderTable& table) {
  nlohmann::ordered_json json = {{"heading", table.heading}};
  json["rows"] = nlohmann::ordered_json::array();
  for (const LadderRow& row : table.rows) json["rows"].push_back(to_json(row, table));
  for (const LadderRow& row : table.reference_rows) json["reference"] = to_json(row, table);
  return json;
}

void write_ladder_report(const Stage& stage, const LadderCommand& ladder,
                         const LadderOptions& options, const std::vector<std::string>& command,
                         const LadderReport& report) {
  const LadderRequest& request = options.request;
  nlohmann::ordered_json json = {{"stage", stage.program},
                                 {"device", stage.device()},
                                 {"cuda_on_cpu", stage.cuda_on_cpu},
                                 {"command", command_line(command)},
                                 {"ladder", ladder.name}};
  for (const auto& [name, size] : request.sizes) json[name] = size;
  if (ladder.is_product) {
    json["alpha"] = request.alpha;
    json["beta"] = request.beta;
    json["transpose_a"] = request.transpose_a;
    json["transpose_b"] = request.transpose_b;
  }
  json["precision"] = request.precision;
  json["seed"] = request.seed;
  json["repetitions"] = request.repetitions;
  json["tables"] = nlohmann::ordered_json::array();
  for (const LadderTable& table : report.tables) json["tables"].push_back(to_json(table));
  json["peak_memory_bytes"] = peak_memory_bytes();
  const std::string text =
      json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  write_file(options.report, std::as_bytes(std::span(text)), "report");
}

}  // namespace

void add_ladder_options(CLI::App& command, const Stage& stage, const LadderCommand& ladder,
                        LadderOptions& options) {
  LadderRequest& request = options.request;
  command.option_defaults()->group("Problem");
  for (const LadderSize& size : ladder.sizes) {
    if (size.default_size) request.sizes[size.name] = *size.default_size;
    add_value(command, size.name, "N", size.description,
              size.default_size ? std::to_string(*size.default_size) : "",
              [&request, name = size.name](const std::string& text) {
                request.sizes[name] = parse_count(text, 1, largest_size);
              });
  }
  if (ladder.is_product) {
    add_value(command, "alpha", "X", "factor of the product", shortest(request.alpha),
              [&](const std::string& text) { request.alpha = parse_finite(text); });
    add_value(command, "beta", "X", "factor of what C holds before", shortest(request.beta),
              [&](const std::string& text) { request.beta = parse_finite(text); });
    command.add_flag("--transpose-a", request.transpose_a, "A is stored as [k, m]")
        ->disable_flag_override();
    command.add_flag("--transpose-b", request.transpose_b, "B is stored as [n, k]")
        ->disable_flag_override();
  }
  add_value(command, "precision", "NAME", "float, double", request.precision,
            [&](const std::string& text) {
              request.precision = parse_choice(text, {"float", "double"});
            });
  add_value(command, "seed", "N", "of the random inputs", std::to_string(request.seed),
            [&](const std::string& text) { request.seed = parse_seed(text); });

  command.option_defaults()->group("Ladder");
  add_value(command, "rung", "NAME", list_of(rung_choices(ladder)), request.rung,
            [&request, choices = rung_choices(ladder)](const std::string& text) {
              request.rung = parse_choice(text, choices);
            });
  request.repetitions = stage.cuda_on_cpu ? 1 : 20;
  constexpr std::int64_t most_repetitions = 1'000'000;
  add_value(command, "repetitions", "N", "measurements, of which the median counts; 0: only verify",
            std::to_string(request.repetitions), [&](const std::string& text) {
              request.repetitions = parse_count(text, 0, most_repetitions);
            });

  command.option_defaults()->group("Results");
  add_value(command, "report", "FILE", "write the results as JSON", "",
            [&](const std::string& text) { options.report = parse_name(text); });
  command.option_defaults()->group("Options");
}

int run_ladder(const Stage& stage, const LadderCommand& ladder, const LadderOptions& options,
               const std::vector<std::string>& command) {
  check_factor("alpha", options.request.alpha, options.request.precision);
  check_factor("beta", options.request.beta, options.request.precision);
  if (!options.report.empty()) check_writable(options.report, "report");
  LadderReport report;
  {
    StatusLine status;  // some rungs take minutes
    LadderRequest request = options.request;
    request.announce = [&](const std::string& name) { status.show(("running " + name).c_str()); };
    report = ladder.run(request);
  }
  print_ladder(std::cout, stage, report);
  if (!options.report.empty()) write_ladder_report(stage, ladder, options, command, report);
  return is_right(report) ? 0 : 1;
}

}  // namespace stagewise
