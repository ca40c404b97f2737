/// @file
/// How a batch is divided.
#pragma once

#include "tensor/shape.hpp"

namespace stagewise {

/// A run of consecutive samples.
struct Shard {
  Index first = 0;
  Index rows = 0;
};

/// Shard number `index` of `rows` samples: `count` consecutive runs, whose sizes differ by at most
/// one, the longer ones first. If there are more runs than samples, the last runs are empty.
Shard shard_of(Index rows, int count, int index);

}  // namespace stagewise
