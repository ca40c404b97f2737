#include <CLI/CLI.hpp>

#include "ladders/program/all_reduce.hpp"

namespace stagewise::ladder {

void declare(CLI::App& command, AllReduceOptions& options) {
  add_size(command, "bytes", "bytes of a message [several sizes]", options.bytes);
  add_options(command, options, {"host", "ring", "one-shot", "two-shot"});
}

}  // namespace stagewise::ladder
