/// @file
/// From a picture of any size to a sample that a network takes.
#pragma once

#include <cstdint>

#include "data/dataset.hpp"
#include "io/images/image.hpp"

namespace stagewise {

/// What a drawing is drawn on.
enum class Background : std::uint8_t { automatic, light, dark };

/// The picture as a sample. One of the sample's own size stays as it is; another one is scaled
/// without distortion:
/// - grey, a drawing, as the digits of MNIST were: what is drawn becomes 5/7 of the sample's size,
///   its centre of mass comes to the middle;
/// - in colour, until it covers the sample; what protrudes at its sides is cut off.
///
/// Networks expect light strokes on a dark background: a grey picture with a light one is inverted.
/// @param sample [height, width, channels]; the picture has as many channels.
/// @param background `automatic`: light if most of the picture's edge is.
/// @param classes of the data set that is returned; its one label means nothing.
/// @throws Error if the picture, or what is left of it at the sample's size, is of a single colour:
///         nothing is drawn on it.
Dataset fit_image(const Image& image, const Shape& sample, Background background, int classes);

}  // namespace stagewise
