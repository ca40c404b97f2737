/// @file
/// Sends data sets from the rank that has read them to the others.
#pragma once

#include <cstdint>
#include <span>

#include "data/dataset.hpp"
#include "mpi/world.hpp"

namespace stagewise::mpi {

/// Sends every rank some samples of rank 0's data set: with MPI_Scatter if all get the same number,
/// otherwise with MPI_Scatterv. Images are sent as bytes, other features as doubles. Waits for the
/// other ranks.
/// @param whole on rank 0, the data set; on the others, its outline suffices.
/// @param samples on rank 0: those for rank 0, then those for rank 1, and so on.
/// @param counts how many samples each rank gets; the same on every rank.
/// @return this rank's samples.
Dataset scatter(World& world, const Dataset& whole, std::span<const std::uint32_t> samples,
                std::span<const Index> counts);

/// Rank 0's data set, for every rank. Waits for the other ranks.
Dataset broadcast(World& world, const Dataset& whole);

/// The outline of rank 0's data set, for every rank. Waits for the other ranks.
Dataset broadcast_outline(World& world, const Dataset& whole);

}  // namespace stagewise::mpi
