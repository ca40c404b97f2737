#include "app/same_data.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>

#include "app/table_encoding.hpp"
#include "app/values.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

/// What differs, each as "there are 80 training samples and were 40".
using Differences = std::vector<std::string>;

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
  return text.data();
}

std::string is_and_was(const std::string& what, const std::string& now, const std::string& then) {
  return what + " is " + now + " and was " + then;
}

std::string are_and_were(Index now, const std::string& singular, const std::string& plural,
                         Index then) {
  return (now == 1 ? "there is " : "there are ") + count_of(now, singular, plural) +
         (then == 1 ? " and was " : " and were ") + with_thousands(then);
}

/// Of lists of names: how many there are, or the first that is another.
/// @param first the number of the first.
void compare_names(const std::string& singular, const std::string& plural, std::size_t first,
                   const std::vector<std::string>& now, const std::vector<std::string>& then,
                   Differences& differences) {
  if (now.size() != then.size()) {
    differences.push_back(are_and_were(static_cast<Index>(now.size()), singular, plural,
                                       static_cast<Index>(then.size())));
    return;
  }
  const auto [a, b] = std::mismatch(now.begin(), now.end(), then.begin());
  if (a == now.end()) return;
  const std::string place = std::to_string(first + static_cast<std::size_t>(a - now.begin()));
  differences.push_back(is_and_was(singular + " " + place, in_quotes(*a), in_quotes(*b)));
}

/// What the parameters depend on: which input is which, and which output.
Differences compare_meaning(const Checkpoint& checkpoint, const std::filesystem::path& file,
                            const Split& data) {
  Differences differences;
  const auto table = checkpoint.settings.find("table");
  if (table != checkpoint.settings.end() && data.encoding) {
    const TableEncoding then = parse_table_encoding(table->second);
    compare_names("column", "columns", 1, data.encoding->features, then.features, differences);
    compare_names("class", "classes", 0, data.encoding->classes, then.classes, differences);
    return differences;
  }
  Shape sample;
  int classes = 0;
  if (!read_data_shape(checkpoint, file, sample, classes)) return differences;
  if (data.train.sample_shape() != sample) {
    differences.push_back(is_and_was("the shape of a sample", data.train.sample_shape().to_string(),
                                     sample.to_string()));
  }
  if (data.train.classes() != classes) {
    differences.push_back(are_and_were(data.train.classes(), "class", "classes", classes));
  }
  return differences;
}

/// What the parameters have been trained on.
Differences compare_contents(const Checkpoint& checkpoint, const Split& data) {
  std::map<std::string, std::string> now;
  add_fingerprint(*data.fingerprint, now);
  Differences differences;
  const auto compare = [&](const std::string& name, const auto& sentence) {
    const auto then = checkpoint.settings.find(name);
    const bool differs = then != checkpoint.settings.end() && then->second != now.at(name);
    if (differs) differences.push_back(sentence(now.at(name), then->second));
    return differs;
  };
  compare("data-preparation", [](const std::string& is, const std::string& was) {
    return "features are " + is + " and were " + was;
  });
  if (compare("data-samples", [](const std::string& is, const std::string& was) {
        return are_and_were(parse_count(is, 0), "training sample", "training samples",
                            parse_count(was, 0));
      })) {
    return differences;
  }
  const bool has_other_values = compare(
      "data-values", [](auto&&...) { return std::string("the samples have other values"); });
  compare("data-labels", [&](auto&&...) {
    return std::string(has_other_values ? "and other labels" : "the samples have other labels");
  });
  return differences;
}

}  // namespace

void add_fingerprint(const Fingerprint& fingerprint, std::map<std::string, std::string>& settings) {
  settings["data-samples"] = std::to_string(fingerprint.samples);
  settings["data-preparation"] = fingerprint.preparation;
  settings["data-values"] = hexadecimal(fingerprint.values);
  settings["data-labels"] = hexadecimal(fingerprint.labels);
}

std::vector<std::string> check_data(const Checkpoint& checkpoint, const RunOptions& options,
                                    const Split& data) {
  if (!data.fingerprint) return {};
  Differences meaning =
      compare_meaning(checkpoint, options.resume.empty() ? options.load : options.resume, data);
  const Differences contents = compare_contents(checkpoint, data);
  if (!options.resume.empty()) {
    meaning.insert(meaning.end(), contents.begin(), contents.end());
    if (!meaning.empty()) {
      throw Error("the checkpoint " + options.resume.string() + " was trained on other data than " +
                  options.data.name + ": " + list_of(meaning));
    }
    if (checkpoint.settings.contains("data-values")) return {};
    return {"the checkpoint does not say what data it was trained on, so they may differ"};
  }
  if (!meaning.empty()) {
    throw Error("the parameters of the checkpoint " + options.load.string() + " do not fit " +
                options.data.name + ": " + list_of(meaning));
  }
  if (contents.empty()) return {};
  return {"the network was trained on other data: " + list_of(contents)};
}

}  // namespace stagewise
