/// @file
/// Which ranks share out the batch, and which the network.
#pragma once

#include <memory>

#include "mpi/world.hpp"
#include "network/operations/communication.hpp"
#include "network/value.hpp"

namespace stagewise::mpi {

//! [mesh]
/// The ranks as a matrix, in whose rows they share out the network, and in whose columns the batch,
/// a **device mesh**:
///
///     tensor_ranks = 2    rank 0 | rank 1    samples 0, 1, ...
///                         rank 2 | rank 3    samples n/2, ...
///                         units    units
///                         0, ...   h/2, ...
///
/// A row is a tensor group: its ranks are neighbours, which a host has if it has enough. A column
/// is a data group. Data parallelism alone has rows of one rank, tensor parallelism alone one row.
class Mesh {
 public:
  /// Waits for the other ranks.
  /// @param world must outlive this.
  /// @param tensor_ranks of a row; divides the number of ranks.
  Mesh(World& world, int tensor_ranks)
      : tensor_(world.split(world.rank() / tensor_ranks)),
        data_(world.split(world.rank() % tensor_ranks)) {}

  /// This rank's group of a kind.
  Communicator& of(Group group) const { return group == Group::tensor ? *tensor_ : *data_; }

  /// Which part of the batch, or of the network, this rank has.
  Part part(Group group) const { return {of(group).rank(), of(group).size()}; }

 private:
  std::unique_ptr<Communicator> tensor_;
  std::unique_ptr<Communicator> data_;
};
//! [mesh]

}  // namespace stagewise::mpi
