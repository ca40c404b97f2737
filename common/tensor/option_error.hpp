/// @file
/// What is wrong with the values of certain options.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tensor/error.hpp"

namespace stagewise {

/// Wrong usage of options that it names, so that whoever set them can be told: the user, or a
/// checkpoint.
class OptionError final : public UsageError {
 public:
  /// @param options names, without dashes, of those that must change.
  OptionError(const std::string& sentence, std::vector<std::string> options)
      : UsageError(sentence), options_(std::move(options)) {}

  const std::vector<std::string>& options() const { return options_; }

 private:
  std::vector<std::string> options_;
};

}  // namespace stagewise
