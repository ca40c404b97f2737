// A 3x3 box blur on pitched memory: cudaMallocPitch, cudaMemcpy2D, cudaMemset2D.
#include <cstdio>
#include <vector>

#define CUDA_CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  std::printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); return 1; } } while (0)

__global__ void blur(const unsigned char* in, size_t inPitch, unsigned char* out, size_t outPitch, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int sum = 0, count = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            const int u = x + dx, v = y + dy;
            if (u < 0 || v < 0 || u >= width || v >= height) continue;
            const unsigned char* row = (const unsigned char*)((const char*)in + v * inPitch);
            sum += row[u];
            ++count;
        }
    out[y * outPitch + x] = (unsigned char)(sum / count);
}

int main()
{
    const int width = 117, height = 45;
    std::vector<unsigned char> image(width * height), result(width * height, 0);
    for (int i = 0; i < width * height; ++i) image[i] = (unsigned char)((i * 31) ^ (i >> 3));

    unsigned char *d_in, *d_out;
    size_t in_pitch, out_pitch;
    CUDA_CHECK(cudaMallocPitch(&d_in, &in_pitch, width, height));
    CUDA_CHECK(cudaMallocPitch((void**)&d_out, &out_pitch, width * sizeof(unsigned char), height));
    CUDA_CHECK(cudaMemset2D(d_out, out_pitch, 0x7f, width, height));
    CUDA_CHECK(cudaMemcpy2D(d_in, in_pitch, image.data(), width, width, height, cudaMemcpyHostToDevice));

    dim3 block(16, 16);
    dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    blur<<<grid, block>>>(d_in, in_pitch, d_out, out_pitch, width, height);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy2D(result.data(), width, d_out, out_pitch, width, height, cudaMemcpyDeviceToHost));

    unsigned wrong = 0, checksum = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            int sum = 0, count = 0;
            for (int v = max(y - 1, 0); v <= min(y + 1, height - 1); ++v)
                for (int u = max(x - 1, 0); u <= min(x + 1, width - 1); ++u) { sum += image[v * width + u]; ++count; }
            wrong += result[y * width + x] != sum / count;
            checksum = checksum * 31 + result[y * width + x];
        }
    std::printf("pitch is a multiple of 32: %s, wrong: %u, checksum: %08x\n",
                in_pitch % 32 == 0 && in_pitch >= width ? "yes" : "no", wrong, checksum);
    // A copy whose rows are wider than the pitch cannot be right.
    cudaError_t error = cudaMemcpy2D(d_in, 64, image.data(), width, width, height, cudaMemcpyHostToDevice);
    std::printf("narrow pitch: %s\n", cudaGetErrorName(error));
    error = cudaGetLastError();
    std::printf("again: %s, then: %s\n", cudaGetErrorString(error), cudaGetErrorString(cudaGetLastError()));
    cudaFree(d_in);
    cudaFree(d_out);
    return 0;
}
