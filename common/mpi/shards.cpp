#include "mpi/shards.hpp"

#include <algorithm>

namespace stagewise::mpi {

Index Shards::samples_of(int rank) const {
  return samples_ / batch_size_ * shard_of(batch_size_, ranks_, rank).rows +
         shard_of(samples_ % batch_size_, ranks_, rank).rows;
}

//! [append]
void Shards::append(std::span<const std::uint32_t> order, int rank,
                    std::vector<std::uint32_t>& samples) const {
  for (Index first = 0; first < samples_; first += batch_size_) {
    const Shard shard = shard_of(std::min(batch_size_, samples_ - first), ranks_, rank);
    const auto begin = order.begin() + first + shard.first;
    samples.insert(samples.end(), begin, begin + shard.rows);
  }
}
//! [append]

}  // namespace stagewise::mpi
