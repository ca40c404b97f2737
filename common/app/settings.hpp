/// @file
/// The settings that determine how training continues: a table from which the options of the same
/// names are declared, and checkpoints are written and read.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tensor/shape.hpp"

namespace stagewise {

struct RunOptions;

/// A setting that a checkpoint stores, and that an option of the same name sets.
struct Setting {
  std::string name;
  bool of_network;  ///< whether it describes the network, not its training
  std::function<std::string(const RunOptions&)> write;
  std::function<void(const std::string&, RunOptions&)> read;
  std::function<std::string(const RunOptions&)> idle = {};  ///< as why_idle(); empty: never
  std::string if_absent = {};  ///< what a checkpoint without it means; empty: it says too little
};

/// All of them, in the order in which they are read.
const std::vector<Setting>& settings();

/// The one of this name, which must exist.
const Setting& setting_of(const std::string& name);

/// Why an option has no effect, given the others, as the end of a sentence that begins with its
/// name: "is for --dataset gaussian". No checkpoint stores such an option; on the command line, it
/// is ignored with a note, unless is_contradicted().
/// @return empty if it has an effect.
std::string why_idle(const std::string& name, const RunOptions& options);

/// Whether the run would contradict this option without effect, rather than have nothing to which
/// it applies.
bool is_contradicted(const std::string& name, const RunOptions& options);

/// Sets an option without effect to its default. One that no checkpoint stores is left alone, since
/// nothing reads it.
void set_default(const std::string& name, RunOptions& options);

/// The options that say which generated data set "gaussian" is.
inline constexpr std::array<const char*, 5> gaussian_options = {"features", "classes", "samples",
                                                                "spacing", "deviation"};

/// The number of epochs. @throws UsageError if the text is not one.
std::int64_t parse_epochs(const std::string& text);

/// "256,128", or "none".
std::string list(const std::vector<Index>& numbers);

}  // namespace stagewise
