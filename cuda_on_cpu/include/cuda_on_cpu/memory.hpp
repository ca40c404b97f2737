/// @file
/// Device memory: each allocation stands between pages that nobody may touch, with its end at the
/// second, so that an access beyond it is a fault at once. Copies and fills of boxes, whose ranges
/// are checked against the allocations that they touch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/kernel.hpp"

namespace cuda_on_cpu {

/// cudaMalloc(), cudaMallocManaged(), cudaHostAlloc().
enum class MemoryKind { device, managed, host };

/// A piece of memory that the runtime knows.
struct Allocation {
  std::uintptr_t pages = 0;  ///< where the mapping begins, guard page included
  std::size_t page_bytes = 0;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  int device = 0;
  Place place{};
  bool freed = false;
  Place freed_at{};
  bool registered = false;  ///< the program's own memory, made known by cudaHostRegister()
  int shared_file = -1;     ///< its contents, once another process may see them
  bool imported = false;    ///< another process's memory
  unsigned flags = 0;       ///< of cudaHostAlloc() and cudaHostRegister()
  cudaMemPool_t pool{};     ///< null unless it comes from one

  std::uintptr_t end() const { return begin + bytes; }
};

/// Nobody may touch so much on both sides of an allocation: more than a row too many, of most
/// images and matrices, or one too few. It takes addresses, not memory.
inline constexpr std::size_t surroundings = std::size_t{256} << 10;
/// More than any machine has: sizes near 2^64 are negative numbers that were converted.
inline constexpr std::size_t max_bytes = std::size_t{1} << 46;

/// Makes an allocation.
cudaError_t allocate(void** pointer, std::size_t bytes, MemoryKind kind, Place place, unsigned flags = 0,
                     cudaMemPool_t pool = nullptr);
/// Frees one, of the host's memory or not.
cudaError_t release_allocation(const char* call, void* pointer, bool host, Place place);
/// cudaFree() and cudaFreeHost(), which destructors call: nothing is thrown.
cudaError_t free_memory(const char* call, void* pointer, bool host, Place place);
/// The bytes that are allocated from a pool.
std::size_t bytes_of(cudaMemPool_t pool);

/// Fills memory with the bits of a NaN, whether it is read as half, float or double: those of seed
/// 1 are all ones, those of others differ, so that an integer that nobody has set shows.
void fill_with_nan(char* memory, std::size_t bytes);
/// The allocation on whose pages the address is, freed ones included for a while.
std::optional<Allocation> find_allocation(std::uintptr_t address);
/// What cudaHostRegister() has made known.
std::vector<Allocation> registered_memory();
/// "4 bytes beyond the end of the 4000 bytes allocated in main.cu:12"; empty if it is nowhere near
/// any allocation.
std::string describe_address(std::uintptr_t address);

/// Looks at the bytes behind each allocation's end that its rounding up to 16 bytes left over.
void check_for_overruns(RunningLaunch& launch);

/// While it lives, device memory is readable, in case it is protected from host code.
class DeviceMemoryAccess {
 public:
  DeviceMemoryAccess();
  ~DeviceMemoryAccess();
  DeviceMemoryAccess(const DeviceMemoryAccess&) = delete;
  DeviceMemoryAccess& operator=(const DeviceMemoryAccess&) = delete;
};

/// Host code may access device memory, until the next launch or copy.
void open_memory_to_host();
/// Whether it may.
bool is_memory_open_to_host();

/// Puts the allocation into a file that another process can map; the file descriptor, or -1.
int share_allocation(std::uintptr_t begin);
/// Maps such a file of another process.
void* import_allocation(int file, std::size_t bytes, std::size_t offset, int device);
/// Unmaps it; false if it was not mapped.
bool close_import(void* pointer);

/// For cudaDeviceReset().
void free_all_memory();

/// Rows and slices of bytes; a plain copy is one row.
struct Extent {
  std::size_t width;
  std::size_t height = 1;
  std::size_t depth = 1;

  bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

/// Where the rows of a box are.
template <class Byte>
struct Side {
  Byte* begin;
  std::size_t pitch = 0;  ///< from row to row
  std::size_t slice = 0;  ///< from slice to slice

  /// Where a row begins.
  Byte* row(std::size_t y, std::size_t z) const { return begin + z * slice + y * pitch; }

  /// From the first byte of a box to its last.
  std::size_t bytes(const Extent& extent) const {
    return (extent.depth - 1) * slice + (extent.height - 1) * pitch + extent.width;
  }
};

/// What is copied from where to where.
struct Box {
  Side<char> to;
  Side<const char> from;
  Extent extent;

  void copy() const;
};

/// A plain copy.
Box one_row(void* to, const void* from, std::size_t bytes);

/// Enqueues a copy and, if asked to, waits for it. `call` and `place` are for what is wrong with
/// it. A __device__ variable may be named `by_symbol` only, if its address has not been asked for.
cudaError_t copy_box(const char* call, const Box& box, cudaMemcpyKind kind, bool wait, cudaStream_t stream, Place place,
                     bool by_symbol = false);
/// The same by the parameters of the 3-D copies.
cudaError_t copy_3d(const char* call, const cudaMemcpy3DParms* parameters, bool wait, cudaStream_t stream, Place place);

/// Enqueues a fill with a value of 1, 2 or 4 bytes; the extent counts bytes.
cudaError_t fill_box(const char* call, const Side<char>& to, const Extent& extent, unsigned value,
                     std::size_t value_bytes, cudaStream_t stream, Place place);

}  // namespace cuda_on_cpu
