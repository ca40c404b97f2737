/// @file
/// Images drawn in a terminal, and mistakes, which deserve a look.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "io/images/image.hpp"
#include "io/report.hpp"

namespace stagewise {

/// Lines from top to bottom: a character stands for two pixels, the denser the lighter.
using Drawing = std::vector<std::string>;

/// A sample as it is drawn, in full size: with its three channels, else its first one. Values are
/// shown as they are from 0 to 1; if some lie outside, from the least to the largest.
/// @param sample must be an image, [height, width, channels].
Image shown_image(const Dataset& dataset, Index sample);

/// Draws the mean of an image's channels. A larger image is made smaller to fit.
/// @param columns at most so many are used.
Drawing draw(const Image& image, std::size_t columns);

/// Prints mistakes, the most confident first: those with an image as drawings, as many beside one
/// another as there is room for, others as a list.
/// @param names of the classes.
/// @param score what the network's confidence is: "probability".
void print_mistakes(const std::vector<MistakeReport>& mistakes, const std::vector<std::string>& names,
                    const std::string& score);

}  // namespace stagewise
