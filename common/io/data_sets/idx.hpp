/// @file
/// IDX, the format of MNIST and Fashion-MNIST: a big-endian header (magic number, one length per
/// dimension), then the bytes. One file contains the images, another the labels.
#pragma once

#include <filesystem>

#include "data/dataset.hpp"

namespace stagewise {

/// Reads a pair of IDX files; each may be gzip-compressed, whatever its name.
/// @param classes number of classes; every label must be less. 0: the largest label plus one.
/// @return samples of shape [height, width, 1].
/// @throws Error naming the file and what is wrong with it: missing, empty, truncated, longer than
///         its header says, a wrong magic number, counts that differ, a label outside the classes.
Dataset read_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                 int classes);

/// Reads a file of images without labels: all have class 0, which means nothing.
/// @throws Error as read_idx().
Dataset read_idx_images(const std::filesystem::path& images);

/// Writes images and labels as a pair of plain IDX files.
/// Both are complete before either gets its name; existing files stay until then.
/// @throws Error if the samples are not images of shape [height, width, 1], there are more than 256
///         classes, or a file cannot be written completely.
void write_idx(const Dataset& dataset, const std::filesystem::path& images,
               const std::filesystem::path& labels);

/// The labels file that belongs to an images file: "images" and "idx3" in the file's name become
/// "labels" and "idx1".
/// @throws Error if the name does not contain "images".
std::filesystem::path idx_labels_path(const std::filesystem::path& images);

}  // namespace stagewise
