/// @file
/// Matrix files: report 002's format for one matrix of floats.
///
/// 16 bytes of header, then the values. The report's text names height, width and floats; the magic
/// number and the widths of the integers are those of its published program (`export.py`).
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace stagewise {

/// A matrix, row-major, as such a file holds it.
struct Matrix {
  std::uint32_t height = 0;   ///< rows
  std::uint32_t width = 0;    ///< columns
  std::vector<float> values;  ///< height x width
};

/// Reads a file as a whole.
/// @throws Error naming the file and what is wrong with it: missing, no matrix file, a dimension of
///         0, cut short, too long, a value that is NaN or infinite.
Matrix read_matrix(const std::filesystem::path& path);

/// Writes the file as a whole or not at all; read_matrix() gives back the same bits.
/// @throws Error naming the file and the reason, also if the matrix is one that read_matrix()
///         refuses.
void write_matrix(const std::filesystem::path& path, const Matrix& matrix);

}  // namespace stagewise
