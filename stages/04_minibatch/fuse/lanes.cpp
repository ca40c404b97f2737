#include <algorithm>
#include <map>

#include "04_minibatch/fuse/fuse.hpp"
#include "network/dependencies.hpp"

namespace stagewise::minibatch {
namespace {

/// Which worker a line belongs to; -1 for what is everybody's.
int worker_of(const Program& program, const Line& line) {
  int worker = -1;
  for (const ValueId id : written_by(line.operation)) {
    const Part& part = program[id].part;
    if (part.count > 1) worker = std::max(worker, part.index);
  }
  return worker;
}

/// Whether the rest of its step can go on without waiting for a line: it may have a side stream.
bool fits_side_stream(const Line& line) {
  return is_a<LinearGradients, AddPartials>(line.operation);
}

/// Whether a line is worth a side stream beside it: neither the little that the totals take, nor
/// what stands at a step's end.
bool is_long(const Line& line) {
  return !is_a<AddPartials, AddShares, SgdUpdate, MomentumUpdate, AdamUpdate, UpdateBySum>(
             line.operation) &&
         !is_exchange(line.operation);
}

/// A lane for each worker, the first one's being everybody's, and one beside it for each.
std::map<int, int> lanes_of_workers(const Program& program) {
  std::map<int, int> lanes = {{-1, 0}};
  int next = 0;
  for (const Line& line : program.lines) {
    if (lanes.try_emplace(worker_of(program, line), next).second) next += 2;
  }
  return lanes;
}

/// Leaves no lane out: each costs a stream and a workspace.
void number_lanes(Program& program) {
  std::map<int, int> numbers = {{0, 0}};
  for (Line& line : program.lines) {
    line.lane = numbers.try_emplace(line.lane, static_cast<int>(numbers.size())).first->second;
  }
}

}  // namespace

//! [assign_lanes]
Program assign_lanes(const Program& program) {
  Program result = program;
  const Dependencies dependencies(program);
  const std::map<int, int> lanes = lanes_of_workers(program);
  const int exchange = 2 * static_cast<int>(lanes.size());
  for (Line& line : result.lines) line.lane = lanes.at(worker_of(program, line));

  for (std::size_t i = 0; i < result.lines.size(); ++i) {
    Line& line = result.lines[i];
    if (is_exchange(line.operation)) {
      // A gradient's sum has until the update; what is on the way forward is waited for at once.
      const bool has_time = program[read_by(line.operation).front()].role == Role::gradient;
      line.lane = has_time ? exchange : 0;
    } else if (fits_side_stream(line)) {
      // The totals may come any time; the last gradient has nothing left to run beside.
      const bool is_late = std::holds_alternative<AddPartials>(line.operation);
      const int lane = line.lane;
      for (std::size_t k = is_late ? 0 : i + 1; k < result.lines.size(); ++k) {
        const bool is_beside = is_long(result.lines[k]) && result.lines[k].lane == lane &&
                               !dependencies.follows(k, i) && !dependencies.follows(i, k);
        if (is_beside && k != i) line.lane = lane + 1;
      }
    }
  }
  number_lanes(result);
  for (std::size_t i = 0; i < result.lines.size(); ++i) {
    for (const std::size_t before : dependencies.of(i)) {
      if (result.lines[before].lane == result.lines[i].lane) continue;
      result.lines[i].waits_for.push_back(before);
      result.lines[before].is_awaited = true;
    }
  }
  return result;
}
//! [assign_lanes]

}  // namespace stagewise::minibatch
