/// @file
/// Memory and how much of it there is, the tensor that owns a piece of it, and a parameter's values on the host.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tensor/shape.hpp"

namespace stagewise {

/// A line of the source. As a default argument, `CodeLine::here()` is the line of the call:
///
///     void* allocate(std::size_t bytes, CodeLine asker = CodeLine::here());
///
/// A function that asks on behalf of its caller passes the caller's line on. Not
/// std::source_location, which not every nvcc knows.
struct CodeLine {
  const char* file;
  unsigned line;

  /// The line that calls this, or whose call has this as a default argument.
  static constexpr CodeLine here(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

/// Where tensors are. Every executor has one: the host's, or a GPU's.
class Memory {
 public:
  virtual ~Memory() = default;

  /// At least `bytes` bytes, aligned to 64; contents undefined. Never null, also for 0 bytes.
  /// @param asker the line that requests the memory, for reports of accesses beyond it.
  /// @throws Error naming the number of bytes if there is not enough memory.
  virtual void* allocate(std::size_t bytes, CodeLine asker) = 0;

  /// Releases what allocate() returned.
  virtual void release(void* pointer) noexcept = 0;

  /// How much of it is left, and its name: "the host's memory".
  struct Room {
    std::size_t bytes = std::numeric_limits<std::size_t>::max();
    std::string of = {};
  };
  virtual Room room() const { return {}; }
};

/// The process's ordinary memory.
Memory& host_memory();

/// A row-major array of `T` with a shape, in some Memory. Owns its elements; movable, not copyable,
/// because copies between memories are the executor's work and should be visible in the code.
template <typename T>
class Tensor {
 public:
  /// Holds nothing: no elements, a null pointer.
  Tensor() = default;

  /// Allocates `shape.elements()` elements; their values are undefined.
  /// @param memory must outlive the tensor.
  /// @param asker as in Memory::allocate().
  explicit Tensor(const Shape& shape, Memory& memory = host_memory(), CodeLine asker = CodeLine::here())
      : shape_(shape),
        memory_(&memory),
        data_(static_cast<T*>(memory.allocate(static_cast<std::size_t>(shape.elements()) * sizeof(T), asker))) {}

  Tensor(Tensor&& other) noexcept
      : shape_(std::exchange(other.shape_, Shape{0})),
        memory_(std::exchange(other.memory_, nullptr)),
        data_(std::exchange(other.data_, nullptr)) {}

  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(shape_, other.shape_);
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    return *this;
  }

  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  ~Tensor() {
    if (memory_ != nullptr) memory_->release(data_);
  }

  const Shape& shape() const { return shape_; }
  Index elements() const { return shape_.elements(); }

  /// The first element; in a GPU's memory, the host must not follow this pointer.
  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  Shape shape_{0};
  Memory* memory_ = nullptr;
  T* data_ = nullptr;
};

/// Bytes that the process can probably allocate: what is free or can be freed, swap space
/// included, within the limits of `ulimit -v` and the control group (of a container or a batch
/// job).
std::size_t available_host_memory();

/// Whether this many bytes can be allocated now, in one piece. They are not kept.
bool can_be_had(std::size_t bytes);

/// The values of a parameter on the host, always in double: every float is a double.
struct ParameterValues {
  std::string name;  ///< "fc1/weight"
  Shape shape;
  std::vector<double> values;

  bool operator==(const ParameterValues&) const = default;
};

}  // namespace stagewise
