/// @file
/// Programs to look at, and their lines as text.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "network/program.hpp"
#include "network/workers.hpp"

namespace stagewise {

const ModelOptions mlp = {.hidden = {256}, .sample = {28, 28, 1}, .classes = 10};

/// "gemm  batch, fc1/weight -> fc1/product".
inline std::string text_of(const Program& program, const Operation& operation) {
  return std::string(name_of(operation)) + "  " + operands_text(program, operation);
}

inline std::vector<std::string> texts_of(const Program& program) {
  std::vector<std::string> texts;
  for (const Line& line : program.lines) texts.push_back(text_of(program, line.operation));
  return texts;
}

/// "linear output_layer linear_gradients".
inline std::string names_of(const Program& program) {
  std::string names;
  for (const Line& line : program.lines) {
    names += (names.empty() ? "" : " ") + std::string(name_of(line.operation));
  }
  return names;
}

inline ValueId named(const Program& program, const std::string& name) {
  for (int i = 0; i < static_cast<int>(program.values.size()); ++i) {
    if (program[ValueId{i}].name == name) return {i};
  }
  ADD_FAILURE() << "there is no value " << name;
  return {};
}

/// The sentence of the logic_error that `work` throws.
template <typename Work>
std::string logic_error_of(const Work& work) {
  try {
    work();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "no error";
}

/// A step of training with l2.
inline Program step_of(const ModelOptions& options, const WorkerOptions& workers = {}) {
  return build_training(build_model(options), {.learning_rate = 0.1, .l2 = 0.01}, workers).step;
}

}  // namespace stagewise
