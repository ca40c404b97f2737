/// @file
/// Stream capture and graphs as a whole: recorded work, and what each piece of it needs to be done
/// before.

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <cuda_runtime_api.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/settings.hpp"
#include "cuda_on_cpu/stream.hpp"

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

/// Some order in which no node comes before one that it needs: as they were added, or, to show
/// dependencies that are missing, the last ones as early as can be, or at random. Nodes that need
/// each other are left out.
std::vector<std::size_t> order_of(const Nodes& nodes, ThreadOrder wanted) {
  std::vector<std::size_t> order;
  std::vector<bool> done(nodes.size());
  std::minstd_rand random(static_cast<unsigned>(settings().seed + counters().graph_launches));
  while (order.size() < nodes.size()) {
    std::vector<std::size_t> possible;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (done[i]) continue;
      if (std::ranges::all_of(nodes[i].needs, [&](std::size_t need) { return done[need]; })) {
        possible.push_back(i);
        if (wanted == ThreadOrder::forward) break;
      }
    }
    if (possible.empty()) break;
    std::size_t chosen = possible.front();
    if (wanted == ThreadOrder::reverse) chosen = possible.back();
    if (wanted == ThreadOrder::random) chosen = possible[random() % possible.size()];
    done[chosen] = true;
    order.push_back(chosen);
  }
  return order;
}

