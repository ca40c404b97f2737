#include <vector>

#include "runtime.hpp"

namespace cuda_on_cpu {
namespace {

void add(int* x, int y) {
  x[threadIdx.x] += y;
}
void multiply(int* x, int y) {
  x[threadIdx.x] *= y;
}

class GraphNodes : public RuntimeTest {
 protected:
  void SetUp() override { ASSERT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess); }
  void TearDown() override {
    if (executable_ != nullptr) {
      OK(cudaGraphExecDestroy(executable_));
    }
    OK(cudaGraphDestroy(graph_));
    RuntimeTest::TearDown();
  }

  /// A node that runs the kernel on x, behind others.
  cudaGraphNode_t append(void (*kernel)(int*, int), int y,
                         const std::vector<cudaGraphNode_t>& needs = {}) {
    cudaGraphNode_t node = nullptr;
    const cudaKernelNodeParams parameters = launch(kernel, y);
    OK(cudaGraphAddKernelNode(&node, graph_, needs.data(), needs.size(), &parameters));
    return node;
  }

  cudaKernelNodeParams launch(void (*kernel)(int*, int), int y) {
    y_ = y;
    return {untyped(kernel), dim3(1), dim3(2), 0, arguments_, nullptr};
  }

  void instantiate() { OK(cudaGraphInstantiate(&executable_, graph_, nullptr, nullptr, 0)); }

