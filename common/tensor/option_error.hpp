/// @file
/// Errors about the values of certain options.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tensor/error.hpp"

namespace stagewise {

/// A usage error that names its options, so that whoever set them can be blamed: the user, or a
/// checkpoint.
class OptionError final : public UsageError {
 public:
  /// @param options the names, without dashes, of those that must change.
  OptionError(const std::string& sentence, std::vector<std::string> options)
      : UsageError(sentence), options_(std::move(options)) {}

  const std::vector<std::string>& options() const { return options_; }

 private:
  std::vector<std::string> options_;
};

}  // namespace stagewise
