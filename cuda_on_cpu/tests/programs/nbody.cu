// All-pairs n-body with float4 and tiles in shared memory; momentum must stay.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK_SIZE 64
#define SOFTENING 1e-9f

__device__ __forceinline__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai) {
  float3 r = make_float3(bj.x - bi.x, bj.y - bi.y, bj.z - bi.z);
  float distSqr = fmaf(r.x, r.x, fmaf(r.y, r.y, r.z * r.z)) + SOFTENING;
  float invDist = rsqrtf(distSqr);
  float s = bj.w * invDist * invDist * invDist;
  ai.x += r.x * s;
  ai.y += r.y * s;
  ai.z += r.z * s;
  return ai;
}

__device__ float3 operator*(float s, float3 v) { return make_float3(s * v.x, s * v.y, s * v.z); }

__global__ void bodyForce(const float4 *p, float3 *v, float dt, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  float4 mine = i < n ? p[i] : make_float4(0.f, 0.f, 0.f, 0.f);
  float3 a = {0.0f, 0.0f, 0.0f};
  for (int tile = 0; tile < gridDim.x; tile++) {
    __shared__ float4 spos[BLOCK_SIZE];
    int j = tile * blockDim.x + threadIdx.x;
    spos[threadIdx.x] = j < n ? p[j] : make_float4(1e3f, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < BLOCK_SIZE; k++) a = bodyBodyInteraction(mine, spos[k], a);
    __syncthreads();
  }
  if (i < n) {
    float3 dv = dt * a;
    v[i].x += dv.x; v[i].y += dv.y; v[i].z += dv.z;
  }
}

__global__ void integrate(float4 *p, const float3 *v, float dt, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= n) return;
  float4 q = p[i];
  p[i] = make_float4(q.x + v[i].x * dt, q.y + v[i].y * dt, q.z + v[i].z * dt, q.w);
}

int main(const int argc, const char **argv) {
  int n = 200;
  if (argc > 1) n = atoi(argv[1]);
  const float dt = 0.001f;
  const int steps = 5;
  float4 *hp = (float4 *)malloc(n * sizeof(float4));
  float3 *hv = (float3 *)calloc(n, sizeof(float3));
  for (int i = 0; i < n; i++)
    hp[i] = make_float4((i * 37 % 101) / 50.f - 1, (i * 53 % 103) / 50.f - 1, (i * 71 % 107) / 50.f - 1, 1.0f / n);
  float4 *p; float3 *v;
  cudaMalloc(&p, n * sizeof(float4));
  cudaMalloc(&v, n * sizeof(float3));
  cudaMemcpy(p, hp, n * sizeof(float4), cudaMemcpyHostToDevice);
  cudaMemcpy(v, hv, n * sizeof(float3), cudaMemcpyHostToDevice);

  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  int blocks = (n + BLOCK_SIZE - 1) / BLOCK_SIZE;
  cudaEventRecord(start);
  for (int s = 0; s < steps; s++) {
    bodyForce<<<blocks, BLOCK_SIZE>>>(p, v, dt, n);
    integrate<<<blocks, BLOCK_SIZE>>>(p, v, dt, n);
  }
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  float ms = 0;
  cudaEventElapsedTime(&ms, start, stop);
  cudaMemcpy(hv, v, n * sizeof(float3), cudaMemcpyDeviceToHost);
  double px = 0, py = 0, pz = 0, speed = 0;
  for (int i = 0; i < n; i++) {
    px += hv[i].x; py += hv[i].y; pz += hv[i].z;
    speed = fmax(speed, sqrt(hv[i].x * hv[i].x + hv[i].y * hv[i].y + hv[i].z * hv[i].z));
  }
  bool still = fabs(px) + fabs(py) + fabs(pz) < 1e-3 * n * speed;
  printf("%d bodies, %d steps, %s\n", n, steps, ms >= 0 && speed > 0 && still ? "momentum is kept" : "MOMENTUM CHANGED");
  cudaFree(p); cudaFree(v);
  free(hp); free(hv);
  return still ? 0 : 1;
}
