/// @file
/// Graphs node by node. What a node does is recorded as it would be in a captured stream, so that
/// it is checked in the same way and reported in the same words.
#include <algorithm>
#include <string>
#include <utility>

#include <cuda_runtime.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/stream.hpp"

namespace cuda_on_cpu {
namespace {

/// Where a new node goes, and behind which others.
struct Position {
  cudaGraphNode_t* made;
  cudaGraph_t graph;
  const cudaGraphNode_t* needs;
  std::size_t count;
};

/// Adds the node, whose name and needs are not set yet.
cudaError_t add(const Position& position, Node node) {
  if (position.made == nullptr || !exists(position.graph) || (position.count > 0 && position.needs == nullptr)) {
    return record(cudaErrorInvalidValue);
  }
  Nodes& nodes = position.graph->nodes;
  node.needs.clear();
  for (std::size_t i = 0; i < position.count; ++i) {
    const auto need = find_node(nodes, position.needs[i]);
    if (!need || std::ranges::count(node.needs, *need) > 0) return record(cudaErrorInvalidValue);
    node.needs.push_back(*need);
  }
  node.name = new_node_name();
  *position.made = to_handle(node);
  nodes.push_back(std::move(node));
  return cudaSuccess;
}

/// The node that the call becomes in a captured stream; an empty one if it has nothing to do.
template <class Enqueue>
cudaError_t recorded(Node& node, cudaGraphNodeType type, Enqueue enqueue) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  Nodes nodes;
  const cudaError_t error = record_nodes(enqueue, nodes);
  node = nodes.empty() ? Node{[] {}, {}} : std::move(nodes.front());
  node.type = type;
  return error;
}

cudaError_t kernel_node(const char* call, const cudaKernelNodeParams* p, Place place, Node& node) {
  if (p == nullptr) return record(cudaErrorInvalidValue);
  if (p->kernelParams == nullptr && p->extra != nullptr) {
    return refuse(place, std::string(call) + ": arguments are taken from kernelParams only, not from extra.",
                  cudaErrorNotSupported);
  }
  const auto bound = bind_kernel(call, p->func, p->kernelParams, place);
  if (bound == nullptr) return record(cudaErrorInvalidDeviceFunction);
  const cudaError_t error = recorded(node, cudaGraphNodeTypeKernel, [&](cudaStream_t stream) {
    const LaunchConfiguration configuration(p->gridDim, p->blockDim, p->sharedMemBytes, stream);
    return launch(function_name(p->func), configuration, place, *bound);
  });
  auto kernel = std::make_shared<KernelNode>();
  *kernel = {*p, bound, bound->arguments()};
  kernel->parameters.kernelParams = kernel->arguments.data();
  node.kernel = kernel;
  return error;
}

cudaError_t host_node(const cudaHostNodeParams* p, Node& node) {
  if (p == nullptr) return record(cudaErrorInvalidValue);
  return recorded(node, cudaGraphNodeTypeHost,
                  [&](cudaStream_t stream) { return cudaLaunchHostFunc(stream, p->fn, p->userData); });
}

/// Adds what `make(node)` makes of a node.
template <class Make>
cudaError_t add_made(const Position& position, Make make) {
  const std::lock_guard lock(engine());
  Node node;
  const cudaError_t error = make(node);
  return error != cudaSuccess ? error : add(position, std::move(node));
}

/// Adds the node that the call becomes.
template <class Enqueue>
cudaError_t add_recorded(const Position& position, cudaGraphNodeType type, Enqueue enqueue) {
  return add_made(position, [&](Node& node) { return recorded(node, type, enqueue); });
}

/// Gives a node of an instantiated graph something else to do. Launches that wait keep the old.
cudaError_t replace(cudaGraphExec_t executable, cudaGraphNode_t handle, const Node& by) {
  if (!exists(executable)) return record(cudaErrorInvalidValue);
  const auto place = find_node(*executable->nodes, handle);
  if (!place || (*executable->nodes)[*place].type != by.type) return record(cudaErrorInvalidValue);
  Nodes nodes = *executable->nodes;
  nodes[*place].work = by.work;
  nodes[*place].kernel = by.kernel;
  executable->nodes = std::make_shared<const Nodes>(std::move(nodes));
  return cudaSuccess;
}

/// As CUDA does: where there is no room, only the number is given.
cudaError_t list(const std::vector<cudaGraphNode_t>& found, cudaGraphNode_t* nodes, std::size_t* count) {
  if (count == nullptr) return record(cudaErrorInvalidValue);
  if (nodes != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) nodes[i] = i < found.size() ? found[i] : nullptr;
    *count = std::min(*count, found.size());
  } else {
    *count = found.size();
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                   std::size_t count, const cudaKernelNodeParams* parameters, Place place) {
  return add_made({made, graph, needs, count},
                  [&](Node& node) { return kernel_node("cudaGraphAddKernelNode()", parameters, place, node); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                   std::size_t count, const cudaMemcpy3DParms* parameters, Place place) {
  return add_recorded({made, graph, needs, count}, cudaGraphNodeTypeMemcpy, [&](cudaStream_t stream) {
    return copy_3d("cudaGraphAddMemcpyNode()", parameters, false, stream, place);
  });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                     std::size_t count, void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind, Place place) {
  const Box box = one_row(to, from, bytes);
  return add_recorded({made, graph, needs, count}, cudaGraphNodeTypeMemcpy, [&](cudaStream_t stream) {
    return copy_box("cudaGraphAddMemcpyNode1D()", box, kind, false, stream, place);
  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                   std::size_t count, const cudaMemsetParams* p, Place place) {
  if (p == nullptr) return record(cudaErrorInvalidValue);
  if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) {
    return refuse(
        place, "cudaGraphAddMemsetNode(): an element has 1, 2 or 4 bytes, not " + std::to_string(p->elementSize) + ".");
  }
  return add_recorded({made, graph, needs, count}, cudaGraphNodeTypeMemset, [&](cudaStream_t stream) {
    return fill_box("cudaGraphAddMemsetNode()", {static_cast<char*>(p->dst), p->pitch},
                    {p->width * p->elementSize, p->height}, p->value, p->elementSize, stream, place);
  });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                 std::size_t count, const cudaHostNodeParams* parameters) {
  return add_made({made, graph, needs, count}, [&](Node& node) { return host_node(parameters, node); });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                  std::size_t count) {
  const std::lock_guard lock(engine());
  return add({made, graph, needs, count}, Node{[] {}, {}});
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* made, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                       std::size_t count, cudaGraph_t child) {
  const std::lock_guard lock(engine());
  if (!exists(child)) return record(cudaErrorInvalidValue);
  const std::optional<Nodes> nodes = sorted(child->nodes);
  if (!nodes) return record(cudaErrorInvalidValue);
  const auto kept = std::make_shared<const Nodes>(*nodes);
  Node node{[kept] { run_graph(*kept); }, {}};
  node.type = cudaGraphNodeTypeGraph;
  return add({made, graph, needs, count}, std::move(node));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t handle, cudaKernelNodeParams* parameters) {
  const std::lock_guard lock(engine());
  const cudaGraph_t graph = graph_of(handle);
  if (graph == nullptr || parameters == nullptr) return record(cudaErrorInvalidValue);
  const Node& node = graph->nodes[*find_node(graph->nodes, handle)];
  if (node.type != cudaGraphNodeTypeKernel) return record(cudaErrorInvalidValue);
  if (node.kernel == nullptr) {
    return refuse({},
                  "cudaGraphKernelNodeGetParams(): the parameters of a launch that was captured are not "
                  "known.",
                  cudaErrorNotSupported);
  }
  *parameters = node.kernel->parameters;
  return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t handle, const cudaKernelNodeParams* parameters, Place place) {
  const std::lock_guard lock(engine());
  const cudaGraph_t graph = graph_of(handle);
  if (graph == nullptr) return record(cudaErrorInvalidValue);
  Node by;
  const cudaError_t error = kernel_node("cudaGraphKernelNodeSetParams()", parameters, place, by);
  if (error != cudaSuccess) return error;
  Node& node = graph->nodes[*find_node(graph->nodes, handle)];
  if (node.type != by.type) return record(cudaErrorInvalidValue);
  node.work = std::move(by.work);
  node.kernel = std::move(by.kernel);
  return cudaSuccess;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters, Place place) {
  const std::lock_guard lock(engine());
  Node by;
  const cudaError_t error = kernel_node("cudaGraphExecKernelNodeSetParams()", parameters, place, by);
  return error != cudaSuccess ? error : replace(executable, node, by);
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  const std::lock_guard lock(engine());
  Node by;
  const cudaError_t error = host_node(parameters, by);
  return error != cudaSuccess ? error : replace(executable, node, by);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  const std::lock_guard lock(engine());
  if (!exists(graph)) return record(cudaErrorInvalidValue);
  std::vector<cudaGraphNode_t> found;
  for (const Node& node : graph->nodes) found.push_back(to_handle(node));
  return list(found, nodes, count);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  const std::lock_guard lock(engine());
  if (!exists(graph)) return record(cudaErrorInvalidValue);
  std::vector<cudaGraphNode_t> found;
  for (const Node& node : graph->nodes) {
    if (node.needs.empty()) found.push_back(to_handle(node));
  }
  return list(found, nodes, count);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     std::size_t count) {
  const std::lock_guard lock(engine());
  if (!exists(graph)) return record(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = find_node(graph->nodes, from[i]);
    const auto end = find_node(graph->nodes, to[i]);
    if (!begin || !end || begin == end) return record(cudaErrorInvalidValue);
    std::vector<std::size_t>& needs = graph->nodes[*end].needs;
    if (std::ranges::count(needs, *begin) > 0) return record(cudaErrorInvalidValue);
    needs.push_back(*begin);
  }
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  const std::lock_guard lock(engine());
  const cudaGraph_t graph = graph_of(handle);
  if (graph == nullptr || type == nullptr) return record(cudaErrorInvalidValue);
  *type = graph->nodes[*find_node(graph->nodes, handle)].type;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  const std::lock_guard lock(engine());
  const cudaGraph_t graph = graph_of(handle);
  if (graph == nullptr) return record(cudaErrorInvalidValue);
  const std::size_t gone = *find_node(graph->nodes, handle);
  graph->nodes.erase(graph->nodes.begin() + static_cast<std::ptrdiff_t>(gone));
  for (Node& node : graph->nodes) {
    std::erase(node.needs, gone);
    for (std::size_t& need : node.needs) need -= need > gone ? 1 : 0;
  }
  return cudaSuccess;
}
