#include <algorithm>
#include <map>

#include <cuda_runtime_api.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/settings.hpp"
#include "cuda_on_cpu/stream.hpp"

namespace cuda_on_cpu {
namespace {

using Events = std::map<Event*, std::shared_ptr<Event>>;

Events& events() {
  static auto* const events = new Events;
  return *events;
}

void happen(Event& event) { event.time = std::chrono::steady_clock::now(); }

bool has_happened(const Event& event) {
  return event.mark.stream == nullptr || event.mark.stream->done >= event.mark.position;
}

/// An event's work, as far as it is still to be done.
void wait_until_happened(Event& event) {
  if (event.mark.stream != nullptr) run_until(event.mark);
  event.mark = {};
}

}  // namespace

std::shared_ptr<Event> find_event(cudaEvent_t handle) {
  const auto found = events().find(reinterpret_cast<Event*>(handle));
  return found != events().end() ? found->second : nullptr;
}

void forget_stream_in_events(const Stream& stream) {
  for (const auto& [handle, event] : events()) {
    if (event->mark.stream.get() == &stream) event->mark = {};
  }
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (runs_in_kernel()) {  // of no use: what kernels launch runs one after the other
    *event = nullptr;
    return cudaSuccess;
  }
  if (sticky_error() != cudaSuccess) return sticky_error();
  const bool valid = (flags & cudaEventInterprocess) == 0 || (flags & cudaEventDisableTiming) != 0;
  if (event == nullptr || !valid || flags > 7) return record(cudaErrorInvalidValue);
  const std::lock_guard lock(engine());
  const auto fresh = std::make_shared<Event>();
  fresh->flags = flags;
  events().emplace(fresh.get(), fresh);
  *event = reinterpret_cast<cudaEvent_t>(fresh.get());
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  if (runs_in_kernel()) return cudaSuccess;
  const std::lock_guard lock(engine());
  const std::shared_ptr<Event> event = find_event(handle);
  if (event == nullptr) return record(cudaErrorInvalidResourceHandle);
  if (event->mark.stream != nullptr) run_until(event->mark);
  events().erase(event.get());
  return sticky_error();
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
  if (runs_in_kernel()) return cudaSuccess;
  const std::lock_guard lock(engine());
  const std::shared_ptr<Event> event = find_event(handle);
  if (event == nullptr) return record(cudaErrorInvalidResourceHandle);
  const auto [error, stream, at_once] = open_stream(stream_handle);
  if (error != cudaSuccess) return record(error);
  if (stream->capture != nullptr) {
    event->capture = stream->capture;
    event->last_nodes = stream->last_nodes;
    return cudaSuccess;
  }
  event->capture.reset();
  event->recorded = true;
  event->mark = {};
  if (at_once) {
    if (observer != nullptr) event->clock = clock_of(*stream);
    happen(*event);
  } else {
    keep(*stream, [event] { happen(*event); });
    event->mark = {stream->shared_from_this(), stream->enqueued};
  }
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream_handle, cudaEvent_t handle, unsigned /*flags*/) {
  if (runs_in_kernel()) return cudaSuccess;
  const std::lock_guard lock(engine());
  const std::shared_ptr<Event> event = find_event(handle);
  if (event == nullptr) return record(cudaErrorInvalidResourceHandle);
  const auto [error, stream, at_once] = open_stream(stream_handle);
  if (error != cudaSuccess) return record(error);
  if (event->capture != nullptr && event->capture->ended) {
    if (stream->capture != nullptr) stream->capture->invalid = true;
    return refuse({},
                  "a stream was told to wait for an event that was last recorded in a capture which has "
                  "ended; record it again before.",
                  cudaErrorCapturedEvent);
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
    return refuse({}, "a stream that is being captured was told to wait for an event outside of the capture.",
                  cudaErrorStreamCaptureIsolation);
  }
  if (at_once) {
    wait_until_happened(*event);
    stream->clock.learn(event->clock);
  } else if (event->mark.stream != nullptr && !has_happened(*event)) {
    const Mark mark = event->mark;
    keep(*stream, [mark] { run_until(mark); });
  }
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  const std::shared_ptr<Event> event = find_event(handle);
  if (event == nullptr) return record(cudaErrorInvalidResourceHandle);
  if (event->capture != nullptr) return record(cudaErrorCapturedEvent);
  ++counters().host_synchronizations;
  wait_until_happened(*event);
  note_wait(event->clock);
  return sticky_error();
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  const std::shared_ptr<Event> event = find_event(handle);
  if (event == nullptr) return record(cudaErrorInvalidResourceHandle);
  if (event->capture != nullptr) return record(cudaErrorCapturedEvent);
  if (has_happened(*event)) {
    note_wait(event->clock);
    return cudaSuccess;
  }
  run_until({event->mark.stream, event->mark.stream->done + 1});
  return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start_handle, cudaEvent_t end_handle) {
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  const std::shared_ptr<Event> start = find_event(start_handle);
  const std::shared_ptr<Event> end = find_event(end_handle);
  if (start == nullptr || end == nullptr || !start->recorded || !end->recorded ||
      ((start->flags | end->flags) & cudaEventDisableTiming) != 0) {
    return record(cudaErrorInvalidResourceHandle);
  }
  if (!has_happened(*start) || !has_happened(*end)) return record(cudaErrorNotReady);
  note_wait(end->clock);
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (flags > cudaEventRecordExternal) return record(cudaErrorInvalidValue);
  return cudaEventRecord(event, stream);
}
