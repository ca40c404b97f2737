/// @file
/// Streams, events and graphs. Work runs when it is enqueued; with lazy streams it is kept until
/// somebody waits for it, and while a stream is being captured it becomes a node of a graph.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cuda_on_cpu/kernel.hpp"
#include "cuda_on_cpu/stream_clock.hpp"

namespace cuda_on_cpu {

using Work = std::function<void()>;
struct Stream;

/// A kernel's node, as far as its parameters can be asked for.
struct KernelNode {
  cudaKernelNodeParams parameters{};
  std::shared_ptr<const KernelCall> call;
  std::vector<void*> arguments;  ///< of the call
};

/// A node of a graph: its work and the nodes that it needs, by their places.
struct Node {
  Work work;
  std::vector<std::size_t> needs;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::size_t name = 0;                      ///< unique; stands behind the handle
  std::size_t original = 0;                  ///< whose clone it is
  std::shared_ptr<const KernelNode> kernel;  ///< null unless it was added as one
};
using Nodes = std::vector<Node>;

/// A capture under way. The streams that take part share it.
struct Capture {
  Stream* origin = nullptr;  ///< not to be used once it has ended
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;  ///< that began it
  bool invalid = false;
  bool ended = false;  ///< events may still know of it
  Nodes nodes;
  std::vector<Stream*> streams;
};

/// A place in a stream's work: the first `position` pieces of it. It may outlive the stream's
/// handle.
struct Mark {
  std::shared_ptr<Stream> stream;
  std::uint64_t position = 0;
};

/// What a cudaStream_t stands for.
struct Stream : std::enable_shared_from_this<Stream> {
  int device = 0;
  unsigned flags = 0;
  bool legacy = false;

  // Work that waits, in lazy streams.
  std::deque<Work> waiting;
  std::uint64_t enqueued = 0;
  std::uint64_t done = 0;

  // While accesses are checked: what is over when its next piece begins, and its last piece.
  StreamClock clock;
  PieceNumber last;

  // While it is being captured: the nodes that the next one needs.
  std::shared_ptr<Capture> capture;
  std::vector<std::size_t> last_nodes;
};

/// One mutex for all of the device: whoever enqueues work also runs it, and keeps it for as long as a kernel runs.
/// Threads of kernels exclude one another by one of their own.
std::recursive_mutex& engine();

/// The stream behind a handle. `at_once` says whether its work is to run now; if not, it is to be
/// given to keep().
struct OpenStream {
  cudaError_t error;
  Stream* stream = nullptr;
  bool at_once = false;
};
/// Finds it, unless there is an error.
OpenStream open_stream(cudaStream_t handle);
/// Adds work to a lazy stream, or a node to the graph that is being captured.
void keep(Stream& stream, Work work, cudaGraphNodeType type = cudaGraphNodeTypeEmpty);
/// A piece of work begins at once; its accesses may be checked.
void begin_piece(Stream& stream);
/// The host has waited for the stream, or for what the clock knows; only of interest to checks.
void note_wait(Stream& stream);
void note_wait(const StreamClock& clock);
/// Likewise for all streams of all devices.
void note_wait_for_all();
/// What is over when the next piece of the stream begins.
StreamClock clock_of(Stream& stream);
/// Runs the work with device memory readable, unless the device is spoilt.
void perform(const std::function<void()>& work);

/// What a kernel launches, or copies, waits for the end of its grid, which is over when that is.
void run_after_grid(cudaStream_t stream, Work work);

/// Does work in a stream: `now()`, or what `later()` makes of it. As a node it has the type.
template <class Now, class Later>
cudaError_t submit(cudaStream_t handle, Now now, Later later, cudaGraphNodeType type = cudaGraphNodeTypeEmpty) {
  if (runs_in_kernel()) {
    run_after_grid(handle, later());
    return cudaSuccess;
  }
  const std::lock_guard lock(engine());
  const auto [error, stream, at_once] = open_stream(handle);
  if (error != cudaSuccess) return error;
  if (at_once) {
    begin_piece(*stream);
    perform(std::ref(now));
  } else {
    keep(*stream, later(), type);
  }
  return cudaSuccess;
}

/// Records what `enqueue(stream)` does as nodes of a graph that need nothing.
cudaError_t record_nodes(const std::function<cudaError_t(cudaStream_t)>& enqueue, Nodes& nodes);
/// From now on the stream 0 is each thread's own.
void use_default_stream_of_thread();
/// A name for a new node.
std::size_t new_node_name();

/// For calls that wait for the device, or may: an error if a capture forbids it.
cudaError_t may_wait(const char* call);
/// Waits for the stream's work (all streams' for null) and returns the device's error.
cudaError_t wait_for(cudaStream_t handle);
/// Does all work of all streams.
void wait_for_device();

/// Drops all work, for cudaDeviceReset().
void reset_streams();

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
  Mark mark;          ///< its place in a stream, while that has not come there
  StreamClock clock;  ///< what was to be over when it was recorded
  std::chrono::steady_clock::time_point time;
  std::shared_ptr<Capture> capture;     ///< in which it was last recorded
  std::vector<std::size_t> last_nodes;  ///< and after which of its nodes
};

/// Null if there is none behind the handle. Work that waits shares the event, which may be
/// destroyed before.
std::shared_ptr<Event> find_event(cudaEvent_t handle);

/// The call of a kernel by its address; null, with a sentence, if nothing is known about it.
std::shared_ptr<const KernelCall> bind_kernel(const char* call, const void* kernel, void** arguments, Place place);

/// Whether there is such a graph, such a copy of one.
bool exists(cudaGraph_t graph);
bool exists(cudaGraphExec_t executable);
/// Gives the nodes to a new graph.
cudaGraph_t new_graph(Nodes nodes);
/// The place of a node among others; nothing if it is not one of them.
std::optional<std::size_t> find_node(const Nodes& nodes, cudaGraphNode_t node);
/// The graph that a node belongs to; null if there is none.
cudaGraph_t graph_of(cudaGraphNode_t node);
cudaGraphNode_t to_handle(const Node& node);

/// The nodes, each behind those that it needs; nothing if they need each other in a circle.
std::optional<Nodes> sorted(const Nodes& nodes);
/// Runs sorted nodes.
void run_graph(const Nodes& nodes);

}  // namespace cuda_on_cpu

/// What a cudaGraph_t stands for.
struct CUgraph_st {
  cuda_on_cpu::Nodes nodes;
};
/// What a cudaGraphExec_t stands for: nodes in an order in which none comes before one it needs.
struct CUgraphExec_st {
  std::shared_ptr<const cuda_on_cpu::Nodes> nodes;
};
