#include "app/settings.hpp"

#include <algorithm>
#include <optional>

#include "app/options.hpp"
#include "app/text.hpp"
#include "app/values.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

std::vector<Index> parse_hidden(const std::string& text) {
  std::vector<Index> widths;
  if (text.empty() || text == "none" || text == "0") return widths;
  constexpr Index widest = 1 << 24;
  const std::string expected = "; expected are the widths of the layers, such as 256,128, or none";
  for (const std::string& part : split(text, ',')) {
    if (part.empty()) {
      throw UsageError(in_quotes(text) + " has a comma with no width on one side of it" + expected);
    }
    try {
      widths.push_back(parse_count(part, 1, widest));
    } catch (const UsageError& error) {
      throw UsageError(error.what() + expected);
    }
  }
  return widths;
}

std::string write_optional(const std::optional<Index>& value) {
  return value ? std::to_string(*value) : "all";
}

std::optional<Index> read_optional(const std::string& text) {
  if (text == "all") return std::nullopt;
  return parse_count(text, 1);
}

}  // namespace

std::string list(const std::vector<Index>& numbers) {
  if (numbers.empty()) return "none";
  std::vector<std::string> names;
  for (const Index number : numbers) names.push_back(std::to_string(number));
  return list_of(names, ",");
}

std::int64_t parse_epochs(const std::string& text) {
  constexpr std::int64_t most = 1'000'000'000;  // so that a count of steps stays a number
  return parse_count(text, 0, most);
}

const std::vector<Setting>& settings() {
  static const std::vector<Setting> table = {
      {"hidden", true, [](const auto& o) { return list(o.model.hidden); },
       [](const auto& text, auto& o) { o.model.hidden = parse_hidden(text); }},
      {"activation", true, [](const auto& o) { return to_string(o.model.activation); },
       [](const auto& text, auto& o) { o.model.activation = parse_activation(text); }},
      {"biases", true, [](const auto& o) { return o.model.biases ? "on" : "off"; },
       [](const auto& text, auto& o) { o.model.biases = parse_switch(text); }},
      {"loss", true, [](const auto& o) { return to_string(o.model.loss); },
       [](const auto& text, auto& o) { o.model.loss = parse_loss(text); }},
      {"dataset", false, [](const auto& o) { return o.data.name; },
       [](const auto& text, auto& o) { o.data.name = text; }},
      {"format", false, [](const auto& o) { return o.data.format; },
       [](const auto& text, auto& o) { o.data.format = text; }},
      {"train-limit", false, [](const auto& o) { return write_optional(o.data.train_limit); },
       [](const auto& text, auto& o) { o.data.train_limit = read_optional(text); }},
      {"validation", false, [](const auto& o) { return std::to_string(o.data.validation); },
       [](const auto& text, auto& o) { o.data.validation = parse_count(text, 0); }},
      {"batch-size", false, [](const auto& o) { return std::to_string(o.training.batch_size); },
       [](const auto& text, auto& o) { o.training.batch_size = parse_count(text, 1); }},
      {"learning-rate", false, [](const auto& o) { return shortest(o.training.sgd.learning_rate); },
       [](const auto& text, auto& o) { o.training.sgd.learning_rate = parse_real(text, false); }},
      {"l2", false, [](const auto& o) { return shortest(o.training.sgd.l2); },
       [](const auto& text, auto& o) { o.training.sgd.l2 = parse_real(text, true); }},
      {"workers", false, [](const auto& o) { return std::to_string(o.workers.workers); },
       [](const auto& text, auto& o) {
         constexpr std::int64_t most = 1 << 16;
         o.workers.workers = static_cast<int>(parse_count(text, 1, most));
       }},
      {"average", false,
       [](const auto& o) {
         return o.workers.average == Average::weights ? "weights" : "gradients";
       },
       [](const auto& text, auto& o) {
         o.workers.average = parse_choice(text, {"gradients", "weights"}) == "weights"
                                 ? Average::weights
                                 : Average::gradients;
       }},
      {"average-every", false,
       [](const auto& o) { return std::to_string(o.workers.average_every); },
       [](const auto& text, auto& o) { o.workers.average_every = parse_count(text, 1); }},
      {"label", false, [](const auto& o) { return o.data.label; },
       [](const auto& text, auto& o) { o.data.label = text; }},
      {"features", false, [](const auto& o) { return std::to_string(o.data.gaussian.features); },
       [](const auto& text, auto& o) { o.data.gaussian.features = parse_count(text, 1); }},
      {"classes", false, [](const auto& o) { return std::to_string(o.data.gaussian.classes); },
       [](const auto& text, auto& o) {
         constexpr std::int64_t most = 1 << 24;
         o.data.gaussian.classes = static_cast<int>(parse_count(text, 2, most));
       }},
      {"samples", false, [](const auto& o) { return std::to_string(o.data.gaussian.samples); },
       [](const auto& text, auto& o) { o.data.gaussian.samples = parse_count(text, 1); }},
      {"spacing", false, [](const auto& o) { return shortest(o.data.gaussian.spacing); },
       [](const auto& text, auto& o) { o.data.gaussian.spacing = parse_real(text, true); }},
      {"deviation", false, [](const auto& o) { return shortest(o.data.gaussian.deviation); },
       [](const auto& text, auto& o) { o.data.gaussian.deviation = parse_real(text, true); }},
      {"shuffle", false, [](const auto& o) { return o.training.shuffle ? "on" : "off"; },
       [](const auto& text, auto& o) { o.training.shuffle = parse_switch(text); }},
  };
  return table;
}

const Setting& setting_of(const std::string& name) {
  return *std::find_if(settings().begin(), settings().end(),
                       [&](const Setting& setting) { return setting.name == name; });
}

}  // namespace stagewise
