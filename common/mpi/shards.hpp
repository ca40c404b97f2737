/// @file
/// Which samples a rank trains on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "network/shard.hpp"

namespace stagewise::mpi {

/// Which of an epoch's samples a rank trains on: its shard of every batch, as defined by
/// shard_of().
///
/// An epoch visits n samples in batches of b: f = n / b full ones (rounded down) and a last one of
/// l = n - f b samples, which is empty where b divides n. Of N ranks, rank r has
///
///     s(b, r) = b / N (rounded down) + 1 if r < b mod N
///
/// rows of a full batch, starting with row r (b / N) + min(r, b mod N), and s(l, r) rows of the
/// last one: none if l <= r. Over the epoch, these are f s(b, r) + s(l, r) samples. A rank's order
/// has its shards batch after batch, so that in it, too, all batches except the last have the same
/// length. The numbers of samples of two ranks differ by at most f + 1, and are equal if N
/// divides b and l.
class Shards {
 public:
  Shards(Index samples, Index batch_size, int ranks) : samples_(samples), batch_size_(batch_size), ranks_(ranks) {}

  /// Samples that the rank trains on in an epoch.
  Index samples_of(int rank) const {
    return samples_ / batch_size_ * shard_of(batch_size_, ranks_, rank).rows +
           shard_of(samples_ % batch_size_, ranks_, rank).rows;
  }

  //! [append]
  /// Appends the samples that the rank trains on, in its order.
  /// @param order that of the whole epoch.
  void append(std::span<const std::uint32_t> order, int rank, std::vector<std::uint32_t>& samples) const {
    for (Index first = 0; first < samples_; first += batch_size_) {
      const Shard shard = shard_of(std::min(batch_size_, samples_ - first), ranks_, rank);
      const auto begin = order.begin() + first + shard.first;
      samples.insert(samples.end(), begin, begin + shard.rows);
    }
  }
  //! [append]

 private:
  Index samples_;
  Index batch_size_;
  int ranks_;
};

}  // namespace stagewise::mpi
