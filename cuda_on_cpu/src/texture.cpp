/// @file
/// Textures, surfaces and CUDA arrays. An array is rows of device memory without gaps.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>

#include <texture_types.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/stream.hpp"

namespace cuda_on_cpu {
namespace {

using Index = std::array<long, 3>;

int channels_of(const cudaChannelFormatDesc& format) {
  return (format.x > 0) + (format.y > 0) + (format.z > 0) + (format.w > 0);
}

/// What a texture or a surface shows; its address is the object.
struct View {
  long element_bytes() const { return channels_of(format) * format.x / 8; }
  bool gives_floats() const {
    return format.f == cudaChannelFormatKindFloat || how.readMode == cudaReadModeNormalizedFloat;
  }

  char* data;
  cudaChannelFormatDesc format;
  Index size;
  long pitch;
  bool is_linear;
  cudaTextureDesc how;
};
const View& view_of(unsigned long long object, Place place) {
  if (object == 0) fail_kernel("this texture or surface object has not been created.", place);
  return *reinterpret_cast<const View*>(object);
}

View view_of(const cudaResourceDesc& resource) {
  View view{};
  const auto show = [&view](void* data, const cudaChannelFormatDesc& format, const cudaExtent& extent,
                            std::size_t pitch) {
    view.data = static_cast<char*>(data);
    view.format = format;
    view.size = {static_cast<long>(extent.width), static_cast<long>(extent.height), static_cast<long>(extent.depth)};
    view.pitch = static_cast<long>(pitch);
  };
  if (resource.resType == cudaResourceTypeLinear) {
    const auto& linear = resource.res.linear;
    show(linear.devPtr, linear.desc, {linear.sizeInBytes, 1, 1}, linear.sizeInBytes);
    view.size[0] /= std::max(view.element_bytes(), 1L);
    view.is_linear = true;
  } else if (resource.resType == cudaResourceTypePitch2D) {
    const auto& rows = resource.res.pitch2D;
    show(rows.devPtr, rows.desc, {rows.width, rows.height, 1}, rows.pitchInBytes);
  } else if (const cudaArray_t array = resource.res.array.array; array != nullptr) {
    show(array->data, array->format, {array->extent.width, array->rows(), array->slices()}, array->pitch());
  }
  return view;
}

/// A channel as it is stored, extended to 32 bits, or as the bits of a float between -1 and 1.
std::uint32_t channel(const View& view, const char* element, int number) {
  const int bits = view.format.x;
  const bool is_signed = view.format.f == cudaChannelFormatKindSigned;
  std::uint32_t stored = 0;
  std::memcpy(&stored, element + number * bits / 8, static_cast<std::size_t>(bits) / 8);
  if (bits == 32) return stored;
  if (is_signed) stored = static_cast<std::uint32_t>(static_cast<std::int32_t>(stored << (32 - bits)) >> (32 - bits));
  if (view.how.readMode == cudaReadModeElementType) return stored;
  const auto most = static_cast<float>((1 << (is_signed ? bits - 1 : bits)) - 1);
  return std::bit_cast<std::uint32_t>(std::max(static_cast<float>(static_cast<std::int32_t>(stored)) / most, -1.0F));
}

/// The element that one outside stands for; -1 for the border.
long inside(long i, long n, cudaTextureAddressMode mode, bool is_normalized) {
  if (mode == cudaAddressModeBorder) return i < 0 || i >= n ? -1 : i;
  if (!is_normalized || mode == cudaAddressModeClamp) return std::clamp(i, 0L, n - 1);
  const long period = mode == cudaAddressModeWrap ? n : 2 * n;
  const long folded = (i % period + period) % period;
  return folded < n ? folded : period - 1 - folded;
}

Texel texel(const View& view, int dimensions, const Index& at) {
  Index place{};
  bool is_border = false;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
    place[d] = inside(at[d], view.size[d], view.how.addressMode[d], view.how.normalizedCoords != 0);
    is_border = is_border || place[d] < 0;
  }
  const long row = place[2] * view.size[1] + place[1];
  const char* const element = view.data + row * view.pitch + place[0] * view.element_bytes();
  Texel found{};
  for (int c = 0; c < channels_of(view.format); ++c) {
    const float border = view.how.borderColor[c];
    found.bits[c] = !is_border            ? channel(view, element, c)
                    : view.gives_floats() ? std::bit_cast<std::uint32_t>(border)
                                          : static_cast<std::uint32_t>(border);
  }
  return found;
}

}  // namespace

