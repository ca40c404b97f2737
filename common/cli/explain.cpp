#include "cli/explain.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>

#include "cli/text.hpp"

namespace stagewise {
namespace {

/// "gemm -> fc1/product" of a line with all of its operands: what it writes tells it from others.
std::string short_name(const std::string& operation) {
  const std::size_t name = operation.find("  ");
  const std::size_t arrow = operation.find("-> ");
  if (name == std::string::npos || arrow == std::string::npos) return operation;
  return operation.substr(0, name) + ' ' + operation.substr(arrow);
}

/// A line's share of a step, or the whole step.
struct Row {
  std::string name;
  Cost cost;
  std::optional<Floor> floor;
  double seconds = 0;
  KernelCounters counters;  ///< all zero where nothing is counted
};

struct Cells : Column {
  std::function<std::string(const Row&)> cell;
};

std::vector<Cells> columns_for(bool has_floors, bool has_times, bool has_counters) {
  std::vector<Cells> columns = {{{"line", 28, true}, [](const Row& row) { return cut(row.name, 28); }}};
  const auto add = [&](const char* heading, std::size_t width, const auto& cell) {
    columns.push_back({{heading, width}, cell});
  };
  add("bytes", 9, [](const Row& row) { return with_prefix(row.cost.bytes, "B"); });
  add("ops", 8, [](const Row& row) { return with_prefix(row.cost.operations, ""); });
  if (has_floors) {
    add("floor", 9, [](const Row& row) { return duration(row.floor->seconds); });
    add("bound by", 9, [](const Row& row) { return name_of(row.floor->bound); });
  }
  if (has_times) add("time", 9, [](const Row& row) { return duration(row.seconds); });
  if (has_floors && has_times) {
    add("x floor", 8, [](const Row& row) { return fixed(row.seconds / row.floor->seconds, 1); });
  }
  if (has_counters) {
    add("asked", 9, [](const Row& row) { return with_prefix(row.counters.asked_bytes(), "B"); });
    add("sectors", 8, [](const Row& row) { return fixed(row.counters.sectors_per_request(), 1); });
  } else if (!has_floors) {
    add("FLOP/s", 9, [](const Row& row) { return with_prefix(row.cost.operations / row.seconds, ""); });
    add("B/s", 9, [](const Row& row) { return with_prefix(row.cost.bytes / row.seconds, ""); });
  }
  return columns;
}

/// The step as a whole: its floor is the sum of its lines' floors, and bound as most of it is.
Row total_of(const std::vector<Row>& rows) {
  Row total = {.name = "all", .cost = {}, .floor = {}, .counters = {}};
  double most = 0;
  for (const Row& row : rows) {
    total.cost += row.cost;
    total.seconds += row.seconds;
    total.counters += row.counters;
    if (!row.floor) continue;
    if (!total.floor) total.floor = Floor{};
    total.floor->seconds += row.floor->seconds;
  }
  for (const Bound bound : {Bound::memory, Bound::compute, Bound::launch, Bound::cache, Bound::shared}) {
    double seconds = 0;
    for (const Row& row : rows) {
      if (row.floor && row.floor->bound == bound) seconds += row.floor->seconds;
    }
    if (seconds <= most) continue;
    most = seconds;
    total.floor->bound = bound;
  }
  return total;
}

/// Of a call, the mean without the first one, if there are others.
double usual_seconds(const Timing& timing) {
  if (timing.calls < 2) return timing.seconds;
  return (timing.seconds - timing.first_seconds) / static_cast<double>(timing.calls - 1);
}

std::vector<Row> rows_of(const std::vector<Timing>& timings, const std::optional<DeviceLimits>& limits, double steps) {
  std::vector<Row> rows;
  for (const Timing& timing : timings) {
    Row row = {.name = short_name(timing.operation),
               .cost = {timing.cost.bytes / steps, timing.cost.operations / steps},
               .floor = {},
               .seconds = usual_seconds(timing) * static_cast<double>(timing.calls) / steps,
               .counters = timing.counters / steps};
    if (limits) {
      row.floor = floor_of(row.cost, static_cast<double>(timing.calls) / steps, *limits);
    }
    rows.push_back(row);
  }
  return rows;
}

/// What the floors rest on.
std::string limits_text(const DeviceLimits& limits) {
  const auto rate = [](double value, const char* unit) {
    return value > 0 ? with_prefix(value, unit) : std::string("unknown ") + unit;
  };
  return "floors of " + limits.device + ": " + rate(limits.operations_per_second, "FLOP/s") + ", " +
         rate(limits.bytes_per_second, "B/s") + ", " + duration(limits.launch_seconds) + " for a launch";
}

/// What the kernels of each line have done, instead of times, which mean nothing about a GPU.
void print_counters(const std::vector<Timing>& timings) {
  const std::vector<Column> columns = {{"line", 34, true}, {"launches", 9}, {"copies", 8},
                                       {"asked", 10},      {"sectors", 8},  {"conflicts", 10}};
  const auto count = [](double number) { return with_thousands(std::llround(number)); };
  std::cout << '\n' << heading_of(columns);
  for (const Timing& row : timings) {
    const KernelCounters& counters = row.counters;
    std::cout << row_of(columns, {cut(row.operation, 34), count(counters.launches), count(counters.copies),
                                  with_prefix(counters.asked_bytes(), "B"), fixed(counters.sectors_per_request(), 1),
                                  count(counters.bank_conflicts)});
  }
}

}  // namespace

bool are_counted(const std::vector<Timing>& timings) {
  return std::any_of(timings.begin(), timings.end(), [](const Timing& timing) { return timing.counters.launches > 0; });
}

std::string explanation(const std::vector<Timing>& timings, const std::optional<DeviceLimits>& limits,
                        bool times_count) {
  std::int64_t steps = 1;
  for (const Timing& timing : timings) steps = std::max(steps, timing.calls);
  std::vector<Row> rows = rows_of(timings, limits, static_cast<double>(steps));
  std::string text = "a step, the mean of " + with_thousands(steps) + '\n';
  text += limits ? limits_text(*limits) : "what this device can do at most is unknown: there are no floors";
  const std::vector<Cells> cells = columns_for(limits.has_value(), times_count, are_counted(timings));
  const std::vector<Column> columns(cells.begin(), cells.end());
  text += "\n\n" + heading_of(columns);
  rows.push_back(total_of(rows));
  for (const Row& row : rows) {
    std::vector<std::string> texts;
    for (const Cells& column : cells) texts.push_back(column.cell(row));
    text += row_of(columns, texts);
  }
  return text;
}

void explain(const std::vector<Timing>& timings, const std::optional<DeviceLimits>& limits,
             std::vector<TimingReport>& reports) {
  for (std::size_t i = 0; i < timings.size(); ++i) {
    const Timing& timing = timings[i];
    reports[i].bytes = timing.cost.bytes;
    reports[i].operations = timing.cost.operations;
    if (are_counted(timings)) reports[i].counters = timing.counters;
    if (!limits) continue;
    const Floor floor = floor_of(timing.cost, static_cast<double>(timing.calls), *limits);
    reports[i].floor_seconds = floor.seconds;
    reports[i].bound = name_of(floor.bound);
    if (!reports[i].counters) continue;
    reports[i].counted_floor_seconds = counted_floor_of(timing.counters, timing.cost.operations, *limits).seconds;
  }
}

void print_timings(const std::vector<Timing>& timings) {
  if (are_counted(timings)) return print_counters(timings);
  double all = 0;
  for (const Timing& row : timings) all += row.seconds;
  const std::vector<Column> columns = {{"line", 50, true}, {"calls", 8}, {"time", 10}, {"share", 8}};
  std::cout << '\n' << heading_of(columns);
  for (const Timing& row : timings) {
    std::cout << row_of(columns, {cut(row.operation, 50), with_thousands(row.calls), duration(row.seconds),
                                  fixed(all > 0 ? 100 * row.seconds / all : 0, 1) + " %"});
  }
}

std::vector<TimingReport> timing_reports(const std::vector<Timing>& timings) {
  std::vector<TimingReport> reports;
  for (const Timing& row : timings) {
    reports.push_back({.operation = row.operation,
                       .calls = row.calls,
                       .forward_seconds = row.is_backward ? 0 : row.seconds,
                       .backward_seconds = row.is_backward ? row.seconds : 0});
  }
  return reports;
}

}  // namespace stagewise
