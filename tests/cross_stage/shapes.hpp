/// @file
/// The shapes on which stages are compared, none of which fits any block.
#pragma once

#include <string>
#include <vector>

#include "cross_stage/trial.hpp"
#include "network/problems.hpp"
#include "support.hpp"

namespace stagewise::cross_stage {

struct Size {
  Index rows;
  Index cols;
};

/// Around the sizes of warps and blocks, and past the 65,535 blocks of a grid's y.
inline const std::vector<Size> sizes = {{1, 1},    {1, 7},    {7, 1},    {3, 5},       {13, 17},
                                        {31, 33},  {64, 32},  {5, 1031}, {257, 3},     {1, 256},
                                        {127, 65}, {600, 10}, {0, 3},    {600'001, 1}, {1, 70'001}};
inline const std::vector<Index> lengths = {0, 1, 2, 7, 31, 64, 255, 256, 257, 1009, 66'000};

struct Product {
  Index m;
  Index n;
  Index k;
};

inline const std::vector<Product> products = {{1, 1, 1},         {1, 7, 3},     {7, 1, 5},    {3, 5, 1},
                                              {17, 19, 23},      {33, 65, 31},  {64, 64, 64}, {5, 130, 67},
                                              {129, 3, 130},     {40, 10, 784}, {2, 1, 1009}, {16, 16, 17},
                                              {1'100'000, 1, 2}, {3, 4, 0},     {0, 3, 2},    {3, 0, 2}};

inline std::string name_of(const Product& p) {
  return std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k);
}

inline const std::vector<ConvolutionProblem> convolutions = {
    // batch, height, width, in, filter height, filter width, out
    {1, 1, 1, 1, 1, 1, 1},  {3, 4, 7, 3, 1, 1, 1},   {1, 7, 4, 1, 1, 3, 3},    {3, 5, 8, 1, 2, 3, 1},
    {3, 8, 5, 3, 4, 2, 17}, {1, 6, 9, 17, 3, 5, 3},  {3, 4, 6, 17, 3, 1, 16},  {1, 9, 3, 3, 9, 3, 33},
    {5, 8, 5, 1, 3, 3, 17}, {3, 6, 7, 17, 5, 5, 17}, {2, 28, 28, 1, 5, 5, 32}, {2, 12, 12, 32, 5, 5, 64},
    {0, 5, 6, 3, 3, 2, 4}};

inline std::string name_of(const ConvolutionProblem& p) {
  return std::to_string(p.batch) + " images " + std::to_string(p.height) + "x" + std::to_string(p.width) + "x" +
         std::to_string(p.in) + ", filter " + std::to_string(p.filter_height) + "x" + std::to_string(p.filter_width) +
         "x" + std::to_string(p.in) + "x" + std::to_string(p.out);
}

inline const std::vector<PoolingProblem> poolings = {
    // batch, height, width, channels, window
    {1, 1, 1, 1, 1}, {3, 4, 6, 1, 2}, {2, 6, 9, 5, 3}, {5, 8, 4, 33, 4}, {2, 24, 24, 32, 2}, {0, 4, 6, 3, 2}};

/// Of three workers, the last one.
inline constexpr Part last_shard = {.index = 2, .count = 3};

/// A whole batch, a part of it, and a part that is a batch of its own.
inline const std::vector<Part> parts = {{}, last_shard, {.index = 2, .count = 3, .is_alone = true}};

template <typename T>
ValueId add_images(Trial<T>& trial, const Shape& shape, std::uint64_t seed) {
  return trial.batched(shape, random_values<T>(trial.rows() * shape.elements(), seed, -2, 1));
}

template <typename T>
ValueId add_filter(Trial<T>& trial, const ConvolutionProblem& p, std::uint64_t seed) {
  const Shape shape = {p.filter_height, p.filter_width, p.in, p.out};
  return trial.whole(shape, random_values<T>(shape.elements(), seed, -1, 2), Role::weight);
}

}  // namespace stagewise::cross_stage
