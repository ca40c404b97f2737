/// @file
/// cudaMemcpy...() and cudaMemset...().

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/host_memory.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/settings.hpp"
#include "cuda_on_cpu/stream.hpp"

namespace cuda_on_cpu {
namespace {

enum class Where { device, host, any };

/// Device variables whose address the program has asked for.
struct Symbols {
  std::mutex mutex;
  std::map<std::uintptr_t, std::size_t> bytes;
};
Symbols& symbols() {
  static auto* const symbols = new Symbols;
  return *symbols;
}

bool is_symbol(std::uintptr_t address) {
  return is_asked_for(address) || is_device_variable(address) || is_managed_variable(address);
}

/// What is wrong with one side of a copy; empty if nothing is.
std::string check_side(const char* role, const void* pointer, std::size_t bytes, Where side, bool by_symbol) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (pointer == nullptr) return std::string("the ") + role + " is a null pointer.";
  const std::optional<Allocation> found = find_allocation(address);
  if (!found) {
    if (!by_symbol && is_device_variable(address) && !is_asked_for(address)) {
      return std::string("the ") + role + " is " + name_of_device_variable(address) +
             ", of which the host knows no address; use cudaMemcpy" + (*role == 's' ? "From" : "To") +
             "Symbol(), or cudaGetSymbolAddress().";
    }
    if (side == Where::device && !is_symbol(address)) {
      return std::string("the ") + role + " should be device memory, but is memory of the host.";
    }
    return "";
  }
  if (side == Where::host && found->kind == MemoryKind::device) {
    return std::string("the ") + role + " should be memory of the host, but is " + describe_address(address) + ".";
  }
  if (found->freed || address < found->begin || address > found->end()) {
    return std::string("the ") + role + " is " + describe_address(address) + ".";
  }
  if (bytes > found->end() - address) {
    return std::string("the ") + role + " begins " + describe_address(address) + ", of which " +
           counted(found->end() - address, "byte") + " are left, but " + std::to_string(bytes) + " are to be " +
           (*role == 's' ? "read." : "written.");
  }
  return "";
}

bool is_pageable(const void* pointer) {
  const auto found = find_allocation(reinterpret_cast<std::uintptr_t>(pointer));
  return !found || found->freed;
}

/// The work of a copy that is kept. As on a GPU, pageable memory is read before the call returns.
Work kept_copy(const Box& box, bool capturing) {
  const auto from = reinterpret_cast<std::uintptr_t>(box.from.begin);
  if (capturing || !is_pageable(box.from.begin) || is_symbol(from)) {
    return [box] {
      ++counters().copies;
      box.copy();
    };
  }
  auto staged = std::make_shared<std::vector<char>>(box.from.bytes(box.extent));
  std::memcpy(staged->data(), box.from.begin, staged->size());
  return [box, staged] {
    ++counters().copies;
    Box from_stage = box;
    from_stage.from.begin = staged->data();
    from_stage.copy();
  };
}

/// What is wrong with a copy; empty if nothing is.
std::string check_copy(const Box& box, cudaMemcpyKind kind, bool by_symbol) {
  const bool default_kind = kind == cudaMemcpyDefault;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const Where to = default_kind ? Where::any : (to_device ? Where::device : Where::host);
  const Where from = default_kind ? Where::any : (from_device ? Where::device : Where::host);
  const std::string wrong = check_side("destination", box.to.begin, box.to.bytes(box.extent), to, by_symbol);
  return wrong.empty() ? check_side("source", box.from.begin, box.from.bytes(box.extent), from, by_symbol) : wrong;
}

/// The host has waited for a copy: if that is between devices, for both.
void note_wait_of_copy(const Box& box, cudaStream_t handle) {
  if (observer == nullptr) return;
  const std::lock_guard lock(engine());
  const auto from = find_allocation(reinterpret_cast<std::uintptr_t>(box.from.begin));
  const auto to = find_allocation(reinterpret_cast<std::uintptr_t>(box.to.begin));
  if (from && to && from->device != to->device) note_wait_for_all();
  if (Stream* const stream = find_stream(handle); stream != nullptr) note_wait(*stream);
}

bool is_too_narrow(const Extent& extent, std::size_t pitch, std::size_t slice) {
  return (extent.height > 1 && pitch < extent.width) || (extent.depth > 1 && slice < extent.height * pitch);
}

Box rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
         std::size_t height) {
  return {{static_cast<char*>(to), to_pitch}, {static_cast<const char*>(from), from_pitch}, {width, height}};
}

unsigned byte(int value) { return static_cast<unsigned char>(value); }

Side<char> side(const cudaPitchedPtr& pointer) {
  return {static_cast<char*>(pointer.ptr), pointer.pitch, pointer.pitch * pointer.ysize};
}

}  // namespace

bool is_asked_for(std::uintptr_t address) {
  Symbols& known = symbols();
  const std::lock_guard lock(known.mutex);
  const auto next = known.bytes.upper_bound(address);
  return next != known.bytes.begin() && address < std::prev(next)->first + std::prev(next)->second;
}

