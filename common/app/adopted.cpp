#include "app/adopted.hpp"

#include <algorithm>
#include <cctype>

#include "tensor/quote.hpp"

namespace stagewise {
namespace {

/// Whether the sentence names the option, not only a longer one that begins with it.
bool names(const std::string& sentence, const std::string& option) {
  const std::string word = "--" + option;
  for (std::size_t at = sentence.find(word); at != std::string::npos;
       at = sentence.find(word, at + 1)) {
    const char next = at + word.size() < sentence.size() ? sentence[at + word.size()] : ' ';
    if (next != '-' && std::isalnum(static_cast<unsigned char>(next)) == 0) return true;
  }
  return false;
}

}  // namespace

std::exception_ptr blame_checkpoint(const UsageError& error, const RunOptions& options,
                                    const std::filesystem::path& file) {
  const std::string sentence = error.what();
  const bool is_the_users = std::any_of(options.given.begin(), options.given.end(),
                                        [&](const auto& name) { return names(sentence, name); });
  std::string attributes;
  int count = 0;
  for (const std::string& name : options.adopted) {
    if (!names(sentence, name)) continue;
    attributes += (count++ == 0 ? "" : ", ") + in_quotes(name);
  }
  if (count == 0 || is_the_users) return std::make_exception_ptr(error);
  return std::make_exception_ptr(Error("the checkpoint " + file.string() + ", which sets " +
                                       attributes + ", cannot be used here: " + sentence));
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
