#include "reports/002/matrix_folder.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "io/file.hpp"
#include "reports/002/matrix_file.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

// ------------------------------------------------------------------------------------------- names

constexpr std::string_view extension = ".data";

/// Whether it is a number from 1 on, in its usual form.
bool is_number(std::string_view text) {
  return !text.empty() && text.front() != '0' &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

//! [names]
/// "w1" -> "fc1/weight", "b1" -> "fc1/bias", "conv1_filter" -> "conv1/filter".
std::string parameter_named(std::string stem) {
  if (stem.starts_with('w') && is_number(stem.substr(1))) return "fc" + stem.substr(1) + "/weight";
  if (stem.starts_with('b') && is_number(stem.substr(1))) return "fc" + stem.substr(1) + "/bias";
  std::replace(stem.begin(), stem.end(), '_', '/');
  return stem;
}

/// The other way.
std::string stem_for(const std::string& parameter) {
  const std::size_t slash = parameter.find('/');
  if (parameter.starts_with("fc") && slash != std::string::npos) {
    const std::string number = parameter.substr(2, slash - 2);
    const std::string kind = parameter.substr(slash);
    if (is_number(number) && kind == "/weight") return "w" + number;
    if (is_number(number) && kind == "/bias") return "b" + number;
  }
  std::string stem = parameter;
  std::replace(stem.begin(), stem.end(), '/', '_');
  return stem;
}
//! [names]

// ------------------------------------------------------------------------------------------ shapes

/// Of the matrix that holds such a parameter.
Shape matrix_shape(const Shape& shape) {
  if (shape.rank() < 2) return {1, shape.elements()};
  const Index outputs = shape[shape.rank() - 1];
  return {outputs, outputs == 0 ? 0 : shape.elements() / outputs};
}

std::string by(const Shape& matrix) {
  return std::to_string(matrix[0]) + " x " + std::to_string(matrix[1]);
}

Shape shape_of(const Matrix& matrix) {
  return {static_cast<Index>(matrix.height), static_cast<Index>(matrix.width)};
}

/// Rounds to float.
Matrix matrix_of(const ParameterValues& parameter) {
  const Shape shape = matrix_shape(parameter.shape);
  constexpr Index most = std::numeric_limits<std::uint32_t>::max();
  if (shape[0] > most || shape[1] > most) {
    throw Error("the parameter " + in_quotes(parameter.name) + " would be a matrix of " +
                by(shape) + ", but a matrix file counts to " + std::to_string(most));
  }
  Matrix matrix{.height = static_cast<std::uint32_t>(shape[0]),
                .width = static_cast<std::uint32_t>(shape[1]),
                .values = std::vector<float>(parameter.values.size())};
  for (Index row = 0; row < shape[0]; ++row) {
    for (Index column = 0; column < shape[1]; ++column) {
      const double value = parameter.values[static_cast<std::size_t>(column * shape[0] + row)];
      // Not a cast and then a look at it: a double beyond a float's range must not be cast.
      if (!(std::abs(value) <= std::numeric_limits<float>::max())) {
        throw Error("the parameter " + in_quotes(parameter.name) + " has a value of " +
                    std::to_string(value) + ", which no finite float is");
      }
      matrix.values[static_cast<std::size_t>(row * shape[1] + column)] = static_cast<float>(value);
    }
  }
  return matrix;
}

std::vector<double> values_of(const Matrix& matrix, const Shape& matrix_shape) {
  std::vector<double> values(matrix.values.size());
  for (Index row = 0; row < matrix_shape[0]; ++row) {
    for (Index column = 0; column < matrix_shape[1]; ++column) {
      values[static_cast<std::size_t>(column * matrix_shape[0] + row)] =
          matrix.values[static_cast<std::size_t>(row * matrix_shape[1] + column)];
    }
  }
  return values;
}

/// Reads a parameter of a known shape. Of a bias, a column is as good as a row.
ParameterValues read_parameter(const fs::path& path, const std::string& name, const Shape& shape) {
  const Matrix matrix = read_matrix(path);
  const Shape found = shape_of(matrix);
  const Shape wanted = matrix_shape(shape);
  const bool is_column = shape.rank() < 2 && found == Shape{shape.elements(), 1};
  if (found != wanted && !is_column) {
    const bool is_transposed = found == Shape{wanted[1], wanted[0]};
    throw Error(path.string() + " has a matrix of " + by(found) + ", but the parameter " +
                in_quotes(name) + " of shape " + shape.to_string() + " takes one of " + by(wanted) +
                (is_transposed ? ": it lies transposed, a row is an output" : ""));
  }
  return {.name = name, .shape = shape, .values = values_of(matrix, wanted)};
}

// ------------------------------------------------------------------------------------- the folder

/// The files "*.data" in it, sorted.
std::vector<std::string> matrices_in(const fs::path& folder) {
  const auto failure = [&](const std::string& reason) {
    return Error("the folder " + folder.string() + " cannot be read: " + reason);
  };
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) {
    throw failure(fs::status_known(status) ? "there is no such folder" : error.message());
  }
  if (!fs::is_directory(status)) throw failure("it is not a folder");
  std::vector<std::string> names;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.ends_with(extension)) names.push_back(std::move(name));
  }
  if (error) throw failure(error.message());
  std::sort(names.begin(), names.end());
  return names;
}

/// The first of `names` that is not the file of an entry of `known`; empty if there is none.
std::string first_stranger(const std::vector<std::string>& names,
                           const std::vector<ExchangedMatrix>& known) {
  const auto stranger = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
    return std::none_of(known.begin(), known.end(),
                        [&](const ExchangedMatrix& matrix) { return matrix.file == name; });
  });
  return stranger == names.end() ? "" : *stranger;
}

