/// @file
/// The teaching kernels, each behind a function that takes and gives data of the host. Kernel and
/// launch stand in the file of the function's name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace teaching {

/// Throws the sentence of CUDA if an earlier launch failed; kernels that still run are waited for.
void wait_for_all();

/// Why kernels cannot run here; empty if they can.
std::string obstacle();

/// y + a x.
template <typename T>
std::vector<T> saxpy(T a, const std::vector<T>& x, std::vector<T> y);

/// The transpose of a matrix of rows x cols elements.
template <typename T>
std::vector<T> transpose(const std::vector<T>& x, int rows, int cols);

/// The sum of x, by blocks that each add up a part of it.
template <typename T>
T block_reduction(const std::vector<T>& x);

/// The sum of each row of a matrix, by one warp a row.
template <typename T>
std::vector<T> warp_reduction(const std::vector<T>& x, int rows, int cols);

/// The mean of each element and its neighbours up to `radius` away, where there are such.
template <typename T>
std::vector<T> moving_average(const std::vector<T>& x, int radius);

/// The sum of the weights of each label.
template <typename T>
std::vector<T> histogram(const std::vector<std::int32_t>& labels, const std::vector<T>& weights,
                         int bins);

/// 2 (x + 1): one stream adds, and another waits for it before it doubles.
template <typename T>
std::vector<T> two_streams(const std::vector<T>& x);

/// x after `steps` times x -> x / 2 + 1, recorded once as a graph of two kernels.
template <typename T>
std::vector<T> captured_graph(std::vector<T> x, int steps);

/// The sum of x, by one launch whose blocks wait for each other.
template <typename T>
T cooperative_sum(const std::vector<T>& x);

}  // namespace teaching
