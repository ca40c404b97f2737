/// @file
/// What is over of the work in streams, while accesses to memory are checked: a vector clock for each
/// stream, each event and the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda_on_cpu/kernel.hpp"

namespace cuda_on_cpu {

/// A piece of work: the stream that it is in, by its number, and which piece of that stream it is.
struct PieceNumber {
  std::size_t stream = 0;
  std::uint64_t piece = 0;  ///< from 1 on
};

/// Of each stream, how many pieces are over.
class StreamClock {
 public:
  /// Whether that piece is.
  bool covers(const PieceNumber& number) const {
    return number.stream < over_.size() && number.piece <= over_[number.stream];
  }
  /// That piece is, and so those before it in its stream.
  void learn(const PieceNumber& number) {
    if (over_.size() <= number.stream) over_.resize(number.stream + 1);
    over_[number.stream] = std::max(over_[number.stream], number.piece);
  }
  /// So is all that another clock knows.
  void learn(const StreamClock& other) {
    for (std::size_t i = 0; i < other.over_.size(); ++i) learn({i, other.over_[i]});
  }

 private:
  std::vector<std::uint64_t> over_;
};

/// The call of the runtime that accesses memory, for what is wrong with that.
struct Called {
  const char* call = nullptr;
  Place place{};
  bool is_waited_for = false;  ///< by the host, at once
};
inline Called called;

}  // namespace cuda_on_cpu
