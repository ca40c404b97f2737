/// @file
/// Arrays of the tests in an executor's memory.
#pragma once

#include <vector>

#include "training/executor.hpp"

namespace stagewise {

/// An array in an executor's memory, filled from the host.
template <typename T>
class DeviceArray {
 public:
  template <typename U>
  DeviceArray(Executor<U>& executor, const std::vector<T>& values, CodeLine asker = CodeLine::here())
      : tensor_({static_cast<Index>(values.size())}, executor.memory(), asker) {
    if (!values.empty()) executor.copy_in(tensor_.data(), values.data(), values.size() * sizeof(T));
  }

  T* get() { return tensor_.data(); }

  template <typename U>
  std::vector<T> read(Executor<U>& executor) const {
    std::vector<T> values(static_cast<std::size_t>(tensor_.elements()));
    if (!values.empty()) executor.copy_out(values.data(), tensor_.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  Tensor<T> tensor_;
};

}  // namespace stagewise
