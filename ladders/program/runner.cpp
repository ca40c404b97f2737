#include "ladders/program/runner.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>

#include "cli/program.hpp"
#include "cli/text.hpp"
#include "cuda/counters.hpp"
#include "cuda/device.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::ladder {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The minimum time on this GPU, from the reported speed of its memory and its units; empty if
/// unknown.
std::string floor_of(double bytes, double operations, const std::string& precision) {
  const double bandwidth = cuda::memory_bandwidth();
  std::string text;
  if (operations > 0) {
    const double peak = cuda::peak_operations(precision == "double");
    if (peak > 0) {
      text = duration(operations / peak) + " for " + with_prefix(operations, "FLOP") + " at " +
             with_prefix(peak, "FLOP/s");
    }
  }
  if (bandwidth > 0) {
    text += (text.empty() ? "" : ", ") + duration(bytes / bandwidth) + " for " + with_prefix(bytes, "B") + " at " +
            with_prefix(bandwidth, "B/s");
    const double cache = cuda::cache_bytes();
    if (bytes <= cache) text += ", less from the L2 cache of " + with_prefix(cache, "B");
  }
  return text;
}

}  // namespace

void check_memory(const std::string& problem, double device_bytes, double host_bytes) {
  const auto refuse = [&](double needed, const std::string& whose, double free) {
    throw Error(problem + " takes " + with_prefix(needed, "B") + " of " + whose + ", of which " +
                with_prefix(free, "B") + " are free; choose smaller sizes");
  };
  std::size_t free = 0;
  std::size_t total = 0;
  cuda::require_device();
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  constexpr double workspace_bytes = static_cast<double>(Workspace::capacity<std::byte>()) +
                                     static_cast<double>(Workspace::counter_count) * sizeof(unsigned);
  const double device_needed = device_bytes + workspace_bytes;
  const auto device_free = static_cast<double>(free);
  if (device_needed > device_free) {
    refuse(device_needed,
           cuda::runs_on_cpu() ? "the emulated GPU's memory (STAGEWISE_CPU_DEVICE_MEMORY)" : "the GPU's memory",
           device_free);
  }
  const double host_needed = host_bytes + (cuda::runs_on_cpu() ? device_needed : 0);
  const auto host_free = static_cast<double>(available_host_memory());
  if (host_needed > host_free) {
    refuse(host_needed, "the host's memory", host_free);
  }
}

void print_problem(std::vector<Line> lines, double bytes, double operations, const std::string& precision) {
  if (!cuda::runs_on_cpu()) {
    const std::string floor = floor_of(bytes, operations, precision);
    if (!floor.empty()) lines.push_back({"floor", floor});
  }
  print_header(std::cout, cuda::describe_device(), cuda::runs_on_cpu(), lines);
}

std::string shape_text(Index rows, Index cols) {
  return "[" + std::to_string(rows) + ", " + std::to_string(cols) + "]";
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Measured measured_in(Index repetitions, bool is_counted) {
  if (is_counted) return Measured::counters;
  if (repetitions == 0) return Measured::nothing;
  return cuda::runs_on_cpu() ? Measured::times : Measured::rates;
}

void Runner::run(Row& row, const Work& work) {
  status_.show(("running " + row.name).c_str());
  const auto time_once = [&](const std::function<void()>& enqueue) {
    work.prepare();
    stream_.synchronize();
    const auto start = Clock::now();
    enqueue();
    stream_.synchronize();
    return seconds_since(start);
  };
  const KernelCounters before = cuda::kernel_counters();
  const double first = time_once(work.enqueue);
  if (cuda::counts_kernels()) row.counters = cuda::kernel_counters() - before;
  verify(row, work);
  if (row.counters) return;
  if (!row.wrong.empty() || options_.repetitions == 0) return;

  double seconds = measure(work.enqueue, first, work.also_without_graph);
  if (work.overhead) seconds -= measure(work.overhead, time_once(work.overhead), false);
  if (work.first) row.first_seconds = measure(work.first, time_once(work.first), false);
  time_once(work.enqueue);
  verify(row, work);                                            // again, after many launches, some of them from a graph
  if (row.wrong.empty() && seconds > 0) row.seconds = seconds;  // else it is below the noise
}

void Runner::run(Table& table, const std::function<Work(const Row&)>& work_of) {
  status_.clear();
  TablePrinter printer(std::cout, table, measured_in(options_.repetitions, cuda::counts_kernels()));
  for (Row& row : table.rows) {
    if (row.skipped.empty()) run(row, work_of(row));
    status_.clear();
    printer.print(row);
    if (output_is_closed() && options_.report.empty()) throw OutputClosed();
  }
  if (table.reference) printer.print(*table.reference);
}

void Runner::verify(Row& row, const Work& work) {
  work.verify(row);
  if (row.wrong.empty()) return;
  row.wrong += ". " + cuda::explain_order([&] {
                 Row again = row;
                 again.wrong.clear();
                 work.prepare();
                 work.enqueue();
                 work.verify(again);
                 return again.wrong == row.wrong;
               });
}

/// @param first the seconds that it took when it was verified.
double Runner::measure(const std::function<void()>& enqueue, double first, bool also_without_graph) const {
  if (cuda::runs_on_cpu()) {
    std::vector<double> seconds = {first};
    while (std::ssize(seconds) < options_.repetitions) {
      const auto start = Clock::now();
      enqueue();
      stream_.synchronize();
      seconds.push_back(seconds_since(start));
    }
    return median(seconds);
  }

  const cuda::TimedEvent start;
  const cuda::TimedEvent end;
  const auto time = [&](const auto& work) {
    start.record(stream_);
    work();
    end.record(stream_);
    stream_.synchronize();
    return end.seconds_since(start);
  };
  // So many launches in a graph that the time between the events is long compared to their
  // resolution. A launch may use what the previous one has left in C: that overflows for a large
  // beta, which does not affect the time.
  constexpr double wanted_seconds = 2e-3;
  constexpr double max_launches = 100;
  const double once = std::max(time(enqueue), 1e-6);
  const auto launches = static_cast<int>(std::clamp(std::ceil(wanted_seconds / once), 1.0, max_launches));
  const auto enqueue_all = [&] {
    for (int i = 0; i < launches; ++i) enqueue();
  };
  const auto time_all = [&](const auto& launch) {
    constexpr double warm_up_seconds = 0.02;  // in which the GPU raises its clock rate
    for (double spent = 0; spent < warm_up_seconds;) spent += time(launch);
    std::vector<double> seconds;
    while (std::ssize(seconds) < options_.repetitions) seconds.push_back(time(launch) / launches);
    return median(seconds);
  };
  const cuda::ExecutableGraph graph(stream_, enqueue_all);
  const double in_graph = time_all([&] { graph.launch(stream_); });
  return also_without_graph ? std::min(in_graph, time_all(enqueue_all)) : in_graph;
}

}  // namespace stagewise::ladder
