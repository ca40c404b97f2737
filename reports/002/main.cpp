/// @file
/// Converts a checkpoint to report 002's matrix files and back.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "app/program.hpp"
#include "app/values.hpp"
#include "io/checkpoint.hpp"
#include "io/file.hpp"
#include "reports/002/matrix_folder.hpp"
#include "tensor/error.hpp"

namespace {

using namespace stagewise;

/// "w1.data  256 x 784  fc1/weight", one line per file.
void print_matrices(const std::vector<ExchangedMatrix>& matrices) {
  const auto size = [](const ExchangedMatrix& matrix) {
    return std::to_string(matrix.shape[0]) + " x " + std::to_string(matrix.shape[1]);
  };
  std::size_t file_width = 0;
  std::size_t size_width = 0;
  for (const ExchangedMatrix& matrix : matrices) {
    file_width = std::max(file_width, matrix.file.size());
    size_width = std::max(size_width, size(matrix).size());
  }
  for (const ExchangedMatrix& matrix : matrices) {
    std::cout << matrix.file << std::string(file_width - matrix.file.size() + 2, ' ')
              << std::string(size_width - size(matrix).size(), ' ') << size(matrix) << "  "
              << matrix.parameter << '\n';
  }
}

int export_to(const std::string& folder, const std::string& path) {
  const Checkpoint checkpoint = load_checkpoint(path);
  print_matrices(export_matrices(folder, checkpoint, path));
  std::cout << "written to " << folder
            << (checkpoint.precision == "double"
                    ? ", rounded to float: the checkpoint's doubles have 9 digits more\n"
                    : "\n");
  return 0;
}

int import_from(const std::string& folder, const std::string& path) {
  std::error_code error;
  const bool is_new = !std::filesystem::exists(path, error);
  std::vector<ExchangedMatrix> matrices;
  Checkpoint checkpoint;
  if (is_new) {
    checkpoint = mlp_from_matrices(folder, matrices);
  } else {
    checkpoint = load_checkpoint(path);
    matrices = import_matrices(folder, checkpoint, path);
  }
  check_writable(path, "checkpoint");
  save_checkpoint(path, checkpoint);
  print_matrices(matrices);
  std::cout << "read from " << folder << " into " << (is_new ? "the new " : "") << path;
  if (is_new) std::cout << ": mlp, relu, cross-entropy, float";
  std::cout << '\n';
  return 0;
}

}  // namespace

// Declaring options throws only if a declaration is wrong, which the first run would show.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  CLI::App app(
      "Turns a checkpoint into matrix files, one for each weight and bias (w1.data, b1.data, "
      "w2.data, ...), or takes its parameters from them. Where the checkpoint to import "
      "into does not exist, the files must be those of an mlp.",
      "matrix_files");
  std::string checkpoint;
  std::string export_folder;
  std::string import_folder;
  const auto add_name = [&](const char* name, const char* value, const char* description,
                            std::string& into) {
    add_value(app, name, value, description, "",
              [&into](const std::string& text) { into = parse_name(text); });
  };
  app.add_option("CHECKPOINT", checkpoint, "the checkpoint")->required()->type_name("FILE");
  add_name("export", "DIR", "write its parameters to DIR", export_folder);
  add_name("import", "DIR", "replace its parameters by those in DIR", import_folder);
  return run_program(app, argc, argv, [&] {
    if (export_folder.empty() == import_folder.empty()) {
      throw UsageError("say what to do: either --export or --import");
    }
    try {
      return export_folder.empty() ? import_from(import_folder, checkpoint)
                                   : export_to(export_folder, checkpoint);
    } catch (const Error& error) {
      throw UsageError(error.what());  // a file that cannot be read is wrong usage here
    }
  });
}