  std::vector<int> result() {
    OK(cudaGraphLaunch(executable_, nullptr));
    return from_device(x_, 2);
  }

  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  int* x_ = on_device(std::vector<int>{1, 2});
  int y_ = 0;
  void* arguments_[2] = {&x_, &y_};
};

TEST_F(GraphNodes, RunBehindWhatTheyNeed) {
  const cudaGraphNode_t last = append(add, 1);
  const cudaGraphNode_t first = append(multiply, 10);
  OK(cudaGraphAddDependencies(graph_, &first, &last, 1));
  instantiate();
  std::vector<int> expected{1, 2};
  for (const ThreadOrder order :
       {ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::random}) {
    settings().thread_order = order;
    for (int& value : expected) value = 10 * value + 1;
    EXPECT_EQ(result(), expected);
  }
}

TEST_F(GraphNodes, MayNotNeedEachOther) {
  const cudaGraphNode_t one = append(add, 1);
  const cudaGraphNode_t other = append(add, 2, {one});
  OK(cudaGraphAddDependencies(graph_, &other, &one, 1));
  const Outcome outcome = outcome_of(
      [&] { EXPECT_EQ(cudaGraphInstantiate(&executable_, graph_, 0), cudaErrorInvalidValue); });
  expect_says(outcome, {"need each other in a circle"});
}

TEST_F(GraphNodes, KeepTheirArgumentsAndTakeOthers) {
  const cudaGraphNode_t node = append(add, 5);
  y_ = 1000;  // the node has its own copy
  instantiate();
  EXPECT_EQ(result(), (std::vector<int>{6, 7}));
  const cudaKernelNodeParams other = launch(multiply, 3);
  OK(cudaGraphExecKernelNodeSetParams(executable_, node, &other));
  EXPECT_EQ(result(), (std::vector<int>{18, 21}));
  const cudaHostNodeParams host{[](void*) {}, nullptr};
  EXPECT_EQ(cudaGraphExecHostNodeSetParams(executable_, node, &host), cudaErrorInvalidValue);
}

TEST_F(GraphNodes, AreUpdatedFromAGraphOfTheSameShape) {
  append(add, 1, {append(multiply, 2)});
  instantiate();
  cudaGraph_t clone = nullptr;
  OK(cudaGraphClone(&clone, graph_));
  cudaGraphNode_t nodes[2];
  std::size_t count = 2;
  OK(cudaGraphGetNodes(clone, nodes, &count));
  const cudaKernelNodeParams other = launch(add, 100);
  OK(cudaGraphKernelNodeSetParams(nodes[1], &other));
  cudaGraphExecUpdateResultInfo information{};
  OK(cudaGraphExecUpdate(executable_, clone, &information));
  EXPECT_EQ(result(), (std::vector<int>{102, 104}));
  OK(cudaGraphDestroyNode(nodes[1]));
  cudaGraphExecUpdateResult why = cudaGraphExecUpdateSuccess;
  cudaGraphNode_t where = nullptr;
  EXPECT_EQ(cudaGraphExecUpdate(executable_, clone, &where, &why), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(why, cudaGraphExecUpdateErrorTopologyChanged);
  OK(cudaGraphDestroy(clone));
  cudaGetLastError();
}

TEST_F(GraphNodes, CopyFillAndCallTheHost) {
  int* pinned = nullptr;
  OK(cudaMallocHost(&pinned, 4 * sizeof(int)));
  pinned[0] = pinned[1] = 7;
  cudaGraphNode_t in = nullptr;
  cudaGraphNode_t fill = nullptr;
  cudaGraphNode_t out = nullptr;
  cudaGraphNode_t host = nullptr;
  OK(cudaGraphAddMemcpyNode1D(&in, graph_, nullptr, 0, x_, pinned, 2 * sizeof(int),
                              cudaMemcpyHostToDevice));
  const cudaMemsetParams one_of_bytes{x_, 0, 1, 1, 4, 1};
  OK(cudaGraphAddMemsetNode(&fill, graph_, &in, 1, &one_of_bytes));
  const cudaGraphNode_t kernel = append(add, 1, {fill});
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(x_, 8, 2, 1);
  copy.dstPtr = make_cudaPitchedPtr(pinned, 8, 2, 1);
  copy.extent = make_cudaExtent(8, 1, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  OK(cudaGraphAddMemcpyNode(&out, graph_, &kernel, 1, &copy));
  cudaHostNodeParams call{};
  call.fn = [](void* data) { static_cast<int*>(data)[2] += static_cast<int*>(data)[1]; };
  call.userData = pinned;
  OK(cudaGraphAddHostNode(&host, graph_, &out, 1, &call));
  std::size_t roots = 0;
  OK(cudaGraphGetRootNodes(graph_, nullptr, &roots));
  EXPECT_EQ(roots, 1U);
  cudaGraphNodeType type = cudaGraphNodeTypeKernel;
  OK(cudaGraphNodeGetType(fill, &type));
  EXPECT_EQ(type, cudaGraphNodeTypeMemset);

  pinned[2] = 100;
  instantiate();
  EXPECT_EQ(result(), (std::vector<int>{0x01010102, 8}));
  EXPECT_EQ(std::vector<int>(pinned, pinned + 3), (std::vector<int>{0x01010102, 8, 108}));

  cudaGraph_t clone = nullptr;
  cudaGraphNode_t in_clone = nullptr;
  cudaKernelNodeParams kept{};
  OK(cudaGraphClone(&clone, graph_));
  OK(cudaGraphNodeFindInClone(&in_clone, kernel, clone));
  OK(cudaGraphKernelNodeGetParams(in_clone, &kept));
  EXPECT_EQ(kept.func, untyped(add));
  EXPECT_EQ(*static_cast<int*>(kept.kernelParams[1]), 1);
  EXPECT_EQ(cudaGraphAddKernelNode(&host, clone, &kernel, 1, &kept), cudaErrorInvalidValue)
      << "a node of another graph";
  OK(cudaGraphDestroy(clone));
  cudaGetLastError();
}

TEST_F(GraphNodes, CanBeGraphs) {
  append(add, 1);
  cudaGraph_t outer = nullptr;
  OK(cudaGraphCreate(&outer, 0));
  cudaGraphNode_t one = nullptr;
  cudaGraphNode_t two = nullptr;
  OK(cudaGraphAddChildGraphNode(&one, outer, nullptr, 0, graph_));
  OK(cudaGraphAddChildGraphNode(&two, outer, &one, 1, graph_));
  OK(cudaGraphInstantiateWithFlags(&executable_, outer, 0));
  EXPECT_EQ(result(), (std::vector<int>{3, 4}));
  OK(cudaGraphDestroy(outer));
}

TEST_F(GraphNodes, AreCheckedWhenTheyAreAdded) {
  cudaGraphNode_t node = nullptr;
  cudaKernelNodeParams parameters = launch(add, 1);
  parameters.blockDim = dim3(2048);
  cudaError_t error = cudaSuccess;
  const Outcome launch_outcome =
      outcome_of([&] { error = cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &parameters); });
  EXPECT_EQ(error, cudaErrorInvalidConfiguration);
  expect_says(launch_outcome, {here(__LINE__ - 2), "has 2048 threads"});
  x_ = on_device(std::vector<int>{1, 2});
  const cudaMemsetParams fill{x_, 0, 0, 4, 3, 1};
  const Outcome fill_outcome = outcome_of([&] {
    EXPECT_EQ(cudaGraphAddMemsetNode(&node, graph_, nullptr, 0, &fill), cudaErrorInvalidValue);
  });
  expect_says(fill_outcome, {"cudaGraphAddMemsetNode()", "but 12 are to be written"});
}

}  // namespace
}  // namespace cuda_on_cpu
