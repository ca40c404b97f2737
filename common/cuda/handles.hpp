/// @file
/// Owners of CUDA's handles: each is released when its owner is destroyed.
#pragma once

#include <memory>
#include <type_traits>

#include <cuda_runtime.h>

namespace stagewise::cuda {

/// A queue of work: work in one stream runs in the order in which it was enqueued; streams run
/// concurrently. It does not wait for the legacy default stream.
class Stream {
 public:
  /// @throws Error if there is no GPU, or if CUDA reports an error.
  Stream();

  /// Waits until all work in the stream is done.
  /// @throws Error if a kernel failed since.
  void synchronize() const;

  /// Whether that is done; does not wait.
  /// @throws Error if a kernel failed since.
  bool is_done() const;

  cudaStream_t get() const { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Destroy> handle_;
};

/// A mark in a stream, for which others can wait. It records no time; a TimedEvent does.
class Event {
 public:
  Event() : Event(cudaEventDisableTiming) {}

  /// Puts the mark after all work that is now in the stream.
  void record(const Stream& stream) const;

  /// Makes the stream wait for the mark before it continues; the host does not wait.
  void make_wait(const Stream& stream) const;

  /// Makes the host wait until the stream has passed the mark.
  void synchronize() const;

  cudaEvent_t get() const { return handle_.get(); }

 protected:
  explicit Event(unsigned flags);

 private:
  struct Destroy {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy> handle_;
};

/// A mark that records the time at which it was passed.
class TimedEvent : public Event {
 public:
  TimedEvent() : Event(cudaEventDefault) {}

  /// Seconds from an earlier mark to this one, both passed. Half a microsecond is the resolution.
  double seconds_since(const TimedEvent& earlier) const;
};

/// Work that was recorded once and can be launched repeatedly, each time at the cost of one launch.
class ExecutableGraph {
 public:
  /// Records what `enqueue` puts into the stream; nothing runs yet.
  template <typename Enqueue>
  ExecutableGraph(const Stream& stream, const Enqueue& enqueue) {
    begin(stream);
    try {
      enqueue();
    } catch (...) {
      discard(stream);
      throw;
    }
    end(stream);
  }

  /// Puts all recorded work into the stream.
  void launch(const Stream& stream) const;

  /// Abandons the handle without releasing it: what it holds may be in a state in which this is
  /// impossible.
  void abandon() { static_cast<void>(handle_.release()); }

 private:
  static void begin(const Stream& stream);
  static void discard(const Stream& stream) noexcept;
  void end(const Stream& stream);

  struct Destroy {
    void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, Destroy> handle_;
};

}  // namespace stagewise::cuda
