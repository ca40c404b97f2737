/// @file
/// Copies and fills. Their ranges are checked against the allocations that they touch.
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "cuda_on_cpu/device.hpp"
#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/error.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/settings.hpp"
#include "cuda_on_cpu/stream.hpp"

namespace cuda_on_cpu {
namespace {

/// Rows of bytes; a plain copy is one row.
struct Rows {
  char* to;
  std::size_t to_pitch;
  const char* from;
  std::size_t from_pitch;
  std::size_t width;
  std::size_t height;

  void copy() const {
    for (std::size_t row = 0; row < height; ++row) {
      std::memmove(to + row * to_pitch, from + row * from_pitch, width);
    }
  }
  std::size_t extent(std::size_t pitch) const { return (height - 1) * pitch + width; }
};

enum class Side { device, host, any };

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
  Symbols& known = symbols();
  const std::lock_guard lock(known.mutex);
  const auto next = known.bytes.upper_bound(address);
  return next != known.bytes.begin() && address < std::prev(next)->first + std::prev(next)->second;
}

/// What is wrong with one side of a copy; empty if nothing is.
std::string check_side(const char* role, const void* pointer, std::size_t bytes, Side side) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (pointer == nullptr) return std::string("the ") + role + " is a null pointer.";
  const std::optional<Allocation> found = find_allocation(address);
  if (!found) {
    if (side == Side::device && !is_symbol(address)) {
      return std::string("the ") + role + " should be device memory, but is memory of the host.";
    }
    return "";
  }
  if (side == Side::host && found->kind == MemoryKind::device) {
    return std::string("the ") + role + " should be memory of the host, but is " +
           describe_address(address) + ".";
  }
  if (found->freed || address < found->begin || address > found->end()) {
    return std::string("the ") + role + " is " + describe_address(address) + ".";
  }
  if (bytes > found->end() - address) {
    return std::string("the ") + role + " begins " + describe_address(address) + ", of which " +
           counted(found->end() - address, "byte") + " are left, but " + std::to_string(bytes) +
           " are to be " + (*role == 's' ? "read." : "written.");
  }
  return "";
}

bool is_pageable(const void* pointer) {
  const auto found = find_allocation(reinterpret_cast<std::uintptr_t>(pointer));
  return !found || found->freed;
}

cudaError_t copy_rows(const char* call, const Rows& rows, cudaMemcpyKind kind, bool wait,
                      cudaStream_t stream, Place place) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return record(cudaErrorInvalidMemcpyDirection);
  }
  if (rows.width == 0 || rows.height == 0) return cudaSuccess;
  if (rows.height > 1 && (rows.to_pitch < rows.width || rows.from_pitch < rows.width)) {
    return record(cudaErrorInvalidPitchValue);
  }
  const bool default_kind = kind == cudaMemcpyDefault;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const Side to = default_kind ? Side::any : (to_device ? Side::device : Side::host);
  const Side from = default_kind ? Side::any : (from_device ? Side::device : Side::host);
  std::string wrong = check_side("destination", rows.to, rows.extent(rows.to_pitch), to);
  if (wrong.empty()) wrong = check_side("source", rows.from, rows.extent(rows.from_pitch), from);
  if (!wrong.empty()) {
    report_at(place, std::string(call) + ": " + wrong);
    return record(cudaErrorInvalidValue);
  }
  if (wait) {
    if (const cudaError_t error = may_wait(call); error != cudaSuccess) return error;
  }
  bool kept = false;
  const cudaError_t error = submit(
      stream,
      [&] {
        ++counters().copies;
        rows.copy();
      },
      [&]() -> Work {
        kept = true;
        cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
        cudaStreamIsCapturing(stream, &capturing);
        if (capturing == cudaStreamCaptureStatusNone && is_pageable(rows.from) &&
            !is_symbol(reinterpret_cast<std::uintptr_t>(rows.from))) {
          // As on a GPU: pageable memory is read before the call returns.
          auto staged = std::make_shared<std::vector<char>>(rows.extent(rows.from_pitch));
          std::memcpy(staged->data(), rows.from, staged->size());
          return [rows, staged] {
            ++counters().copies;
            Rows from_stage = rows;
            from_stage.from = staged->data();
            from_stage.copy();
          };
        }
        // ... and written before it returns.
        if (capturing == cudaStreamCaptureStatusNone && is_pageable(rows.to)) wait = true;
        return [rows] {
          ++counters().copies;
          rows.copy();
        };
      });
  if (error != cudaSuccess) return record(error);
  if (!wait) return cudaSuccess;
  if (to != Side::device || from != Side::device) ++counters().host_synchronizations;
  return kept ? wait_for(stream) : sticky_error();
}

