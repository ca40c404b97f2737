/// Kernels that unfused() and fused() launch.
constexpr long unfused_launches = 2;
constexpr long fused_launches = 1;

/// Bytes that their warps ask of global memory, in loads and stores: of y, bias and y, and then of
/// y and y; or of y, bias and y only.
constexpr long unfused_bytes = 4 * 16384 * (3 + 2);
constexpr long fused_bytes = 4 * 16384 * 3;

/// Different bytes of global memory that fused() reads, and those that it writes.
constexpr long fused_distinct_bytes = 4 * (16384 + 256 + 16384);

// Below, nothing is to be changed.

constexpr int rows = 64;
constexpr int columns = 256;

__global__ void add_bias(float* y, const float* bias) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += bias[i % columns];
}

__global__ void apply_relu(float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = fmaxf(0.0F, y[i]);
}

void unfused(float* y, const float* bias) {
  add_bias<<<rows * columns / 128, 128>>>(y, bias);
  apply_relu<<<rows * columns / 128, 128>>>(y);
}

__global__ void add_bias_and_apply_relu(float* y, const float* bias) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = fmaxf(0.0F, y[i] + bias[i % columns]);
}

void fused(float* y, const float* bias) {
  add_bias_and_apply_relu<<<rows * columns / 128, 128>>>(y, bias);
}
