/// @file
/// How a batch is shared out.
#pragma once

#include "tensor/shape.hpp"

namespace stagewise {

/// A run of consecutive samples.
struct Shard {
  Index first = 0;
  Index rows = 0;
};

/// Shard number `index` of `rows` samples: `count` runs, one behind the other, whose sizes differ
/// by at most one, the longer ones first. Where there are more runs than samples, the last are
/// empty.
Shard shard_of(Index rows, int count, int index);

}  // namespace stagewise
