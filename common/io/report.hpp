/// @file
/// Run reports: what a training or evaluation found, as JSON for scripts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/images/image.hpp"
#include "tensor/kernel_counters.hpp"

namespace stagewise {

/// One epoch of training.
struct EpochReport {
  std::int64_t epoch = 0;     ///< counted from 1
  double train_loss = 0;      ///< mean over the epoch, l2 included
  double train_accuracy = 0;  ///< fraction, counted before each update
  std::optional<double> validation_loss;
  std::optional<double> validation_accuracy;
  double seconds = 0;  ///< of training alone
  double images_per_second = 0;
};

/// Some steps of an epoch.
struct StepReport {
  std::int64_t epoch = 0;  ///< counted from 1
  std::int64_t step = 0;   ///< the last of them, counted from 1 over all epochs
  double loss = 0;         ///< mean over their samples, before each update, without l2
  double accuracy = 0;     ///< fraction, counted before each update
  double learning_rate = 0;
  double images_per_second = 0;
};

/// The total time of an operation, over all calls. The rest is absent unless it was asked for.
struct TimingReport {
  std::string operation;
  std::int64_t calls = 0;
  double forward_seconds = 0;
  double backward_seconds = 0;
  std::optional<double> bytes = {};                  ///< that have to be moved
  std::optional<double> operations = {};             ///< that have to be computed
  std::optional<double> floor_seconds = {};          ///< the least that the device can take
  std::optional<std::string> bound = {};             ///< what sets this: memory, compute, launch
  std::optional<KernelCounters> counters = {};       ///< where kernels are counted
  std::optional<double> counted_floor_seconds = {};  ///< of what they have done
};

/// How long one batch takes from host memory to the prediction in host memory.
struct LatencyReport {
  std::string path;          ///< the name of the predictor
  std::int64_t samples = 0;  ///< batches measured
  double median_seconds = 0;
  double p95_seconds = 0;  ///< 95 % of the batches took no longer
  double p99_seconds = 0;
};

/// Which classes a network takes for which.
struct ConfusionReport {
  std::vector<std::vector<std::int64_t>> counts;  ///< a row for each class, a column an answer
  std::vector<std::optional<double>> precision;   ///< of each class; empty if it is no answer
  std::vector<std::optional<double>> recall;      ///< of each class; empty if it has no samples
};

/// A sample of another class than the network says.
struct MistakeReport {
  std::int64_t sample = 0;  ///< counted from 0
  std::int64_t label = 0;
  std::int64_t predicted = 0;
  double confidence = 0;       ///< probability of the prediction; with a squared error its output
  std::optional<Image> image;  ///< the sample, where it is one
};

/// What a network says about a sample.
struct PredictionReport {
  std::int64_t sample = 0;  ///< counted from 0
  std::optional<std::int64_t> label;
  std::int64_t predicted = 0;
  std::vector<double> scores;  ///< of each class: its probability; with a squared error its output
};

/// Everything a run reports. Absent values are left out of the file, and so are steps, and a
/// latency, that were not asked for.
struct Report {
  std::string stage;
  std::string device;
  bool cuda_on_cpu = false;
  std::vector<std::string> command;
  std::string model;
  std::string dataset;
  std::string precision;
  std::int64_t batch_size = 0;
  std::uint64_t seed = 0;
  std::optional<std::int64_t> ranks;    ///< processes, of a stage that runs in several
  std::optional<std::int64_t> workers;  ///< that share every batch, where there are several
  std::vector<EpochReport> epochs;
  std::vector<StepReport> steps;           ///< of --log-every
  std::optional<std::int64_t> best_epoch;  ///< on the validation set
  std::optional<double> test_loss;
  std::optional<double> test_accuracy;
  std::vector<std::string> class_names;  ///< empty: they are just numbers
  std::optional<ConfusionReport> confusion;
  std::optional<std::vector<MistakeReport>> mistakes;
  std::vector<PredictionReport> predictions;
  std::vector<LatencyReport> latency;
  std::vector<TimingReport> timings;
  std::optional<DeviceLimits> limits;  ///< that the floors among them rest on
};

/// Writes the report, with the process's peak memory, as a JSON object.
/// @throws Error naming the file and the reason.
void write_report(const std::filesystem::path& path, const Report& report);

/// The command as typed, words with unusual characters in quotes.
std::string command_line(const std::vector<std::string>& words);

/// The process's largest resident memory so far, in bytes. Memory on a GPU does not count.
std::int64_t peak_memory_bytes();

}  // namespace stagewise
