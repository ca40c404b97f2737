#include "ladders/program/options.hpp"

#include <CLI/CLI.hpp>
#include <limits>

#include "cli/values.hpp"
#include "ladders/program/commands.hpp"

namespace stagewise::ladder {

void add_size(CLI::App& command, const std::string& name, const std::string& description, Index& size) {
  constexpr std::int64_t largest_size = std::numeric_limits<std::int32_t>::max();
  add_value(command, name, "N", description, size > 0 ? std::to_string(size) : "", [&size](const std::string& text) {
    size = parse_count(text, 1, largest_size);
  })->group("Problem");
}

void add_options(CLI::App& command, Options& options, const std::vector<std::string>& rungs) {
  command.option_defaults()->group("Problem");
  add_value(command, "precision", "NAME", "float, double", options.precision, [&](const std::string& text) {
    options.precision = parse_choice(text, {"float", "double"});
  });
  add_value(command, "seed", "N", "of the random inputs", std::to_string(options.seed),
            [&](const std::string& text) { options.seed = parse_seed(text); });

  command.option_defaults()->group("Ladder");
  std::vector<std::string> choices = {"all"};
  choices.insert(choices.end(), rungs.begin(), rungs.end());
  add_value(command, "rung", "NAME", list_of(choices), options.rung,
            [&options, choices](const std::string& text) { options.rung = parse_choice(text, choices); });
  constexpr std::int64_t max_repetitions = 1'000'000;
  add_value(command, "repetitions", "N", "measurements, of which the median counts; 0: only verify",
            std::to_string(options.repetitions),
            [&](const std::string& text) { options.repetitions = parse_count(text, 0, max_repetitions); });

  command.option_defaults()->group("Results");
  add_value(command, "report", "FILE", "write the results as JSON", "",
            [&](const std::string& text) { options.report = parse_name(text); });
  command.option_defaults()->group("Options");
}

void declare(CLI::App& command, AllReduceOptions& options) {
  add_size(command, "bytes", "bytes of a message [several sizes]", options.bytes);
  add_options(command, options, {"host", "ring", "one-shot", "two-shot"});
}

}  // namespace stagewise::ladder
