/// @file
/// The operations that combine what several workers or processes have computed, each from its part
/// of the batch or of a layer. A model has none of them; build_training() inserts them into
/// programs for several workers, and so do rewrites.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "network/value.hpp"

namespace stagewise {

/// mean = the terms added up elementwise, divided by their number.
struct Mean {
  std::vector<Reads<Real>> terms;
  Writes<Real> mean;
  static constexpr auto name = "mean";
  static auto operands(auto& op) { return std::tie(op.terms, op.mean); }
};

/// y = x.
struct Copy {
  Reads<Real> x;
  Writes<Real> y;
  static constexpr auto name = "copy";
  static auto operands(auto& op) { return std::tie(op.x, op.y); }
};

/// The processes that compute something together, of all that train: those with other samples, or
/// those with other parts of the network. A process is in one group of either kind.
enum class Group : std::uint8_t { data, tensor };

/// Every value becomes its sum, or its mean, over the processes of a group. A bucket of several
/// values is sent in one message.
struct AllReduce {
  std::vector<Updates<Real>> values;
  bool divides = false;  ///< whether the sum is divided by the number of processes
  Group among = Group::data;
  static constexpr auto name = "all_reduce";
  static auto operands(auto& op) { return std::tie(op.values); }
};

/// An all_reduce of gradients over the processes with other samples, and the updates by the sums,
/// which are not stored.
struct AllReduceUpdate {
  std::vector<Reads<Real>> gradients;
  std::vector<Updates<Real>> parameters;  ///< in the gradients' order
  double learning_rate = 0;
  double l2 = 0;  ///< of weights
  static constexpr auto name = "all_reduce_update";
  static auto operands(auto& op) { return std::tie(op.gradients, op.parameters); }
  static constexpr bool is_fused = true;
};

/// y = x, in the same memory; all processes of a tensor group have the same x, so the forward pass
/// does nothing. In the backward pass, each process has only its part of the gradient: the
/// derivative is an all_reduce.
struct Replicate {
  Reads<Real> x;
  Writes<Real> y;
  static constexpr auto name = "replicate";
  static auto operands(auto& op) { return std::tie(op.x, op.y); }
};

}  // namespace stagewise
