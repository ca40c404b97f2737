// A graph built node by node: copy in, two kernels side by side, a sum, copy out, a host node. Then changed and cloned.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define check(call) do { cudaError_t s = (call); if (s != cudaSuccess) { \
    fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(s)); exit(1); } } while (0)

__global__ void scale(float* out, const float* in, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * in[i];
}
__global__ void add(float* out, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += a[i] + b[i];
}

struct Report { const float* values; int n; int calls; double last; };
void CUDART_CB sum_up(void* data) {
  Report* r = (Report*)data;
  r->last = 0;
  for (int i = 0; i < r->n; i++) r->last += r->values[i];
  r->calls++;
}

int main() {
  const int n = 1000;
  const size_t bytes = n * sizeof(float);
  float *x, *a, *b, *y, *h_x, *h_y;
  check(cudaMalloc(&x, bytes)); check(cudaMalloc(&a, bytes)); check(cudaMalloc(&b, bytes)); check(cudaMalloc(&y, bytes));
  check(cudaMallocHost(&h_x, bytes)); check(cudaMallocHost(&h_y, bytes));
  for (int i = 0; i < n; i++) h_x[i] = i % 10;

  cudaGraph_t graph;
  cudaGraphNode_t copy_in, clear, twice, thrice, sum, copy_out, host;
  check(cudaGraphCreate(&graph, 0));
  check(cudaGraphAddMemcpyNode1D(&copy_in, graph, NULL, 0, x, h_x, bytes, cudaMemcpyHostToDevice));
  cudaMemsetParams fill = {};
  fill.dst = y; fill.value = 0x3f800000; fill.elementSize = 4; fill.width = n; fill.height = 1;  // 1.0f
  check(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill));

  float two = 2.0f, three = 3.0f;
  int count = n;
  void* args2[] = {&a, &x, &two, &count};
  void* args3[] = {&b, &x, &three, &count};
  cudaKernelNodeParams p = {};
  p.func = (void*)scale;
  p.gridDim = dim3((n + 255) / 256);
  p.blockDim = dim3(256);
  p.kernelParams = args2;
  check(cudaGraphAddKernelNode(&twice, graph, &copy_in, 1, &p));
  p.kernelParams = args3;
  check(cudaGraphAddKernelNode(&thrice, graph, &copy_in, 1, &p));
  void* args[] = {(void*)&y, (void*)&a, (void*)&b, (void*)&count};
  p.func = (void*)add;
  p.kernelParams = (void**)args;
  std::vector<cudaGraphNode_t> needs = {twice, thrice, clear};
  check(cudaGraphAddKernelNode(&sum, graph, needs.data(), needs.size(), &p));

  cudaMemcpy3DParms out = {0};
  out.srcPtr = make_cudaPitchedPtr(y, bytes, n, 1);
  out.dstPtr = make_cudaPitchedPtr(h_y, bytes, n, 1);
  out.extent = make_cudaExtent(bytes, 1, 1);
  out.kind = cudaMemcpyDeviceToHost;
  check(cudaGraphAddMemcpyNode(&copy_out, graph, &sum, 1, &out));
  Report report = {h_y, n, 0, 0};
  cudaHostNodeParams h = {};
  h.fn = sum_up;
  h.userData = &report;
  check(cudaGraphAddHostNode(&host, graph, &copy_out, 1, &h));

  size_t nodes = 0, roots = 0;
  check(cudaGraphGetNodes(graph, NULL, &nodes));
  check(cudaGraphGetRootNodes(graph, NULL, &roots));
  cudaGraphNodeType type;
  check(cudaGraphNodeGetType(clear, &type));
  printf("%zu nodes, %zu roots, a fill: %s\n", nodes, roots, type == cudaGraphNodeTypeMemset ? "yes" : "no");

  cudaGraphExec_t exec;
  cudaStream_t stream;
  check(cudaGraphInstantiate(&exec, graph, 0));
  check(cudaStreamCreate(&stream));
  for (int i = 0; i < 3; i++) check(cudaGraphLaunch(exec, stream));
  check(cudaStreamSynchronize(stream));
  printf("after %d launches: %.0f\n", report.calls, report.last);

  // Other arguments for one node of the executable graph.
  float ten = 10.0f;
  void* args10[] = {&b, &x, &ten, &count};
  p.func = (void*)scale;
  p.kernelParams = args10;
  check(cudaGraphExecKernelNodeSetParams(exec, thrice, &p));
  check(cudaGraphLaunch(exec, stream));
  check(cudaStreamSynchronize(stream));
  printf("after %d launches: %.0f\n", report.calls, report.last);

  cudaGraph_t clone;
  cudaGraphNode_t in_clone;
  check(cudaGraphClone(&clone, graph));
  check(cudaGraphNodeFindInClone(&in_clone, sum, clone));
  cudaKernelNodeParams kept;
  check(cudaGraphKernelNodeGetParams(in_clone, &kept));
  printf("the clone's kernel: %s, %u blocks, n = %d\n", kept.func == (void*)add ? "add" : "?", kept.gridDim.x,
         *(int*)kept.kernelParams[3]);
  printf("a node of another graph: ");
  printf("%s\n", cudaGetErrorName(cudaGraphAddKernelNode(&sum, clone, &copy_in, 1, &kept)));

  check(cudaGraphExecDestroy(exec));
  check(cudaGraphDestroy(clone));
  check(cudaGraphDestroy(graph));
  check(cudaStreamDestroy(stream));
  cudaFree(x); cudaFree(a); cudaFree(b); cudaFree(y); cudaFreeHost(h_x); cudaFreeHost(h_y);
  return 0;
}
