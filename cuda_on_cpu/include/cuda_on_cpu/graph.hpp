/// @file
/// Graphs: nodes in the order in which they were added, and copies of them that can be launched.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "cuda_on_cpu/kernel.hpp"
#include "cuda_on_cpu/stream.hpp"

/// What a cudaGraph_t stands for.
struct CUgraph_st {
  cuda_on_cpu::Nodes nodes;
};
/// What a cudaGraphExec_t stands for: nodes in an order in which none comes before one it needs.
struct CUgraphExec_st {
  std::shared_ptr<const cuda_on_cpu::Nodes> nodes;
};

namespace cuda_on_cpu {

/// The call of a kernel by its address; null, with a sentence, if nothing is known about it.
std::shared_ptr<const KernelCall> bind_kernel(const char* call, const void* kernel,
                                              void** arguments, Place place);

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
