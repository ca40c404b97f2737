/// @file
/// How a batch is divided.
#pragma once

#include <algorithm>

#include "tensor/shape.hpp"

namespace stagewise {

/// A run of consecutive samples.
struct Shard {
  Index first = 0;
  Index rows = 0;
};

//! [shard_of]
/// Shard number `index` of `rows` samples: `count` consecutive runs, whose sizes differ by at most
/// one, the longer ones first. If there are more runs than samples, the last runs are empty.
inline Shard shard_of(Index rows, int count, int index) {
  if (count == 1) return {.first = 0, .rows = rows};  // as nearly always: spare the divisions
  const Index size = rows / count;
  const Index longer = rows % count;  // so many shards have one sample more
  return {.first = index * size + std::min<Index>(index, longer), .rows = size + (index < longer ? 1 : 0)};
}
//! [shard_of]

}  // namespace stagewise
