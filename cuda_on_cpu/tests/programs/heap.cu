// new, delete and malloc in kernels, virtual functions of objects of the device, printf, clocks.
//> block 0: 00003fff done
#include "expect.h"

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
__global__ void create(Shape **shapes) {
  shapes[threadIdx.x] = new Square(threadIdx.x);
}
__global__ void measure(Shape **shapes, float *total) { atomicAdd(total, shapes[threadIdx.x]->area()); }
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
  if (threadIdx.x == 0) printf("block %d: %08x %s\n", blockIdx.x, 0x3fff, "done");
  __syncwarp();
  long long begin = clock64();
  __nanosleep(100);
  if (clock64() < begin) printf("the clock runs backwards\n");
  __threadfence_block();
}

int main() {
  Shape **shapes = zeros<Shape *>(16);
  float *total = zeros<float>(1);
  int *sums = zeros<int>(32);
  create<<<1, 16>>>(shapes);
  measure<<<1, 16>>>(shapes, total);
  destroy<<<1, 16>>>(shapes);
  lists<<<1, 32>>>(sums);
  RESULT(*total == 1240 && sums[0] == 0 && sums[10] == 55 && sums[31] == 496);
}