Texel fetch(cudaTextureObject_t texture, int dimensions, float x, float y, float z, Place place) {
  const View& view = view_of(texture, place);
  if (view.is_linear) fail_kernel("this texture object shows linear memory, which only tex1Dfetch() reads.", place);
  // A line is an image of one row, between whose rows it is read: half of it is the border, if there is one.
  dimensions = std::max(dimensions, 2);
  const std::array<float, 3> coordinates = {x, y, z};
  Index first{};
  std::array<float, 3> weight{};
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
    float at = coordinates[d] * (view.how.normalizedCoords != 0 ? static_cast<float>(view.size[d]) : 1.0F);
    at = std::isnan(at) ? 0.0F : std::clamp(at, -1e9F, 1e9F);
    first[d] = static_cast<long>(std::floor(at));
    if (view.how.filterMode == cudaFilterModePoint) continue;
    // The weights are fixed-point numbers with 8 bits behind the point.
    const auto fixed = static_cast<long>(std::floor((static_cast<double>(at) - 0.5) * 256 + 0.5));
    first[d] = fixed >> 8;
    weight[d] = static_cast<float>(fixed & 255) / 256;
  }
  if (view.how.filterMode == cudaFilterModePoint) return texel(view, dimensions, first);
  std::array<float, 4> sums{};
  for (unsigned corner = 0; corner < 1U << dimensions; ++corner) {
    Index at = first;
    float share = 1;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
      const bool is_next = (corner >> d & 1U) != 0;
      at[d] += is_next ? 1 : 0;
      share *= is_next ? weight[d] : 1 - weight[d];
    }
    if (share == 0) continue;
    const Texel found = texel(view, dimensions, at);
    for (std::size_t c = 0; c < 4; ++c) sums[c] += share * std::bit_cast<float>(found.bits[c]);
  }
  if (view.how.readMode == cudaReadModeNormalizedFloat && view.format.x == 8) {  // an H200 rounds these to 16 bits
    constexpr float steps = 65535;
    for (float& sum : sums) sum = std::round(sum * steps) / steps;
  }
  return std::bit_cast<Texel>(sums);
}

Texel fetch_element(cudaTextureObject_t texture, int index, Place place) {
  const View& view = view_of(texture, place);
  if (!view.is_linear) fail_kernel("tex1Dfetch() is for linear memory, but this texture object shows another.", place);
  return index < 0 || index >= view.size[0] ? Texel{} : texel(view, 1, {index, 0, 0});
}

char* find_in_surface(cudaSurfaceObject_t surface, int x, int y, int bytes, cudaSurfaceBoundaryMode mode, Place place) {
  const View& view = view_of(surface, place);
  const std::string byte = std::to_string(x);
  if (x % bytes != 0) {
    const std::string size = std::to_string(bytes);
    fail_kernel(
        ("of a surface, x counts bytes: " + byte + " is not a multiple of " + size + ", the element's size.").c_str(),
        place);
  }
  const long inside_x = std::clamp<long>(x, 0, view.pitch - bytes);
  const long inside_y = std::clamp<long>(y, 0, view.size[1] - 1);
  if (mode != cudaBoundaryModeClamp && (inside_x != x || inside_y != y)) {
    if (mode == cudaBoundaryModeZero) return nullptr;
    fail_kernel(("byte " + byte + " of row " + std::to_string(y) + " is outside the surface, which has " +
                 std::to_string(view.size[1]) + " rows of " + std::to_string(view.pitch) + " bytes.")
                    .c_str(),
                place);
  }
  return view.data + inside_y * view.pitch + inside_x;
}

