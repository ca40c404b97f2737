#include "cuda_on_cpu/event.hpp"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include <cuda_runtime_api.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/error.hpp"
#include "cuda_on_cpu/settings.hpp"

namespace cuda_on_cpu {
namespace {

using Events = std::map<Event*, std::shared_ptr<Event>>;

Events& events() {
  static auto* const events = new Events;
  return *events;
}

void happen(Event& event, std::uint64_t number) {
  event.time = std::chrono::steady_clock::now();
  if (event.shared != nullptr) event.shared->happened = number;
}

bool has_happened(const Event& event) {
  return event.mark.stream == nullptr || event.mark.stream->done >= event.mark.position;
}

/// Waits for another process to record the event, unless the device is spoilt.
void wait_for_others(const Event& event, std::uint64_t number) {
  while (event.shared->happened < number && sticky_error() == cudaSuccess) {
    std::this_thread::yield();
  }
}

/// Other threads may use the device while this one waits for another process.
void wait_until_happened(Event& event, std::unique_lock<std::recursive_mutex>& lock) {
  if (event.mark.stream != nullptr) run_until(event.mark);
  event.mark = {};
  if (event.shared == nullptr) return;
  const std::uint64_t number = event.shared->recorded;
  lock.unlock();
  wait_for_others(event, number);
  lock.lock();
}

}  // namespace

Event::~Event() {
  if (shared != nullptr) munmap(shared, sizeof(SharedEvent));
  if (shared_file >= 0) close(shared_file);
}

std::shared_ptr<Event> find_event(cudaEvent_t handle) {
  const auto found = events().find(reinterpret_cast<Event*>(handle));
  return found != events().end() ? found->second : nullptr;
}

cudaEvent_t add_event(std::shared_ptr<Event> event) {
  Event* const key = event.get();
  events().emplace(key, std::move(event));
  return reinterpret_cast<cudaEvent_t>(key);
}

void forget_stream_in_events(const Stream& stream) {
  for (const auto& [handle, event] : events()) {
    if (event->mark.stream.get() == &stream) event->mark = {};
  }
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  const bool valid = (flags & cudaEventInterprocess) == 0 || (flags & cudaEventDisableTiming) != 0;
  if (event == nullptr || !valid || flags > 7) return record(cudaErrorInvalidValue);
  const std::lock_guard lock(engine());
  const auto fresh = std::make_shared<Event>();
  fresh->flags = flags;
  *event = add_event(fresh);
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  const std::lock_guard lock(engine());
  const std::shared_ptr<Event> event = find_event(handle);
  if (event == nullptr) return record(cudaErrorInvalidResourceHandle);
  if (event->mark.stream != nullptr) run_until(event->mark);
  events().erase(event.get());
  return sticky_error();
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
  const std::lock_guard lock(engine());
  const std::shared_ptr<Event> event = find_event(handle);
  if (event == nullptr) return record(cudaErrorInvalidResourceHandle);
  Stream* stream = nullptr;
  bool at_once = false;
  if (const cudaError_t error = open_stream(stream_handle, stream, at_once); error != cudaSuccess) {
    return record(error);
  }
  if (stream->capture != nullptr) {
    event->capture = stream->capture;
    event->last_nodes = stream->last_nodes;
    return cudaSuccess;
  }
  event->capture.reset();
  event->recorded = true;
  event->mark = {};
  const std::uint64_t number = ++event->record_number;
  if (event->shared != nullptr) event->shared->recorded = number;
  if (at_once) {
    happen(*event, number);
  } else {
    keep(*stream, [event, number] { happen(*event, number); });
    event->mark = {stream->shared_from_this(), stream->enqueued};
  }
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream_handle, cudaEvent_t handle,
                                unsigned /*flags*/) {
  std::unique_lock lock(engine());
  const std::shared_ptr<Event> event = find_event(handle);
  if (event == nullptr) return record(cudaErrorInvalidResourceHandle);
  Stream* stream = nullptr;
  bool at_once = false;
  if (const cudaError_t error = open_stream(stream_handle, stream, at_once); error != cudaSuccess) {
    return record(error);
  }
  if (event->capture != nullptr && event->capture->ended) {
    if (stream->capture != nullptr) stream->capture->invalid = true;
    report(
        "a stream was told to wait for an event that was last recorded in a capture which has "
        "ended; record it again before.");
    return record(cudaErrorCapturedEvent);
  }
  if (event->capture != nullptr) {
    if (stream->capture != nullptr && stream->capture != event->capture) {
      return record(cudaErrorStreamCaptureMerge);
    }
    if (stream->capture == nullptr) {
      if (stream->legacy) return record(cudaErrorStreamCaptureImplicit);
      stream->capture = event->capture;
      stream->capture->streams.push_back(stream);
      stream->last_nodes.clear();
    }
    for (const std::size_t node : event->last_nodes) {
      if (std::ranges::find(stream->last_nodes, node) == stream->last_nodes.end()) {
        stream->last_nodes.push_back(node);
      }
    }
    return cudaSuccess;
  }
  if (stream->capture != nullptr) {
    if (!event->recorded) return cudaSuccess;
    stream->capture->invalid = true;
    report("a stream that is being captured was told to wait for an event outside of the capture.");
    return record(cudaErrorStreamCaptureIsolation);
  }
  if (at_once) {
    wait_until_happened(*event, lock);
  } else if (event->shared != nullptr) {
    const Mark mark = event->mark;
    const std::uint64_t number = event->shared->recorded;
    keep(*stream, [event, mark, number] {
      if (mark.stream != nullptr) run_until(mark);
      wait_for_others(*event, number);
    });
  } else if (event->mark.stream != nullptr && !has_happened(*event)) {
    const Mark mark = event->mark;
    keep(*stream, [mark] { run_until(mark); });
  }
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  std::unique_lock lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  const std::shared_ptr<Event> event = find_event(handle);
  if (event == nullptr) return record(cudaErrorInvalidResourceHandle);
  if (event->capture != nullptr) return record(cudaErrorCapturedEvent);
  ++counters().host_synchronizations;
  wait_until_happened(*event, lock);
  return sticky_error();
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  const std::shared_ptr<Event> event = find_event(handle);
  if (event == nullptr) return record(cudaErrorInvalidResourceHandle);
  if (event->capture != nullptr) return record(cudaErrorCapturedEvent);
  if (event->shared != nullptr && event->shared->happened < event->shared->recorded &&
      event->mark.stream == nullptr) {
    return cudaErrorNotReady;
  }
  if (has_happened(*event)) return cudaSuccess;
  run_until({event->mark.stream, event->mark.stream->done + 1});
  return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start_handle,
                                 cudaEvent_t end_handle) {
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  const std::shared_ptr<Event> start = find_event(start_handle);
  const std::shared_ptr<Event> end = find_event(end_handle);
  if (start == nullptr || end == nullptr || !start->recorded || !end->recorded ||
      ((start->flags | end->flags) & cudaEventDisableTiming) != 0) {
    return record(cudaErrorInvalidResourceHandle);
  }
  if (!has_happened(*start) || !has_happened(*end)) return record(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (flags > cudaEventRecordExternal) return record(cudaErrorInvalidValue);
  return cudaEventRecord(event, stream);
}
