// new, delete and malloc in kernels, virtual functions of device objects, printf, votes.
#include <cstdio>
#include <cuda_runtime.h>
#include <new>

class Shape {
 public:
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
class Square : public Shape {
 public:
  __device__ explicit Square(float a) : a_(a) {}
  __device__ float area() const override { return a_ * a_; }
 private:
  float a_;
};
class Rectangle : public Shape {
 public:
  __device__ Rectangle(float a, float b) : a_(a), b_(b) {}
  __device__ float area() const override { return a_ * b_; }
 private:
  float a_, b_;
};

__global__ void create(Shape **shapes) {
  int i = threadIdx.x;
  if (i % 2) shapes[i] = new Square(i);
  else shapes[i] = new Rectangle(i, 0.5f);
}
__global__ void measure(Shape **shapes, float *total) {
  float area = shapes[threadIdx.x]->area();
  area += __shfl_xor_sync(0xffff, area, 8);
  area += __shfl_xor_sync(0xffff, area, 4);
  area += __shfl_xor_sync(0xffff, area, 2);
  area += __shfl_xor_sync(0xffff, area, 1);
  if (threadIdx.x == 0) *total = area;
}
__global__ void destroy(Shape **shapes) { delete shapes[threadIdx.x]; }

struct Node { int value; Node *next; };

__global__ void lists(int *sums) {
  Node *head = nullptr;
  for (int i = 0; i <= (int)threadIdx.x; ++i) {
    Node *node = (Node *)malloc(sizeof(Node));
    if (node == NULL) return;
    node->value = i;
    node->next = head;
    head = node;
  }
  int sum = 0;
  while (head) {
    Node *next = head->next;
    sum += head->value;
    free(head);
    head = next;
  }
  sums[threadIdx.x] = sum;
  unsigned small = __ballot_sync(0xffffffff, sum < 100);
  int first = __all_sync(0xffffffff, sum >= 0), some = __any_sync(0xffffffff, sum > 400);
  unsigned same = __match_any_sync(0xffffffff, sum % 3);
  int pred;
  __match_all_sync(0xffffffff, 5, &pred);
  if (threadIdx.x == 0) printf("block %d: %08x %d %d %08x %d\n", blockIdx.x, small, first, some, same, pred);
  __syncwarp();
  long long begin = clock64();
  __nanosleep(100);
  if (clock64() < begin) printf("the clock runs backwards\n");
  __threadfence_block();
}

int main() {
  Shape **shapes;
  float *total, host;
  int *sums, h[32];
  cudaMalloc(&shapes, 16 * sizeof(Shape *));
  cudaMalloc(&total, sizeof(float));
  cudaMalloc(&sums, 32 * sizeof(int));
  create<<<1, 16>>>(shapes);
  measure<<<1, 16>>>(shapes, total);
  destroy<<<1, 16>>>(shapes);
  cudaMemcpy(&host, total, sizeof(float), cudaMemcpyDeviceToHost);
  printf("area %.1f\n", host);
  lists<<<1, 32>>>(sums);
  cudaMemcpy(h, sums, sizeof(h), cudaMemcpyDeviceToHost);
  printf("%d %d %d, %s\n", h[0], h[10], h[31], cudaGetErrorString(cudaDeviceSynchronize()));
}
