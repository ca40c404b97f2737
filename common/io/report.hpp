/// @file
/// Run reports: what a training or evaluation found, as JSON for scripts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace stagewise {

/// One epoch of training.
struct EpochReport {
  std::int64_t epoch = 0;     ///< counted from 1
  double train_loss = 0;      ///< as architecture and documentation define it, l2 included
  double train_accuracy = 0;  ///< fraction, counted before each update
  std::optional<double> validation_loss;
  std::optional<double> validation_accuracy;
  double seconds = 0;  ///< of training alone
  double images_per_second = 0;
};

/// What an operation has cost in all.
struct TimingReport {
  std::string operation;
  std::int64_t calls = 0;
  double forward_seconds = 0;
  double backward_seconds = 0;
};

/// How long one batch takes from the host's memory to the prediction in the host's memory.
struct LatencyReport {
  std::string path;          ///< the way in which it was answered
  std::int64_t samples = 0;  ///< batches measured
  double median_seconds = 0;
  double p95_seconds = 0;  ///< 95 % of the batches took no longer
  double p99_seconds = 0;
};

/// Everything a run reports. A key whose value is absent is left out of the file, and so is a
/// latency that was not measured.
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
  std::vector<EpochReport> epochs;
  std::optional<double> test_loss;
  std::optional<double> test_accuracy;
  std::vector<LatencyReport> latency;
  std::vector<TimingReport> timings;
};

/// Writes the report as a JSON object, the process's peak memory added.
/// @throws Error naming the file and the reason.
void write_report(const std::filesystem::path& path, const Report& report);

/// The command as one would type it, words with unusual characters in quotes.
std::string command_line(const std::vector<std::string>& words);

/// Largest amount of memory the process has had resident so far, in bytes.
std::int64_t peak_memory_bytes();

}  // namespace stagewise
