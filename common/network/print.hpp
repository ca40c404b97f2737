/// @file
/// A program as text.
#pragma once

#include <string>

#include "network/program.hpp"

namespace stagewise {

/// "batch, fc1/weight -> fc1/product": the names of the values that a line reads and of those that
/// it writes; if there are many, only the first two and the last.
std::string operands_text(const Program& program, const Operation& operation);

/// "gemm  batch, fc1/weight -> fc1/product": what a line is called where it is measured.
std::string line_text(const Program& program, const Line& line);

/// "batch [100x784], fc1/weight [784x256] -> fc1/product [100x256]": the same, with the shapes for
/// a batch of `rows` samples; values for all batches, such as the data set, and totals have none.
std::string operands_text(const Program& program, const Operation& operation, Index rows);

/// "gather gemm add_bias relu": the names of the operations that a fused line stands for; a run of
/// the same name is printed once, with a count: "sgd_update x4". Empty for a line that is not
/// fused.
std::string replaced_text(const Line& line);

}  // namespace stagewise
