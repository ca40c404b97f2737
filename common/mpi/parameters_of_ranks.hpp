/// @file
/// Parameters of which each rank has its own, or a part.
#pragma once

#include <vector>

#include "mpi/world.hpp"
#include "network/split_parameter.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::mpi {

/// Each rank's values of a parameter, on every rank. Waits for the other ranks.
inline std::vector<ParameterValues> of_each_rank(Communicator& ranks, const ParameterValues& own) {
  std::vector<ParameterValues> all;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    all.push_back(own);
    ranks.broadcast(all.back().values, rank);
  }
  return all;
}

//! [gather_parts]
/// Puts the ranks' parts of a parameter together, on every rank. Waits for the other ranks.
/// @param whole has its shape already.
inline void gather_parts(Communicator& ranks, const ParameterValues& own, SplitAlong along, ParameterValues& whole) {
  // Parameters that are not split are the same on all ranks; one of them provides them.
  const int holders = along == SplitAlong::none ? 1 : ranks.size();
  for (int rank = 0; rank < holders; ++rank) {
    const Part of_rank = {rank, ranks.size()};
    ParameterValues values = rank == ranks.rank() ? own : part_of(whole, along, of_rank);
    ranks.broadcast(values.values, rank);
    merge(values, along, of_rank, whole);
  }
}
//! [gather_parts]

}  // namespace stagewise::mpi
