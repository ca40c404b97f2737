/// @file
/// What streams and events know of each other.
#pragma once

#include "cuda_on_cpu/stream.hpp"

namespace cuda_on_cpu {

/// Null if there is none behind the handle.
Stream* find_stream(cudaStream_t handle);
/// Does the stream's work up to the mark.
void run_until(const Mark& mark);
/// A destroyed stream has done all its work: its events have happened.
void forget_stream_in_events(const Stream& stream);
/// Captures under way forbid some calls.
void register_capture(Capture& capture);
/// The streams that took part are no longer being captured.
void end_capture(Capture& capture);

/// What a cudaEvent_t stands for.
struct Event {
  unsigned flags = 0;
  bool recorded = false;
  Mark mark;  ///< its place in a stream, while that has not come there
  std::chrono::steady_clock::time_point time;
  std::shared_ptr<Capture> capture;     ///< in which it was last recorded
  std::vector<std::size_t> last_nodes;  ///< and after which of its nodes
};

/// Null if there is none behind the handle. Work that waits shares the event, which may be
/// destroyed before.
std::shared_ptr<Event> find_event(cudaEvent_t handle);

}  // namespace cuda_on_cpu
