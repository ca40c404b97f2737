/// @file
/// Checkpoints: the parameters of a network, and the state of its training, in an HDF5 file.
///
/// Layout: a data set for each parameter under `/parameters` (`/parameters/fc1/weight`, float32 or
/// float64), likewise under `/optimizer` for what an optimizer keeps from step to step, attributes
/// of the root for the rest, including a checksum of everything. `h5dump` and h5py can read it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tensor/shape.hpp"
#include "tensor/tensor.hpp"

namespace stagewise {

/// The contents of a checkpoint file.
struct Checkpoint {
  std::string model;      ///< "mlp"; empty in a file that this project did not write
  std::string precision;  ///< "float" or "double": how the values are stored
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;  ///< epochs completed
  std::int64_t step = 0;   ///< steps completed, over all epochs
  /// Everything else that decides how training continues, by the option's name without dashes:
  /// "hidden" -> "256,128", "learning-rate" -> "0.1".
  std::map<std::string, std::string> settings;
  /// Those of "seed", "epoch" and "step" that a file that was read did not contain.
  std::vector<std::string> missing;
  std::vector<ParameterValues> parameters;
  /// Where workers have parameters of their own: those of each, under `/workers/1`, `/workers/2`,
  /// ...
  std::vector<std::vector<ParameterValues>> workers;
  /// What the optimizer has to continue from: "velocity/fc1/weight"; of the second worker that has
  /// parameters of its own, "velocity/fc1/weight@1".
  std::vector<ParameterValues> optimizer;
};

/// Writes the file as a whole or not at all; the same contents give the same bytes.
/// @throws Error naming the file and the reason.
void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// Reads a checkpoint, or a file as report 001's `model.hdf5`, which has its data sets at the root
/// and nothing else: `conv1`, ... are then filters and `fc1`, ... weights ("conv1/filter",
/// "fc1/weight").
/// @throws Error naming the file and what is wrong with it: missing, not HDF5, damaged, no
///         parameters, a parameter that is not made of floating-point numbers, contents that do not
///         match the checksum if there is one.
Checkpoint load_checkpoint(const std::filesystem::path& path);

/// The CRC-32 (zlib's) of a checkpoint's contents. It is computed from these bytes, with numbers in
/// little-endian order and strings followed by a 0:
///
/// - model and precision; seed, epoch and step in 8 bytes each;
/// - of each other setting, in the order of their names: name and value;
/// - of each parameter, in the order of their names: name, dimensions in 8 bytes each, values in
///   the precision in which they are stored, every NaN as the same one;
/// - likewise the parameters of worker 1, of worker 2, ...;
/// - likewise the optimizer's state.
///
/// It detects all damage within 32 neighbouring bits, and all but one in 2^32 cases of any other.
std::uint32_t checksum_of(const Checkpoint& checkpoint);

}  // namespace stagewise
