/// @file
/// Arrays of the tests in a backend's memory.
#pragma once

#include <vector>

#include "backend/backend.hpp"

namespace stagewise {

/// An array in a backend's memory, filled from the host.
template <typename T>
class DeviceArray {
 public:
  template <typename U>
  DeviceArray(Backend<U>& backend, const std::vector<T>& values, CodeLine asker = CodeLine::here())
      : tensor_(backend.template allocate<T>({static_cast<Index>(values.size())}, asker)) {
    if (!values.empty()) backend.copy_in(tensor_.data(), values.data(), values.size() * sizeof(T));
  }

  T* get() { return tensor_.data(); }

  template <typename U>
  std::vector<T> read(Backend<U>& backend) const {
    std::vector<T> values(static_cast<std::size_t>(tensor_.elements()));
    if (!values.empty()) backend.copy_out(values.data(), tensor_.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  Tensor<T> tensor_;
};

}  // namespace stagewise
