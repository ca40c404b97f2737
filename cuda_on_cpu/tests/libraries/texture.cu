// Textures, surfaces and CUDA arrays, with values that floating-point numbers hold exactly: the
// same output on a GPU.
#include <cstdio>
#include <cstring>
#include <vector>

#define CHECK(call)                                                               \
  do {                                                                            \
    const cudaError_t error = call;                                               \
    if (error != cudaSuccess) printf("%s: %s\n", #call, cudaGetErrorName(error)); \
  } while (0)

__global__ void line(cudaTextureObject_t texture, float first, float step, float* out) {
  out[threadIdx.x] = tex1D<float>(texture, first + step * threadIdx.x);
}
__global__ void linear(cudaTextureObject_t texture, int first, int4* out) {
  const uchar4 value = tex1Dfetch<uchar4>(texture, first + (int)threadIdx.x);
  out[threadIdx.x] = make_int4(value.x, value.y, value.z, value.w);
}
template <class T>
__global__ void plane(cudaTextureObject_t texture, float2 first, float2 step, T* out) {
  out[threadIdx.y * blockDim.x + threadIdx.x] =
      tex2D<T>(texture, first.x + step.x * threadIdx.x, first.y + step.y * threadIdx.y);
}
__global__ void volume(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex3D<float>(texture, 1.0f, 1.0f, 0.5f + 0.5f * threadIdx.x);
}
__global__ void transpose(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float2 value;
  surf2Dread(&value, from, x * (int)sizeof(float2), y);
  surf2Dwrite(value, to, y * (int)sizeof(float2), x);
}
__global__ void edges(cudaSurfaceObject_t surface, float2* out) {
  const int x = ((int)threadIdx.x - 2) * 8;
  out[threadIdx.x] = surf2Dread<float2>(surface, x, 1, cudaBoundaryModeZero);
  out[threadIdx.x + blockDim.x] = surf2Dread<float2>(surface, x, 9, cudaBoundaryModeClamp);
  surf2Dwrite(make_float2(0, 0), surface, -8, 0, cudaBoundaryModeZero);
}

void print(const char* name, const void* device, int n, int in_row) {
  std::vector<float> host(n);
  CHECK(cudaMemcpy(host.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost));
  printf("%s:", name);
  for (int i = 0; i < n; ++i) printf("%s %g", i > 0 && i % in_row == 0 ? "," : "", host[i]);
  printf("\n");
}

cudaTextureObject_t create(const cudaResourceDesc& resource, cudaTextureAddressMode mode,
                           cudaTextureFilterMode filter, bool is_normalized,
                           cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc description;
  memset(&description, 0, sizeof description);
  for (int d = 0; d < 3; ++d) description.addressMode[d] = mode;
  description.filterMode = filter;
  description.readMode = read;
  description.normalizedCoords = is_normalized;
  description.borderColor[0] = 64;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}

int main() {
  float* out;
  CHECK(cudaMalloc(&out, 1024 * sizeof(float)));
  cudaResourceDesc resource = {};

  // Addresses and filters of one dimension.
  const float numbers[] = {0, 16, 32, 64};
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &format, 4));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, numbers, sizeof numbers, sizeof numbers, 1,
                            cudaMemcpyHostToDevice));
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const char* const names[] = {"wrap", "clamp", "mirror", "border"};
  for (int mode = 0; mode < 4; ++mode) {
    for (int filter = 0; filter < 2; ++filter) {
      const cudaTextureObject_t texture =
          create(resource, (cudaTextureAddressMode)mode, (cudaTextureFilterMode)filter, true);
      line<<<1, 20>>>(texture, -0.6875f, 0.125f, out);
      print(names[mode], out, 20, 20);
      CHECK(cudaDestroyTextureObject(texture));
    }
  }
  // The weights have 8 bits.
  cudaTextureObject_t texture = create(resource, cudaAddressModeClamp, cudaFilterModeLinear, false);
  line<<<1, 6>>>(texture, 1.0f, 1.0f / 1024, out);
  print("weights", out, 6, 6);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));

  // Linear memory, outside of which there are zeros.
  std::vector<unsigned char> bytes(64);
  for (int i = 0; i < 64; ++i) bytes[i] = (unsigned char)(4 * i);
  void* memory;
  CHECK(cudaMalloc(&memory, 64));
  CHECK(cudaMemcpy(memory, bytes.data(), 64, cudaMemcpyHostToDevice));
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<uchar4>();
  resource.res.linear.sizeInBytes = 64;
  texture = create(resource, cudaAddressModeClamp, cudaFilterModePoint, false);
  linear<<<1, 4>>>(texture, 13, (int4*)out);
  int4 fetched[4];
  CHECK(cudaMemcpy(fetched, out, sizeof fetched, cudaMemcpyDeviceToHost));
  for (const int4& value : fetched) printf("%d %d %d %d\n", value.x, value.y, value.z, value.w);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(memory));

  // Pitched memory, whose bytes are read as numbers between 0 and 1.
  std::size_t pitch;
  CHECK(cudaMallocPitch(&memory, &pitch, 8, 4));
  for (int i = 0; i < 32; ++i) bytes[i] = i % 3 == 0 ? 255 : 0;
  CHECK(cudaMemcpy2D(memory, pitch, bytes.data(), 8, 8, 4, cudaMemcpyHostToDevice));
  resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = memory;
  resource.res.pitch2D.desc = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
  resource.res.pitch2D.width = 8;
  resource.res.pitch2D.height = 4;
  resource.res.pitch2D.pitchInBytes = pitch;
  texture = create(resource, cudaAddressModeClamp, cudaFilterModeLinear, false,
                   cudaReadModeNormalizedFloat);
  plane<float><<<1, dim3(4, 3)>>>(texture, make_float2(0.5f, 0.75f), make_float2(1.25f, 1.0f), out);
  print("normalized", out, 12, 4);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(memory));

  // Surfaces of pairs, which a texture shows afterwards.
  const int width = 5, height = 3;
  std::vector<float2> pairs(width * height);
  for (int i = 0; i < width * height; ++i) pairs[i] = {(float)i, (float)-i};
  cudaArray_t from, to;
  format = cudaCreateChannelDesc<float2>();
  CHECK(cudaMallocArray(&from, &format, width, height, cudaArraySurfaceLoadStore));
  CHECK(cudaMallocArray(&to, &format, height, width, cudaArraySurfaceLoadStore));
  CHECK(cudaMemcpy2DToArray(from, 0, 0, pairs.data(), width * 8, width * 8, height,
                            cudaMemcpyHostToDevice));
  cudaSurfaceObject_t surfaces[2];
  resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = from;
  CHECK(cudaCreateSurfaceObject(&surfaces[0], &resource));
  resource.res.array.array = to;
  CHECK(cudaCreateSurfaceObject(&surfaces[1], &resource));
  transpose<<<dim3(2, 2), dim3(4, 2)>>>(surfaces[0], surfaces[1], width, height);
  texture = create(resource, cudaAddressModeClamp, cudaFilterModePoint, false);
  plane<float2>
      <<<1, dim3(3, 5)>>>(texture, make_float2(0.5f, 0.5f), make_float2(1.0f, 1.0f), (float2*)out);
  print("transposed", out, 30, 6);
  edges<<<1, 8>>>(surfaces[0], (float2*)out);
  print("edges", out, 32, 16);
  CHECK(cudaMemcpy2DFromArray(pairs.data(), 16, to, 8, 1, 16, 2, cudaMemcpyDeviceToHost));
  printf("from the array: %g %g %g %g\n", pairs[0].x, pairs[1].y, pairs[2].x, pairs[3].y);
  CHECK(cudaDestroyTextureObject(texture));
  for (const cudaSurfaceObject_t surface : surfaces) CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(from));
  CHECK(cudaFreeArray(to));

  // A volume.
  const float corners[] = {0, 1, 2, 3, 100, 101, 102, 103};
  format = cudaCreateChannelDesc<float>();
  const cudaExtent extent = make_cudaExtent(2, 2, 2);
  CHECK(cudaMalloc3DArray(&array, &format, extent));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr((void*)corners, 8, 2, 2);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  resource.res.array.array = array;
  texture = create(resource, cudaAddressModeClamp, cudaFilterModeLinear, false);
  volume<<<1, 4>>>(texture, out);
  print("volume", out, 4, 4);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));

  // What has no answer is an error.
  format = cudaCreateChannelDesc<float>();
  cudaExtent asked;
  CHECK(cudaMallocArray(&array, &format, 7, 2));
  CHECK(cudaArrayGetInfo(&format, &asked, nullptr, array));
  printf("%d bits, %d x %d\n", format.x, (int)asked.width, (int)asked.height);
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(out));
}
