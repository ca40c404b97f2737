/// @file
/// The operations of a program: plain data that names values. They depend on no memory, precision
/// or stage.
///
/// Each operation says what its operands are: what it reads, writes, or updates in place. That is
/// all that dependencies, printing, allocation and the count of bytes need to know.
#pragma once

#include <utility>
#include <variant>

#include "network/operations/communication.hpp"
#include "network/operations/fused.hpp"
#include "network/operations/primitives.hpp"

namespace stagewise {

/// All operations, with those of each activation.
template <std::size_t... i>
auto operations_with(std::index_sequence<i...>)
    -> std::variant<Gather, Gemm, AddBias, ColumnSums, Sum, Activate<activations[i].activation>...,
                    ActivateBackward<activations[i].activation>..., SoftmaxCrossEntropy, SoftmaxCrossEntropyBackward,
                    SquaredError, SquaredErrorBackward, ArgMax, Threshold, Accumulate, Convolution, ConvolutionBackward,
                    AveragePool, AveragePoolBackward, SgdUpdate, MomentumUpdate, AdamUpdate, Mean, Copy, AllReduce,
                    Replicate, Linear, LinearInputGradient, LinearGradients, OutputLayer, Loss, AddPartials,
                    ConvolutionReluPool, PoolReluBackward, UpdateBySum, PersistentStep, AverageWeights, AddShares,
                    FoldedLinear, FoldedGradients, AllReduceUpdate>;

using Operation = decltype(operations_with(std::make_index_sequence<activations.size()>()));

/// Whether an operation is of one of these kinds.
template <typename... Ops>
bool is_a(const Operation& operation) {
  return (std::holds_alternative<Ops>(operation) || ...);
}

/// Whether processes exchange something.
inline bool is_exchange(const Operation& operation) { return is_a<AllReduce, AllReduceUpdate>(operation); }

}  // namespace stagewise
