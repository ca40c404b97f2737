// Conway's game of life on a torus: tiles with a halo, two buffers that are swapped.
#include <iostream>
#include <string>
#include <vector>
#include <utility>

constexpr int W = 40, H = 24, TILE = 8;

__device__ __host__ inline int wrap(int i, int n) { return (i + n) % n; }

__global__ void step(const unsigned char* __restrict__ from, unsigned char* __restrict__ to, int w, int h) {
  __shared__ unsigned char tile[TILE + 2][TILE + 2];
  const int x0 = blockIdx.x * TILE - 1, y0 = blockIdx.y * TILE - 1;
  for (int i = threadIdx.y * TILE + threadIdx.x; i < (TILE + 2) * (TILE + 2); i += TILE * TILE)
    tile[i / (TILE + 2)][i % (TILE + 2)] = from[wrap(y0 + i / (TILE + 2), h) * w + wrap(x0 + i % (TILE + 2), w)];
  __syncthreads();
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  int alive = 0;
#pragma unroll
  for (int dy = 0; dy < 3; ++dy)
    for (int dx = 0; dx < 3; ++dx)
      if (dx != 1 || dy != 1) alive += tile[threadIdx.y + dy][threadIdx.x + dx];
  if (x < w && y < h) to[y * w + x] = alive == 3 || (alive == 2 && tile[threadIdx.y + 1][threadIdx.x + 1]);
}

__global__ void population(const unsigned char* cells, int n, int* count, bool* empty) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool on = i < n && cells[i] != 0;
  int sum = __syncthreads_count(on);
  int any = __syncthreads_or(on);
  if (threadIdx.x == 0) {
    atomicAdd(count, sum);
    if (any) *empty = false;
  }
}

int main() {
  std::vector<unsigned char> cells(W * H, 0);
  const std::pair<int, int> glider[] = {{1, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}};
  for (auto [x, y] : glider) cells[y * W + x] = 1;
  for (int i = 0; i < 3; ++i) cells[(H / 2) * W + W / 2 + i] = 1;  // a blinker

  unsigned char *a, *b;
  int* count;
  bool* empty;
  cudaMalloc(&a, W * H);
  cudaMalloc(&b, W * H);
  cudaMallocManaged(&count, sizeof(int));
  cudaMallocManaged(&empty, sizeof(bool));
  cudaMemcpy(a, cells.data(), W * H, cudaMemcpyHostToDevice);
  const dim3 block(TILE, TILE), grid((W + TILE - 1) / TILE, (H + TILE - 1) / TILE);
  for (int generation = 0; generation < 20; ++generation) {
    step<<<grid, block>>>(a, b, W, H);
    std::swap(a, b);
  }
  *count = 0;
  *empty = true;
  population<<<(W * H + 255) / 256, 256>>>(a, W * H, count, empty);
  if (auto error = cudaDeviceSynchronize(); error != cudaSuccess) {
    std::cerr << cudaGetErrorString(error) << "\n";
    return 1;
  }
  cudaMemcpy(cells.data(), a, W * H, cudaMemcpyDeviceToHost);
  for (int y = 0; y < H; ++y) {
    std::string line;
    for (int x = 0; x < W; ++x) line += cells[y * W + x] ? '#' : '.';
    if (line.find('#') != std::string::npos) std::cout << y << ' ' << line << '\n';
  }
  std::cout << *count << " cells, " << (*empty ? "empty" : "alive") << std::endl;
  cudaFree(a); cudaFree(b); cudaFree(count); cudaFree(empty);
}