cudaError_t copy_array(const char* call, cudaArray_const_t array, std::size_t x, std::size_t y, const void* memory,
                       std::size_t pitch, std::size_t width, std::size_t height, bool is_to_array, cudaMemcpyKind kind,
                       Place place) {
  if (array == nullptr) return record(cudaErrorInvalidResourceHandle);
  if (height > 0 && (x + width > array->pitch() || y + height > array->rows())) {
    const auto box = [](std::size_t rows, std::size_t bytes) {
      return counted(rows, "row") + " of " + counted(bytes, "byte");
    };
    return refuse(place, std::string(call) + ": the array has " + box(array->rows(), array->pitch()) + ", but " +
                             box(height, width) + " from byte " + std::to_string(x) + " of row " + std::to_string(y) +
                             " on are to be copied.");
  }
  const Side<char> own{static_cast<char*>(array->data) + y * array->pitch() + x, array->pitch()};
  const Side<char> other{static_cast<char*>(const_cast<void*>(memory)), pitch};
  const Side<char> from = is_to_array ? other : own;
  const Box box{is_to_array ? own : other, {from.begin, from.pitch}, {width, std::max<std::size_t>(height, 1)}};
  return copy_box(call, box, kind, true, nullptr, place);
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags, Place place) {
  if (array == nullptr || format == nullptr || extent.width == 0) return record(cudaErrorInvalidValue);
  const int channels = channels_of(*format);
  const int bits = format->x;
  if (channels == 0 || channels == 3 || (bits != 8 && bits != 16 && bits != 32) ||
      (format->f == cudaChannelFormatKindFloat && bits != 32)) {
    return refuse(place, "here, a CUDA array has 1, 2 or 4 channels, of floats or of integers of 8, 16 or 32 bits.",
                  cudaErrorInvalidChannelDescriptor);
  }
  const auto bytes = static_cast<std::size_t>(channels * bits) / 8;
  auto made = std::make_unique<cudaArray>(cudaArray{*format, extent, flags, bytes, nullptr});
  const cudaError_t error = cudaMalloc(&made->data, made->pitch() * made->rows() * made->slices(), place);
  if (error == cudaSuccess) *array = made.release();
  return error;
}

cudaError_t cudaFreeArray(cudaArray_t array, Place place) {
  const std::unique_ptr<cudaArray> owner(array);
  return array == nullptr ? cudaSuccess : free_memory("cudaFreeArray()", array->data, false, place);
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags, cudaArray_t array) {
  if (array == nullptr) return record(cudaErrorInvalidResourceHandle);
  if (format != nullptr) *format = array->format;
  if (extent != nullptr) *extent = array->extent;
  if (flags != nullptr) *flags = array->flags;
  return cudaSuccess;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description, const cudaResourceViewDesc* /*view*/,
                                    Place place) {
  if (texture == nullptr || resource == nullptr || description == nullptr) return record(cudaErrorInvalidValue);
  View made = view_of(*resource);
  made.how = *description;
  if (made.data == nullptr || made.format.x == 0) return record(cudaErrorInvalidValue);
  if (description->filterMode == cudaFilterModeLinear && !made.is_linear && !made.gives_floats()) {
    return refuse(place, "cudaFilterModeLinear needs floats, or integers with cudaReadModeNormalizedFloat.",
                  cudaErrorInvalidFilterSetting);
  }
  if (resource->resType == cudaResourceTypePitch2D && made.pitch % 32 != 0) {
    return refuse(place, "pitchInBytes is " + std::to_string(made.pitch) +
                             ", which must be a multiple of 32, as that of cudaMallocPitch() is.");
  }
  *texture = reinterpret_cast<cudaTextureObject_t>(std::make_unique<View>(made).release());
  return cudaSuccess;
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  wait_for_device();  // kernels in lazy streams may use it
  const std::unique_ptr<View> owner(reinterpret_cast<View*>(texture));
  return cudaSuccess;
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource, Place place) {
  if (surface == nullptr || resource == nullptr) return record(cudaErrorInvalidValue);
  const cudaArray_t array = resource->resType == cudaResourceTypeArray ? resource->res.array.array : nullptr;
  if (array == nullptr || (array->flags & cudaArraySurfaceLoadStore) == 0)
    return refuse(place, "a surface needs a CUDA array that was allocated with cudaArraySurfaceLoadStore.");
  *surface = reinterpret_cast<cudaSurfaceObject_t>(std::make_unique<View>(view_of(*resource)).release());
  return cudaSuccess;
}