void Box::copy() const {
  const auto is_on_device = [](const void* pointer) {
    const std::optional<Allocation> found = find_allocation(reinterpret_cast<std::uintptr_t>(pointer));
    return found && found->kind == MemoryKind::device;
  };
  const bool to_device = host_memory != nullptr && is_on_device(to.begin);
  const bool crosses = host_memory != nullptr && to_device != is_on_device(from.begin);
  for (std::size_t z = 0; z < extent.depth; ++z) {
    for (std::size_t y = 0; y < extent.height; ++y) {
      note_copied(from.row(y, z), extent.width);
      std::memmove(to.row(y, z), from.row(y, z), extent.width);
      if (crosses) host_memory->copied(to.row(y, z), extent.width, to_device);
      note_filled(to.row(y, z), extent.width);
    }
  }
}

Box one_row(void* to, const void* from, std::size_t bytes) {
  return {{static_cast<char*>(to)}, {static_cast<const char*>(from)}, {bytes}};
}

cudaError_t copy_box(const char* call, const Box& box, cudaMemcpyKind kind, bool wait, cudaStream_t stream, Place place,
                     bool by_symbol) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return record(cudaErrorInvalidMemcpyDirection);
  }
  if (box.extent.empty()) return cudaSuccess;
  if (is_too_narrow(box.extent, box.to.pitch, box.to.slice) ||
      is_too_narrow(box.extent, box.from.pitch, box.from.slice)) {
    return record(cudaErrorInvalidPitchValue);
  }
  if (const std::string wrong = check_copy(box, kind, by_symbol); !wrong.empty()) {
    return refuse(place, std::string(call) + ": " + wrong);
  }
  if (wait) {
    if (const cudaError_t error = may_wait(call); error != cudaSuccess) return error;
  }
  bool kept = false;
  const bool is_waited_for = observer != nullptr && (wait || is_pageable(box.to.begin));
  const auto now = [&] {
    called = {call, place, is_waited_for};
    ++counters().copies;
    box.copy();
  };
  const auto later = [&]() -> Work {
    kept = true;
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(stream, &capturing);
    // Pageable memory is also written before the call returns.
    if (capturing == cudaStreamCaptureStatusNone && is_pageable(box.to.begin)) wait = true;
    return kept_copy(box, capturing != cudaStreamCaptureStatusNone);
  };
  const cudaError_t error = submit(stream, now, later, cudaGraphNodeTypeMemcpy);
  if (error != cudaSuccess) return record(error);
  if (is_waited_for && !kept) note_wait_of_copy(box, stream);
  if (!wait) return cudaSuccess;
  const bool on_device = kind == cudaMemcpyDeviceToDevice;
  if (!on_device) ++counters().host_synchronizations;
  return kept ? wait_for(stream) : sticky_error();
}

cudaError_t copy_3d(const char* call, const cudaMemcpy3DParms* parameters, bool wait, cudaStream_t stream,
                    Place place) {
  if (parameters == nullptr) return record(cudaErrorInvalidValue);
  const cudaMemcpy3DParms& p = *parameters;
  // With an array, the extent's width and the position in it count elements.
  const auto side = [](cudaPitchedPtr pointer, cudaPos at, cudaArray_const_t array) {
    if (array != nullptr) {
      pointer = {array->data, array->pitch(), 0, array->rows()};
      at.x *= array->element_bytes;
    }
    const std::size_t slice = pointer.pitch * pointer.ysize;
    return Side<char>{static_cast<char*>(pointer.ptr) + at.z * slice + at.y * pointer.pitch + at.x, pointer.pitch,
                      slice};
  };
  const cudaArray_const_t array = p.srcArray != nullptr ? p.srcArray : p.dstArray;
  const Side<char> from = side(p.srcPtr, p.srcPos, p.srcArray);
  const Box box{side(p.dstPtr, p.dstPos, p.dstArray),
                {from.begin, from.pitch, from.slice},
                {p.extent.width * (array == nullptr ? 1 : array->element_bytes), p.extent.height, p.extent.depth}};
  return copy_box(call, box, p.kind, wait, stream, place);
}

cudaError_t fill_box(const char* call, const Side<char>& to, const Extent& extent, unsigned value,
                     std::size_t value_bytes, cudaStream_t stream, Place place) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (extent.empty()) return cudaSuccess;
  if (is_too_narrow(extent, to.pitch, to.slice)) return record(cudaErrorInvalidPitchValue);
  const std::string wrong = check_side("destination", to.begin, to.bytes(extent), Where::device, false);
  if (!wrong.empty()) {
    return refuse(place, std::string(call) + ": " + wrong);
  }
  bool is_waited_for = false;  // as a fill of memory that the host can access is
  if (observer != nullptr && stream == nullptr) {
    const auto target = find_allocation(reinterpret_cast<std::uintptr_t>(to.begin));
    is_waited_for = target && target->kind != MemoryKind::device;
  }
  const auto fill = [=] {
    called = {call, place, is_waited_for};
    ++counters().copies;
    for (std::size_t z = 0; z < extent.depth; ++z) {
      for (std::size_t y = 0; y < extent.height; ++y) {
        char* const row = to.row(y, z);
        if (value_bytes == 1) std::memset(row, static_cast<int>(value), extent.width);
        for (std::size_t x = 0; value_bytes > 1 && x < extent.width; x += value_bytes) {
          std::memcpy(row + x, &value, value_bytes);
        }
        note_filled(row, extent.width);
      }
    }
  };
  const cudaError_t error = submit(
      stream, fill, [&]() -> Work { return fill; }, cudaGraphNodeTypeMemset);
  if (is_waited_for) note_wait_of_copy({to, {to.begin}, extent}, stream);
  return record(error);
}