/// Links could lead two files to one place, or to the checkpoint.
void expect_apart(const fs::path& folder, const std::vector<ExchangedMatrix>& matrices,
                  const fs::path& source) {
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const fs::path file = folder / matrices[i].file;
    const auto expect_other = [&](const fs::path& other, const std::string& what) {
      if (!is_same_file(file, other)) return;
      throw Error("the matrix " + file.string() + " cannot be written: it is the same file as " +
                  what + other.string());
    };
    expect_other(source, "the checkpoint ");
    for (std::size_t j = 0; j < i; ++j) expect_other(folder / matrices[j].file, "");
  }
}

std::vector<ExchangedMatrix> matrices_of(const std::vector<ParameterValues>& parameters) {
  std::vector<ExchangedMatrix> matrices;
  for (const ParameterValues& parameter : parameters) {
    matrices.push_back({.file = matrix_name(parameter.name),
                        .parameter = parameter.name,
                        .shape = matrix_shape(parameter.shape)});
  }
  return matrices;
}

}  // namespace

std::string matrix_name(const std::string& parameter) {
  const std::string stem = stem_for(parameter);
  if (parameter_named(stem) != parameter) {
    throw Error("the parameter " + in_quotes(parameter) + " cannot have a matrix file: " + stem +
                std::string(extension) + " is that of " + in_quotes(parameter_named(stem)));
  }
  return stem + std::string(extension);
}

std::vector<ExchangedMatrix> export_matrices(const fs::path& folder, const Checkpoint& checkpoint,
                                             const fs::path& source) {
  std::vector<ExchangedMatrix> matrices = matrices_of(checkpoint.parameters);
  std::vector<Matrix> contents;
  for (const ParameterValues& parameter : checkpoint.parameters) {
    contents.push_back(matrix_of(parameter));
  }

  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error("the folder " + folder.string() + " cannot be made: " + error.message());
  const std::string stranger = first_stranger(matrices_in(folder), matrices);
  if (!stranger.empty()) {
    throw Error("the folder " + folder.string() + " already holds " + stranger +
                ", which would pass for a parameter of this network; name another folder");
  }
  expect_apart(folder, matrices, source);
  for (const ExchangedMatrix& matrix : matrices) check_writable(folder / matrix.file, "matrix");
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    write_matrix(folder / matrices[i].file, contents[i]);
  }
  return matrices;
}

std::vector<ExchangedMatrix> import_matrices(const fs::path& folder, Checkpoint& checkpoint,
                                             const fs::path& source) {
  std::vector<ExchangedMatrix> matrices = matrices_of(checkpoint.parameters);
  const std::string stranger = first_stranger(matrices_in(folder), matrices);
  if (!stranger.empty()) {
    throw Error("the folder " + folder.string() + " holds " + stranger + ", but the checkpoint " +
                source.string() + " has no parameter '" +
                parameter_named(fs::path(stranger).stem().string()) + "'");
  }
  std::vector<ParameterValues> parameters;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    parameters.push_back(read_parameter(folder / matrices[i].file, matrices[i].parameter,
                                        checkpoint.parameters[i].shape));
  }
  checkpoint.parameters = std::move(parameters);
  checkpoint.workers.clear();
  checkpoint.optimizer.clear();
  return matrices;
}

Checkpoint mlp_from_matrices(const fs::path& folder, std::vector<ExchangedMatrix>& matrices) {
  const std::vector<std::string> names = matrices_in(folder);
  const auto has = [&](const std::string& name) {
    return std::binary_search(names.begin(), names.end(), name);
  };
  const auto weight_name = [](int layer) {
    return matrix_name("fc" + std::to_string(layer) + "/weight");
  };
  const auto bias_name = [](int layer) {
    return matrix_name("fc" + std::to_string(layer) + "/bias");
  };
  const bool has_biases = has(bias_name(1));

  Checkpoint checkpoint{.model = "mlp", .precision = "float"};
  std::string hidden;
  Index inputs = 0;  // of the next layer: what the one before has for outputs
  // The first weight is read whether it is there or not: its absence gets the reader's sentence.
  for (int layer = 1; layer == 1 || has(weight_name(layer)); ++layer) {
    const fs::path path = folder / weight_name(layer);
    const Matrix weight = read_matrix(path);
    const Shape shape = shape_of(weight);
    if (layer > 1 && shape[1] != inputs) {
      throw Error(path.string() + " has a matrix of " + by(shape) + ", but " +
                  weight_name(layer - 1) + " has " + std::to_string(inputs) +
                  " rows: each layer must have a column for every row of the one before");
    }
    const std::string name = "fc" + std::to_string(layer);
    if (has_biases) {
      checkpoint.parameters.push_back(
          read_parameter(folder / bias_name(layer), name + "/bias", Shape{shape[0]}));
    }
    checkpoint.parameters.push_back({.name = name + "/weight",
                                     .shape = {shape[1], shape[0]},
                                     .values = values_of(weight, shape)});
    if (layer > 1) hidden += (hidden.empty() ? "" : ",") + std::to_string(inputs);
    inputs = shape[0];
  }
  matrices = matrices_of(checkpoint.parameters);
  const std::string stranger = first_stranger(names, matrices);
  if (!stranger.empty()) {
    throw Error("the folder " + folder.string() + " holds " + stranger +
                ", which belongs to none of the layers w1.data, w2.data, ...; for any other "
                "network than an mlp, import into a checkpoint that has its shapes");
  }
  checkpoint.settings = {{"hidden", hidden.empty() ? "none" : hidden},
                         {"activation", "relu"},
                         {"loss", "cross-entropy"},
                         {"biases", has_biases ? "on" : "off"}};
  return checkpoint;
}

}  // namespace stagewise