cudaError_t fill_rows(const char* call, void* pointer, std::size_t pitch, int value,
                      std::size_t width, std::size_t height, cudaStream_t stream, Place place) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (width == 0 || height == 0) return cudaSuccess;
  const std::string wrong =
      check_side("destination", pointer, (height - 1) * pitch + width, Side::device);
  if (!wrong.empty()) {
    report_at(place, std::string(call) + ": " + wrong);
    return record(cudaErrorInvalidValue);
  }
  const auto fill = [=] {
    ++counters().copies;
    for (std::size_t row = 0; row < height; ++row) {
      std::memset(static_cast<char*>(pointer) + row * pitch, value, width);
    }
  };
  return record(submit(stream, fill, [&]() -> Work { return fill; }));
}

Rows one_row(void* to, const void* from, std::size_t bytes) {
  return {static_cast<char*>(to), bytes, static_cast<const char*>(from), bytes, bytes, 1};
}

}  // namespace

/// From now on, copies may name the symbol's address as device memory.
void note_symbol(void* symbol, std::size_t bytes) {
  Symbols& known = symbols();
  const std::lock_guard lock(known.mutex);
  known.bytes[reinterpret_cast<std::uintptr_t>(symbol)] = bytes;
}

/// cudaMemcpyToSymbol() and its relatives.
cudaError_t copy_symbol(void* symbol, std::size_t symbol_bytes, void* other, std::size_t bytes,
                        std::size_t offset, bool to_symbol, bool wait, cudaStream_t stream,
                        const char* file, unsigned line) {
  const char* const call = to_symbol ? "cudaMemcpyToSymbol()" : "cudaMemcpyFromSymbol()";
  note_symbol(symbol, symbol_bytes);
  if (offset > symbol_bytes || bytes > symbol_bytes - offset) {
    report_at({file, line}, std::string(call) + ": the variable has " +
                                counted(symbol_bytes, "byte") + ", but " + std::to_string(bytes) +
                                " from byte " + std::to_string(offset) + " on are to be copied.");
    return record(cudaErrorInvalidValue);
  }
  char* const inside = static_cast<char*>(symbol) + offset;
  return to_symbol ? copy_rows(call, one_row(inside, other, bytes), cudaMemcpyDefault, wait, stream,
                               {file, line})
                   : copy_rows(call, one_row(other, inside, bytes), cudaMemcpyDefault, wait, stream,
                               {file, line});
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                       const char* file, unsigned line) {
  return copy_rows("cudaMemcpy()", one_row(to, from, bytes), kind, true, nullptr, {file, line});
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream, const char* file, unsigned line) {
  return copy_rows("cudaMemcpyAsync()", one_row(to, from, bytes), kind, false, stream,
                   {file, line});
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind,
                         const char* file, unsigned line) {
  const Rows rows{
      static_cast<char*>(to), to_pitch, static_cast<const char*>(from), from_pitch, width, height};
  return copy_rows("cudaMemcpy2D()", rows, kind, true, nullptr, {file, line});
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream, const char* file,
                              unsigned line) {
  const Rows rows{
      static_cast<char*>(to), to_pitch, static_cast<const char*>(from), from_pitch, width, height};
  return copy_rows("cudaMemcpy2DAsync()", rows, kind, false, stream, {file, line});
}

cudaError_t cudaMemcpyPeer(void* to, int /*to_device*/, const void* from, int /*from_device*/,
                           std::size_t bytes, const char* file, unsigned line) {
  return copy_rows("cudaMemcpyPeer()", one_row(to, from, bytes), cudaMemcpyDeviceToDevice, true,
                   nullptr, {file, line});
}

cudaError_t cudaMemcpyPeerAsync(void* to, int /*to_device*/, const void* from, int /*from_device*/,
                                std::size_t bytes, cudaStream_t stream, const char* file,
                                unsigned line) {
  return copy_rows("cudaMemcpyPeerAsync()", one_row(to, from, bytes), cudaMemcpyDeviceToDevice,
                   false, stream, {file, line});
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes, const char* file,
                       unsigned line) {
  if (const cudaError_t error = may_wait("cudaMemset()"); error != cudaSuccess) return error;
  return fill_rows("cudaMemset()", pointer, bytes, value, bytes, 1, nullptr, {file, line});
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream,
                            const char* file, unsigned line) {
  return fill_rows("cudaMemsetAsync()", pointer, bytes, value, bytes, 1, stream, {file, line});
}

cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width,
                         std::size_t height, const char* file, unsigned line) {
  if (const cudaError_t error = may_wait("cudaMemset2D()"); error != cudaSuccess) return error;
  return fill_rows("cudaMemset2D()", pointer, pitch, value, width, height, nullptr, {file, line});
}

cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream, const char* file,
                              unsigned line) {
  return fill_rows("cudaMemset2DAsync()", pointer, pitch, value, width, height, stream,
                   {file, line});
}

cudaError_t cudaMemPrefetchAsync(const void* /*pointer*/, std::size_t /*bytes*/, int /*device*/,
                                 cudaStream_t /*stream*/) {
  return sticky_error();
}