/// Whether two graphs have the same nodes and edges, up to what the nodes do.
cudaGraphExecUpdateResult compare(const Nodes& nodes, const Nodes& others) {
  if (!std::ranges::equal(nodes, others, {}, &Node::needs, &Node::needs))
    return cudaGraphExecUpdateErrorTopologyChanged;
  if (!std::ranges::equal(nodes, others, {}, &Node::type, &Node::type)) return cudaGraphExecUpdateErrorNodeTypeChanged;
  return cudaGraphExecUpdateSuccess;
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

bool exists(cudaGraph_t graph) { return graphs().graphs.contains(graph); }

bool exists(cudaGraphExec_t executable) { return graphs().executables.contains(executable); }

cudaGraph_t new_graph(Nodes nodes) {
  auto* const graph = new CUgraph_st{std::move(nodes)};
  graphs().graphs.insert(graph);
  return graph;
}

cudaGraphNode_t to_handle(const Node& node) { return reinterpret_cast<cudaGraphNode_t>(node.name); }

std::optional<std::size_t> find_node(const Nodes& nodes, cudaGraphNode_t node) {
  const auto is_it = [&](const Node& other) { return to_handle(other) == node; };
  const auto found = std::ranges::find_if(nodes, is_it);
  if (found == nodes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - nodes.begin());
}

cudaGraph_t graph_of(cudaGraphNode_t node) {
  const auto owns = [&](cudaGraph_t graph) { return find_node(graph->nodes, node).has_value(); };
  const auto found = std::ranges::find_if(graphs().graphs, owns);
  return found == graphs().graphs.end() ? nullptr : *found;
}

std::optional<Nodes> sorted(const Nodes& nodes) {
  const std::vector<std::size_t> order = order_of(nodes, ThreadOrder::forward);
  if (order.size() < nodes.size()) return std::nullopt;
  std::vector<std::size_t> place(nodes.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  Nodes result;
  for (const std::size_t i : order) {
    result.push_back(nodes[i]);
    for (std::size_t& need : result.back().needs) need = place[need];
    std::ranges::sort(result.back().needs);
  }
  return result;
}

void run_graph(const Nodes& nodes) {
  if (settings().thread_order == ThreadOrder::forward) {
    for (const Node& node : nodes) perform(node.work);
    return;
  }
  for (const std::size_t i : order_of(nodes, settings().thread_order)) perform(nodes[i].work);
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  Stream* const stream = find_stream(handle);
  if (stream == nullptr) return record(cudaErrorInvalidResourceHandle);
  if (stream->legacy) {
    return refuse({}, "the default stream cannot be captured; create one.", cudaErrorStreamCaptureUnsupported);
  }
  if (stream->capture != nullptr) return record(cudaErrorIllegalState);
  auto capture = std::make_shared<Capture>();
  capture->origin = stream;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
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
  *graph = new_graph(capture->nodes);
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  const Stream* const stream = find_stream(handle);
  if (stream == nullptr) return record(cudaErrorInvalidResourceHandle);
  *status = cudaStreamCaptureStatusNone;
  if (stream->capture != nullptr) {
    *status = stream->capture->invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
  }
  return cudaSuccess;
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (graph == nullptr || flags != 0) return record(cudaErrorInvalidValue);
  *graph = new_graph({});
  return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  const std::lock_guard lock(engine());
  if (clone == nullptr || !exists(original)) return record(cudaErrorInvalidValue);
  Nodes nodes = original->nodes;
  for (Node& node : nodes) {
    node.original = node.name;
    node.name = new_node_name();
  }
  *clone = new_graph(std::move(nodes));
  return cudaSuccess;
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  const std::lock_guard lock(engine());
  if (node == nullptr || !exists(clone)) return record(cudaErrorInvalidValue);
  const auto name = reinterpret_cast<std::uintptr_t>(original);
  const auto found = std::ranges::find(clone->nodes, name, &Node::original);
  if (name == 0 || found == clone->nodes.end()) return record(cudaErrorInvalidValue);
  *node = to_handle(*found);
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const std::lock_guard lock(engine());
  if (graphs().graphs.erase(graph) == 0) return record(cudaErrorInvalidValue);
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long /*flags*/) {
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (executable == nullptr || !exists(graph)) return record(cudaErrorInvalidValue);
  const std::optional<Nodes> nodes = sorted(graph->nodes);
  if (!nodes) {
    return refuse({}, "cudaGraphInstantiate(): nodes of the graph need each other in a circle.");
  }
  *executable = new CUgraphExec_st{std::make_shared<const Nodes>(*nodes)};
  graphs().executables.insert(*executable);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t* /*error_node*/,
                                 char* /*log*/, std::size_t /*log_bytes*/) {
  return cudaGraphInstantiate(executable, graph, 0);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t /*stream*/) {
  const std::lock_guard lock(engine());
  return exists(executable) ? sticky_error() : record(cudaErrorInvalidValue);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const std::lock_guard lock(engine());
  if (!exists(executable)) return record(cudaErrorInvalidValue);
  const auto run = [nodes = executable->nodes] {
    ++counters().graph_launches;
    run_graph(*nodes);
  };
  return record(submit(
      stream, run, [&]() -> Work { return run; }, cudaGraphNodeTypeGraph));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result) {
  const std::lock_guard lock(engine());
  if (!exists(executable) || !exists(graph)) {
    return record(cudaErrorInvalidValue);
  }
  std::optional<Nodes> nodes = sorted(graph->nodes);
  const cudaGraphExecUpdateResult found = nodes ? compare(*nodes, *executable->nodes) : cudaGraphExecUpdateError;
  if (result != nullptr) *result = {found, nullptr, nullptr};
  if (found != cudaGraphExecUpdateSuccess) return record(cudaErrorGraphExecUpdateFailure);
  // The handles of its nodes stay those of the graph that it was made from.
  for (std::size_t i = 0; i < nodes->size(); ++i) (*nodes)[i].name = (*executable->nodes)[i].name;
  executable->nodes = std::make_shared<const Nodes>(std::move(*nodes));
  return cudaSuccess;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo information{};
  const cudaError_t error = cudaGraphExecUpdate(executable, graph, &information);
  if (error_node != nullptr) *error_node = information.errorNode;
  if (result != nullptr) *result = information.result;
  return error;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const std::lock_guard lock(engine());
  if (graphs().executables.erase(executable) == 0) return record(cudaErrorInvalidValue);
  delete executable;
  return cudaSuccess;
}
