/// @file
/// Launches and shared memory in every form that the translator must understand.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace forms {

/// One form. What its kernels add up must be `expected`, and launches that get lost or happen twice
/// change it.
struct Form {
  std::string name;
  std::function<void(int* sum)> run;
  int expected;
};

std::vector<Form> all_forms();

/// The sum that the form's kernels leave on the device.
int result_of(const Form& form);

/// The texts that look like launches, which must come through unchanged.
std::string texts();

}  // namespace forms