/// From now on, copies may name the symbol's address as device memory.
void note_symbol(void* symbol, std::size_t bytes) {
  Symbols& known = symbols();
  const std::lock_guard lock(known.mutex);
  known.bytes[reinterpret_cast<std::uintptr_t>(symbol)] = bytes;
}

/// cudaMemcpyToSymbol() and its relatives.
cudaError_t copy_symbol(void* symbol, std::size_t symbol_bytes, void* other, std::size_t bytes, std::size_t offset,
                        bool to_symbol, bool wait, cudaStream_t stream, Place place) {
  const char* const call = to_symbol ? "cudaMemcpyToSymbol()" : "cudaMemcpyFromSymbol()";
  if (host_memory != nullptr && !host_memory->may_be_symbol(symbol, symbol_bytes)) {
    return refuse(place,
                  std::string(call) + ": the symbol is a string, or a variable of the host; name the __device__ " +
                      "variable itself, without quotation marks and without &.",
                  cudaErrorInvalidSymbol);
  }
  if (!is_device_variable(reinterpret_cast<std::uintptr_t>(symbol))) note_symbol(symbol, symbol_bytes);
  if (offset > symbol_bytes || bytes > symbol_bytes - offset) {
    return refuse(place, std::string(call) + ": the variable has " + counted(symbol_bytes, "byte") + ", but " +
                             std::to_string(bytes) + " from byte " + std::to_string(offset) + " on are to be copied.");
  }
  char* const inside = static_cast<char*>(symbol) + offset;
  const Box box = to_symbol ? one_row(inside, other, bytes) : one_row(other, inside, bytes);
  return copy_box(call, box, cudaMemcpyDefault, wait, stream, place, true);
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, Place place) {
  return copy_box("cudaMemcpy()", one_row(to, from, bytes), kind, true, nullptr, place);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
                            Place place) {
  return copy_box("cudaMemcpyAsync()", one_row(to, from, bytes), kind, false, stream, place);
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind, Place place) {
  return copy_box("cudaMemcpy2D()", rows(to, to_pitch, from, from_pitch, width, height), kind, true, nullptr, place);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                              Place place) {
  return copy_box("cudaMemcpy2DAsync()", rows(to, to_pitch, from, from_pitch, width, height), kind, false, stream,
                  place);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters, Place place) {
  return copy_3d("cudaMemcpy3D()", parameters, true, nullptr, place);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream, Place place) {
  return copy_3d("cudaMemcpy3DAsync()", parameters, false, stream, place);
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes, Place place) {
  if (!device_exists(to_device) || !device_exists(from_device)) {
    return record(cudaErrorInvalidDevice);
  }
  return copy_box("cudaMemcpyPeer()", one_row(to, from, bytes), cudaMemcpyDeviceToDevice, true, nullptr, place);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream, Place place) {
  if (!device_exists(to_device) || !device_exists(from_device)) {
    return record(cudaErrorInvalidDevice);
  }
  return copy_box("cudaMemcpyPeerAsync()", one_row(to, from, bytes), cudaMemcpyDeviceToDevice, false, stream, place);
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes, Place place) {
  if (const cudaError_t error = may_wait("cudaMemset()"); error != cudaSuccess) return error;
  return fill_box("cudaMemset()", {static_cast<char*>(pointer)}, {bytes}, byte(value), 1, nullptr, place);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream, Place place) {
  return fill_box("cudaMemsetAsync()", {static_cast<char*>(pointer)}, {bytes}, byte(value), 1, stream, place);
}

cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                         Place place) {
  if (const cudaError_t error = may_wait("cudaMemset2D()"); error != cudaSuccess) return error;
  return fill_box("cudaMemset2D()", {static_cast<char*>(pointer), pitch}, {width, height}, byte(value), 1, nullptr,
                  place);
}

cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream, Place place) {
  return fill_box("cudaMemset2DAsync()", {static_cast<char*>(pointer), pitch}, {width, height}, byte(value), 1, stream,
                  place);
}

cudaError_t cudaMemset3D(cudaPitchedPtr pitched, int value, cudaExtent extent, Place place) {
  if (const cudaError_t error = may_wait("cudaMemset3D()"); error != cudaSuccess) return error;
  return fill_box("cudaMemset3D()", side(pitched), {extent.width, extent.height, extent.depth}, byte(value), 1, nullptr,
                  place);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitched, int value, cudaExtent extent, cudaStream_t stream, Place place) {
  return fill_box("cudaMemset3DAsync()", side(pitched), {extent.width, extent.height, extent.depth}, byte(value), 1,
                  stream, place);
}
