/// @file
/// Why options have no effect in a run, one function for each kind of option; see Option::why_idle.
#pragma once

#include <string>

#include "app/options.hpp"

namespace stagewise::idle {

/// "is for ...", or empty: the option has an effect.
using Reason = std::string (*)(const RunOptions&);

/// @name The network
/// @{
std::string of_perceptron(const RunOptions& options);   ///< what only an mlp has
std::string of_layers(const RunOptions& options);       ///< what a neuron has not
std::string of_losses(const RunOptions& options);       ///< a choice of loss
std::string of_activations(const RunOptions& options);  ///< a choice of activation
/// @}
/// @name The data
/// @{
std::string of_path(const RunOptions& options);         ///< what describes a file
std::string of_table(const RunOptions& options);        ///< what describes a CSV file
std::string of_data_folder(const RunOptions& options);  ///< where named data sets lie
std::string of_gaussian(const RunOptions& options);     ///< what describes these generated data
std::string of_picture(const RunOptions& options);      ///< how a picture is read
/// @}
/// @name Training
/// @{
std::string of_momentum(const RunOptions& options);     ///< of this optimizer
std::string of_adam(const RunOptions& options);         ///< of this optimizer
std::string of_workers(const RunOptions& options);      ///< what several workers do
std::string of_weights(const RunOptions& options);      ///< how workers average weights
std::string of_randomness(const RunOptions& options);   ///< a seed
std::string of_more_epochs(const RunOptions& options);  ///< what happens every few epochs
/// @}

}  // namespace stagewise::idle
