// Every atomic function, by many threads at once; the results do not depend on the order.
#include <cuda/atomic>
#include <cuda/std/limits>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdio.h>

struct Cells {
  int add, sub, mn, mx, an, orr, xr, cas;
  unsigned inc, dec, uadd, umx;
  unsigned long long ladd, lmax, lexch;
  long long smin;
  float f;
  double d, cas_d;
  __half h;
  __half2 h2;
  __nv_bfloat16 b;
  float2 f2;
  int locked;
  volatile int lock;
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
  atomicAdd(&c->d, 0.25);
  atomicAddByCas(&c->cas_d, 1.0);
  atomicAdd(&c->h, __float2half(1.0f));
  atomicAdd(&c->h2, __floats2half2_rn(1.0f, 2.0f));
  atomicAdd(&c->b, __float2bfloat16(1.0f));
  if (i < 100) atomicAdd(&c->f2, make_float2(1.0f, -1.0f));
  int expected = i;
  while (i < 4 && atomicCAS(&c->cas, 100 + i, 101 + i) == 100 + i) ++expected;
  if (atomicCAS(small, (unsigned short)0, (unsigned short)(i + 1)) == 0) small[1] = (unsigned short)(small[0] > 0);
  // A lock, that one lane of each warp takes.
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS((int *)&c->lock, 0, 1) != 0) { }
    __threadfence();
    c->locked = c->locked + 1;
    __threadfence();
    atomicExch((int *)&c->lock, 0);
  }
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

int main() {
  Cells *c;
  unsigned short *small;
  cudaMallocManaged(&c, sizeof(Cells));
  cudaMallocManaged(&small, 2 * sizeof(*small));
  memset((void *)c, 0, sizeof(Cells));
  small[0] = small[1] = 0;
  c->an = 0x3ff; c->cas = 100; c->smin = cuda::std::numeric_limits<long long>::max();
  all<<<4, 64>>>(c, small);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  printf("%d %d %d %d %x %x %d %u %u %u %u\n", c->add, c->sub, c->mn, c->mx, c->an, c->orr, c->xr, c->inc, c->dec, c->uadd, c->umx);
  printf("%llu %llu %lld %llu %.1f %.1f %.1f\n", c->ladd >> 33, c->lmax >> 32, c->smin, c->lexch, c->f, c->d, c->cas_d);
  printf("%.0f %.0f %.0f %.0f %.0f %.0f\n", (float)c->h, (float)c->h2.x, __high2float(c->h2), (float)c->b, c->f2.x, c->f2.y);
  printf("%d %d %d\n", c->cas >= 101 && c->cas <= 104, small[1], c->locked);

  cuda::atomic<int, cuda::thread_scope_device> *a;
  unsigned *plain;
  float *f;
  cudaMallocManaged(&a, sizeof(*a));
  cudaMallocManaged(&plain, sizeof(*plain));
  cudaMallocManaged(&f, sizeof(*f));
  a->store(5);
  *plain = 0;
  *f = 0;
  objects<<<3, 50>>>(a, plain, f);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  printf("%d %u %.0f\n", a->load(), *plain, *f);
  return 0;
}
