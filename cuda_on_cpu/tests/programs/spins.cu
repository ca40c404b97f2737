// Threads that wait by asking again and again, without a word to the scheduler: locks, flags, a ticket; in empty loops,
// and in loops that count.
#include <cuda/atomic>

#include "expect.h"

struct Lock {
  int *mutex;
  Lock() : mutex(zeros<int>(1)) {}
  __device__ void lock() { while (atomicCAS(mutex, 0, 1) != 0); }
  __device__ void unlock() { __threadfence(); atomicExch(mutex, 0); }
};

__device__ int sum = 0;
__device__ volatile int stage;

__global__ void locked(Lock lock) {
  if (threadIdx.x == 0) {
    lock.lock();
    sum += blockIdx.x;
    lock.unlock();
  }
}

// The last thread lets the others go on, one after another.
__global__ void relay(int *order) {
  __shared__ volatile int turn;
  const int last = blockDim.x - 1;
  if (threadIdx.x == last) {
    turn = last - 1;
    while (turn >= 0) {
      // the others have theirs
    }
    stage = 1;
  } else {
    while (turn != (int)threadIdx.x) {}
    order[last - 1 - threadIdx.x] = threadIdx.x;
    turn = turn - 1;
  }
  int rounds = 0;
  do ++rounds; while (rounds < 3);
  do { --rounds; } while (rounds > 0);
  while (!stage)
    ;
  if (threadIdx.x == 0) order[last] = rounds;
}

__global__ void count(int* total, int* lock) {
  __shared__ int flag;
  __shared__ volatile int watched;
  __shared__ cuda::atomic<int, cuda::thread_scope_block> object;
  if (threadIdx.x == 0) {
    flag = 0;
    watched = 0;
    object.store(0);
    stage = 0;
  }
  __syncthreads();
  int spins = 0;
  if (threadIdx.x == 0) {
    while (atomicAdd(&flag, 0) == 0) ++spins;
    watched = 1;
  } else if (threadIdx.x == 33) {
    while (watched == 0) ++spins;
    object.store(1);
  } else if (threadIdx.x == 7) {
    while (object.load() == 0) ++spins;
    stage = 1;
  } else if (threadIdx.x == 50) {
    do {
      ++spins;
    } while (stage == 0);
  } else if (threadIdx.x == 63) {
    atomicExch(&flag, 1);
  }
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) ++spins;
    *total += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

int main() {
  locked<<<100, 4>>>(Lock());
  int* order = zeros<int>(5);
  int* numbers = zeros<int>(2);
  relay<<<1, 5>>>(order);
  count<<<1, 64>>>(&numbers[0], &numbers[1]);
  int total = 0;
  OK(cudaMemcpyFromSymbol(&total, sum, sizeof(int)));
  RESULT(total == 4950 && numbers[0] == 2);
  for (int i = 0; i < 4; ++i) EXPECT(order[i] == 3 - i);
  EXPECT(order[4] == 0);
}
