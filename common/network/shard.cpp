#include "network/shard.hpp"

#include <algorithm>

namespace stagewise {

//! [shard_of]
Shard shard_of(Index rows, int count, int index) {
  if (count == 1) return {.first = 0, .rows = rows};  // as nearly always: spare the divisions
  const Index size = rows / count;
  const Index longer = rows % count;  // so many shards have one sample more
  return {.first = index * size + std::min<Index>(index, longer),
          .rows = size + (index < longer ? 1 : 0)};
}
//! [shard_of]

}  // namespace stagewise
