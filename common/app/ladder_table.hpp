/// @file
/// How the results of a ladder look on a terminal.
#pragma once

#include <optional>
#include <ostream>

#include "app/ladder.hpp"
#include "app/stage.hpp"

namespace stagewise {

/// Prints the header, the tables and the verdict, all within 80 columns.
void print_ladder(std::ostream& out, const Stage& stage, const LadderReport& report);

/// Operations or bytes a second over the reference's; absent where either was not measured.
std::optional<double> share_of_reference(const LadderRow& row, const LadderTable& table);

/// Whether everything that was run is verified.
bool is_right(const LadderReport& report);

}  // namespace stagewise
