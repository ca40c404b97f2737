/// @file
/// Files that an interrupted run must not leave behind.
#pragma once

#include <atomic>
#include <string>

namespace stagewise {

/// While it lives, a signal that asks the process to end (Ctrl-C, a terminal that closes, kill)
/// removes a file first. A signal that is already handled or ignored stays so.
class RemovedOnInterruption {
 public:
  /// @param path of a file that this process has created.
  explicit RemovedOnInterruption(std::string path);
  ~RemovedOnInterruption();
  RemovedOnInterruption(const RemovedOnInterruption&) = delete;
  RemovedOnInterruption& operator=(const RemovedOnInterruption&) = delete;

 private:
  std::string path_;
  std::atomic<const char*>* place_ = nullptr;  ///< where the handler finds the path
};

}  // namespace stagewise
