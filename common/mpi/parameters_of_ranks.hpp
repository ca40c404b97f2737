/// @file
/// Parameters of which each rank has its own, or a part.
#pragma once

#include <vector>

#include "mpi/world.hpp"
#include "network/split_parameter.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::mpi {

/// Each rank's values of a parameter, on every rank. Waits for the other ranks.
std::vector<ParameterValues> of_each_rank(Communicator& ranks, const ParameterValues& own);

/// Puts the ranks' parts of a parameter together, on every rank. Waits for the other ranks.
/// @param whole has its shape already.
void gather_parts(Communicator& ranks, const ParameterValues& own, SplitAlong along,
                  ParameterValues& whole);

}  // namespace stagewise::mpi
