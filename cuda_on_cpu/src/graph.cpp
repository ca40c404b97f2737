/// @file
/// Stream capture and graphs: recorded work, and what each piece of it needs to be done before.
#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/error.hpp"
#include "cuda_on_cpu/event.hpp"
#include "cuda_on_cpu/settings.hpp"
#include "cuda_on_cpu/stream.hpp"

struct CUgraph_st {
  cuda_on_cpu::Nodes nodes;
};
struct CUgraphExec_st {
  std::shared_ptr<const cuda_on_cpu::Nodes> nodes;
};

namespace cuda_on_cpu {
namespace {

struct Graphs {
  std::set<cudaGraph_t> graphs;
  std::set<cudaGraphExec_t> executables;
};
Graphs& graphs() {
  static auto* const graphs = new Graphs;
  return *graphs;
}

/// Some order in which no node comes before one that it needs: as they were captured, or, to show
/// dependencies that are missing, the last ones as early as can be, or at random.
std::vector<std::size_t> order_of(const Nodes& nodes) {
  std::vector<std::size_t> order;
  std::vector<bool> done(nodes.size());
  std::minstd_rand random(static_cast<unsigned>(settings().seed + counters().graph_launches));
  const ThreadOrder wanted = settings().thread_order;
  while (order.size() < nodes.size()) {
    std::vector<std::size_t> possible;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (done[i]) continue;
      if (std::ranges::all_of(nodes[i].needs, [&](std::size_t need) { return done[need]; })) {
        possible.push_back(i);
        if (wanted == ThreadOrder::forward) break;
      }
    }
    std::size_t chosen = possible.front();
    if (wanted == ThreadOrder::reverse) chosen = possible.back();
    if (wanted == ThreadOrder::random) chosen = possible[random() % possible.size()];
    done[chosen] = true;
    order.push_back(chosen);
  }
  return order;
}

void run_graph(const Nodes& nodes) {
  if (settings().thread_order == ThreadOrder::forward) {
    for (const Node& node : nodes) perform(node.work);
    return;
  }
  for (const std::size_t i : order_of(nodes)) perform(nodes[i].work);
}

/// Whether all nodes are needed, directly or not, by the last ones of the stream.
bool all_joined(const Capture& capture, const std::vector<std::size_t>& last_nodes) {
  std::vector<bool> needed(capture.nodes.size());
  std::vector<std::size_t> open = last_nodes;
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    if (needed[node]) continue;
    needed[node] = true;
    for (const std::size_t need : capture.nodes[node].needs) open.push_back(need);
  }
  for (const Stream* const stream : capture.streams) {
    for (const std::size_t node : stream->last_nodes) {
      if (!needed[node]) return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  Stream* const stream = find_stream(handle);
  if (stream == nullptr) return record(cudaErrorInvalidResourceHandle);
  if (stream->legacy) {
    report("the default stream cannot be captured; create one.");
    return record(cudaErrorStreamCaptureUnsupported);
  }
  if (stream->capture != nullptr) return record(cudaErrorIllegalState);
  auto capture = std::make_shared<Capture>();
  capture->origin = stream;
  capture->mode = mode;
  capture->thread = std::hash<std::thread::id>()(std::this_thread::get_id());
  capture->streams.push_back(stream);
  stream->capture = capture;
  stream->last_nodes.clear();
  register_capture(*capture);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  const std::lock_guard lock(engine());
  if (graph != nullptr) *graph = nullptr;
  if (sticky_error() != cudaSuccess) return sticky_error();
  Stream* const stream = find_stream(handle);
  if (stream == nullptr || graph == nullptr) return record(cudaErrorInvalidValue);
  if (stream->capture == nullptr) return record(cudaErrorIllegalState);
  const std::shared_ptr<Capture> capture = stream->capture;
  cudaError_t error = cudaSuccess;
  if (capture->origin != stream) {
    capture->invalid = true;
    return record(cudaErrorStreamCaptureUnmatched);
  }
  if (capture->invalid) {
    error = cudaErrorStreamCaptureInvalidated;
  } else if (!all_joined(*capture, stream->last_nodes)) {
    error = cudaErrorStreamCaptureUnjoined;
    report(
        "the capture has ended while another stream has work in it that the captured stream does "
        "not wait for; record an event there and call cudaStreamWaitEvent() before.");
  }
  end_capture(*capture);
  if (error != cudaSuccess) return record(error);
  *graph = new CUgraph_st{capture->nodes};
  graphs().graphs.insert(*graph);
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  const Stream* const stream = find_stream(handle);
  if (stream == nullptr) return record(cudaErrorInvalidResourceHandle);
  *status = cudaStreamCaptureStatusNone;
  if (stream->capture != nullptr) {
    *status = stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                       : cudaStreamCaptureStatusActive;
  }
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  std::swap(current, *mode);
  return cudaSuccess;
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned /*flags*/) {
  const std::lock_guard lock(engine());
  *graph = new CUgraph_st;
  graphs().graphs.insert(*graph);
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const std::lock_guard lock(engine());
  if (graphs().graphs.erase(graph) == 0) return record(cudaErrorInvalidValue);
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  const std::lock_guard lock(engine());
  if (!graphs().graphs.contains(graph)) return record(cudaErrorInvalidValue);
  if (nodes != nullptr) {
    for (std::size_t i = 0; i < std::min(*count, graph->nodes.size()); ++i) {
      nodes[i] = reinterpret_cast<cudaGraphNode_t>(&graph->nodes[i]);
    }
  }
  *count = graph->nodes.size();
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long /*flags*/) {
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (executable == nullptr || !graphs().graphs.contains(graph))
    return record(cudaErrorInvalidValue);
  *executable = new CUgraphExec_st{std::make_shared<const Nodes>(graph->nodes)};
  graphs().executables.insert(*executable);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 cudaGraphNode_t* /*error_node*/, char* /*log*/,
                                 std::size_t /*log_bytes*/) {
  return cudaGraphInstantiate(executable, graph, 0);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t /*stream*/) {
  const std::lock_guard lock(engine());
  return graphs().executables.contains(executable) ? sticky_error() : record(cudaErrorInvalidValue);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const std::lock_guard lock(engine());
  if (!graphs().executables.contains(executable)) return record(cudaErrorInvalidValue);
  const auto run = [nodes = executable->nodes] {
    ++counters().graph_launches;
    run_graph(*nodes);
  };
  return record(submit(stream, run, [&]() -> Work { return run; }));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  const std::lock_guard lock(engine());
  if (!graphs().executables.contains(executable) || !graphs().graphs.contains(graph)) {
    return record(cudaErrorInvalidValue);
  }
  const bool same =
      std::ranges::equal(graph->nodes, *executable->nodes,
                         [](const Node& a, const Node& b) { return a.needs == b.needs; });
  if (result != nullptr) {
    *result = {same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged, nullptr,
               nullptr};
  }
  if (!same) return record(cudaErrorGraphExecUpdateFailure);
  executable->nodes = std::make_shared<const Nodes>(graph->nodes);
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const std::lock_guard lock(engine());
  if (graphs().executables.erase(executable) == 0) return record(cudaErrorInvalidValue);
  delete executable;
  return cudaSuccess;
}
