/// @file
/// How long a network takes to answer: one batch at a time, from host memory to host memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/eager_predictor.hpp"
#include "data/dataset.hpp"
#include "io/report.hpp"
#include "training/network.hpp"
#include "training/predictor.hpp"

namespace stagewise {

/// The quantile: the least value that at least this fraction of the values do not exceed.
/// @param sorted ascending, at least one.
/// @param fraction more than 0, at most 1.
double percentile(const std::vector<double>& sorted, double fraction);

/// How long a batch takes, from samples in host memory to classes in host memory, or on the device
/// alone: see Predictor::is_on_device(). Runs at least 200
/// of the data set's full batches, after 20 more to warm up; but stops after 10 seconds if 5
/// batches are done by then.
/// @throws Error if the data set contains no full batch.
template <typename T>
LatencyReport measure_latency(Predictor<T>& predictor, const Dataset& dataset);

/// Measures `eager`, then the others, and releases each before the next begins. First compares the
/// others' classes for the first samples of the data set (100 batches, but not more than 10,000
/// samples or one batch) with those of `eager`. Rounding may decide between two classes if their
/// outputs differ by less than 1e-4 in float, or 1e-10 in double, relative to the largest output,
/// or to 1 if that is larger: then either is right.
/// @param on_path called with the name of each before it is measured.
/// @throws Error naming the path, the sample and the classes if they differ; and as above.
template <typename T>
std::vector<LatencyReport> measure_latencies(
    std::unique_ptr<EagerPredictor<T>> eager, std::vector<std::unique_ptr<Predictor<T>>> others, const Dataset& dataset,
    const std::function<void(const std::string&)>& on_path = [](const std::string&) {});

}  // namespace stagewise
