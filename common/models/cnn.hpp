/// @file
/// The convolutional network of report 001.
#pragma once

#include "models/model.hpp"

namespace stagewise {

/// Adds, behind `network.input`, conv1 (5x5, 32 filters), relu, pooling of 2x2; conv2 (5x5, 64
/// filters), relu, pooling of 2x2; fc1 (128 units), relu; fc2 (a unit for each class); loss and
/// prediction. Size and channels of the images follow the data.
/// @throws UsageError if the data are not images of a size that goes through.
template <typename T>
void build_cnn(Network<T>& network, const ModelOptions& options);

}  // namespace stagewise
