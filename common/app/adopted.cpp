#include "app/adopted.hpp"

#include "tensor/quote.hpp"

namespace stagewise {

void blame_checkpoint(const OptionError& error, const RunOptions& options,
                      const std::filesystem::path& file) {
  std::string attributes;
  for (const std::string& name : error.options()) {
    if (options.given.contains(name)) return;
    if (options.adopted.contains(name)) {
      attributes += (attributes.empty() ? "" : ", ") + in_quotes(name);
    }
  }
  if (attributes.empty()) return;
  throw Error("the checkpoint " + file.string() + ", which sets " + attributes +
              ", cannot be used here: " + error.what());
}

void expect_described(const Checkpoint& checkpoint, const RunOptions& options,
                      const std::filesystem::path& file) {
  if (options.model.name != "mlp") return;
  const auto contradiction = [&](const std::string& attribute, const ParameterValues& parameter) {
    return Error("the checkpoint " + file.string() + " contradicts itself: its " +
                 in_quotes(attribute) + " is " + excerpt(checkpoint.settings.at(attribute)) +
                 ", but it holds a parameter " + in_quotes(parameter.name) + " of shape " +
                 parameter.shape.to_string());
  };
  for (const ParameterValues& parameter : checkpoint.parameters) {
    if (options.adopted.contains("biases") && !options.model.biases &&
        parameter.name.ends_with("/bias")) {
      throw contradiction("biases", parameter);
    }
    if (!options.adopted.contains("hidden")) continue;
    for (std::size_t layer = 0; layer < options.model.hidden.size(); ++layer) {
      const bool is_its_weight = parameter.name == "fc" + std::to_string(layer + 1) + "/weight";
      if (!is_its_weight || parameter.shape.rank() != 2) continue;
      if (parameter.shape[1] != options.model.hidden[layer]) {
        throw contradiction("hidden", parameter);
      }
    }
  }
}

}  // namespace stagewise
