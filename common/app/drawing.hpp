/// @file
/// Images drawn in a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "io/images/image.hpp"

namespace stagewise {

/// How many columns standard output has: 80 if it is not a terminal.
std::size_t columns_of_output();

/// A drawing, from top to bottom: each character stands for two pixels, the denser the lighter.
struct Drawing {
  std::vector<std::string> lines;
  std::size_t width = 0;  ///< columns that each line takes
};

/// Draws a sample, which must be an image, [height, width, channels]: the mean of three channels,
/// else the first one. Values are shown as they are from 0 to 1; if some lie outside, from
/// the least to the largest. A larger image is made smaller to fit.
/// @param columns at most so many are used.
Drawing draw(const Dataset& dataset, Index sample, std::size_t columns);

/// The sample as it is drawn, but in full size: with its three channels, else its first one.
/// @param sample must be an image, as for draw().
Image shown_image(const Dataset& dataset, Index sample);

/// Prints drawings beside one another, as many as there is room for, each with its caption below.
/// @param captions lines for each drawing, the same number for all.
void print_drawings(const std::vector<Drawing>& drawings,
                    const std::vector<std::vector<std::string>>& captions, std::size_t columns);

}  // namespace stagewise
