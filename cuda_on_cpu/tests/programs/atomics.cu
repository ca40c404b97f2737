// Every atomic function, by many threads at once; the results do not depend on the order. And threads that wait by
// asking again and again, without a word to the scheduler: locks, flags, a ticket; in empty loops, and in loops that
// count.
#include <cuda/atomic>
#include <cuda/std/limits>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "expect.h"

struct Cells {
  int add, sub, mn, mx, an, orr, xr, cas;
  unsigned inc, dec, uadd, umx;
  unsigned long long ladd, lmax, lexch;
  long long smin;
  float f, largest;
  double d, cas_d;
  __half h;
  __half2 h2;
  __nv_bfloat16 b;
  float2 f2;
};

// Before there was atomicAdd() for double, one wrote it so.
__device__ double atomicAddByCas(double *address, double val) {
  unsigned long long int *address_as_ull = (unsigned long long int *)address;
  unsigned long long int old = *address_as_ull, assumed;
  do {
    assumed = old;
    old = atomicCAS(address_as_ull, assumed, __double_as_longlong(val + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}

// Beside those of the runtime, one for float.
__device__ static float atomicMax(float *address, float value) {
  int *place = (int *)address, old = *place, assumed;
  do {
    assumed = old;
    old = atomicCAS(place, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}

__global__ void all(Cells *c, unsigned short *small) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&c->add, i);
  atomicSub(&c->sub, 2);
  atomicMin(&c->mn, 50 - i);
  atomicMax(&c->mx, i * 3);
  atomicAnd(&c->an, ~(1 << i % 8));
  atomicOr(&c->orr, 1 << i % 9);
  atomicXor(&c->xr, i);
  atomicInc(&c->inc, 99);
  atomicDec(&c->dec, 99);
  atomicAdd_system(&c->uadd, 3u);
  atomicMax_block(&c->umx, (unsigned)i);
  atomicAdd(&c->ladd, 1ull << 33);
  atomicMax(&c->lmax, (unsigned long long)i << 32);
  atomicMin(&c->smin, (long long)-i);
  atomicExch(&c->lexch, 7ull);
  atomicAdd(&c->f, 0.5f);
  atomicMax(&c->largest, i * 0.5f);
  atomicAdd(&c->d, 0.25);
  atomicAddByCas(&c->cas_d, 1.0);
  atomicAdd(&c->h, __float2half(1.0f));
  atomicAdd(&c->h2, __floats2half2_rn(1.0f, 2.0f));
  atomicAdd(&c->b, __float2bfloat16(1.0f));
  if (i < 100) atomicAdd(&c->f2, make_float2(1.0f, -1.0f));
  int expected = i;
  while (i < 4 && atomicCAS(&c->cas, 100 + i, 101 + i) == 100 + i) ++expected;
  if (atomicCAS(small, (unsigned short)0, (unsigned short)(i + 1)) == 0) small[1] = (unsigned short)(small[0] > 0);
}

__global__ void objects(cuda::atomic<int, cuda::thread_scope_device> *a, unsigned *plain, float *f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a->fetch_add(1, cuda::memory_order_relaxed);
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> ref(*plain);
  ref.fetch_max(i);
  cuda::atomic_ref<float> g(*f);
  float old = g.load();
  while (!g.compare_exchange_weak(old, old + 1.0f)) { }
  (*a)++;
}

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

void wait_for_each_other() {
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

int main() {
  wait_for_each_other();
  Cells *c = zeros<Cells>(1);
  unsigned short *small = zeros<unsigned short>(2);
  c->an = 0x3ff;
  c->cas = 100;
  c->smin = cuda::std::numeric_limits<long long>::max();
  all<<<4, 64>>>(c, small);
  RESULT(c->add == 32640 && c->sub == -512 && c->mn == -205 && c->mx == 765);
  EXPECT(c->an == 0x300 && c->orr == 0x1ff && c->xr == 0);
  EXPECT(c->inc == 56 && c->dec == 44 && c->uadd == 768 && c->umx == 255);
  EXPECT(c->ladd >> 33 == 256 && c->lmax >> 32 == 255 && c->smin == -255 && c->lexch == 7);
  EXPECT(c->f == 128 && c->largest == 127.5 && c->d == 64 && c->cas_d == 256);
  EXPECT((float)c->h == 256 && (float)c->h2.x == 256 && __high2float(c->h2) == 512 && (float)c->b == 256);
  EXPECT(c->f2.x == 100 && c->f2.y == -100);
  EXPECT(c->cas >= 101 && c->cas <= 104 && small[1] == 1);

  auto *a = zeros<cuda::atomic<int, cuda::thread_scope_device>>(1);
  unsigned *plain = zeros<unsigned>(1);
  float *f = zeros<float>(1);
  a->store(5);
  objects<<<3, 50>>>(a, plain, f);
  RESULT(a->load() == 305 && *plain == 149 && *f == 150);
}
