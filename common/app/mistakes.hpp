/// @file
/// The answers of a network that deserve a look.
#pragma once

#include <string>
#include <vector>

#include "app/answers.hpp"
#include "data/dataset.hpp"
#include "io/report.hpp"

namespace stagewise {

/// Prints mistakes, the most confident first: images as drawings, other samples as a list.
/// @param dataset in which they are.
/// @param names of the classes.
/// @param score what the network's confidence is: "probability".
void print_mistakes(const std::vector<Mistake>& mistakes, const Dataset& dataset,
                    const std::vector<std::string>& names, const std::string& score);

/// The same for the report, with the samples if they are images.
std::vector<MistakeReport> report_of(const std::vector<Mistake>& mistakes, const Dataset& dataset);

}  // namespace stagewise
