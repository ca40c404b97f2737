#include "cuda_on_cpu/stream.hpp"

#include <map>
#include <new>
#include <set>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>
#include <pthread.h>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/settings.hpp"

namespace cuda_on_cpu {
namespace {

struct Streams {
  std::map<Stream*, std::shared_ptr<Stream>> all;  ///< that have not been destroyed
  std::map<int, Stream*> legacy;
  std::set<Capture*> captures;
  StreamClock destroyed;           ///< what those have had to do
  StreamClock destroyed_blocking;  ///< likewise, those that the default stream waits for
};

Streams& streams() {
  static auto* const streams = new Streams;
  return *streams;
}

Stream& new_stream(int device, unsigned flags) {
  const auto stream = std::make_shared<Stream>();
  stream->device = device;
  stream->flags = flags;
  streams().all.emplace(stream.get(), stream);
  return *stream;
}

Stream& legacy_stream(int device) {
  Stream*& stream = streams().legacy[device];
  if (stream == nullptr) {
    stream = &new_stream(device, 0);
    stream->legacy = true;
  }
  return *stream;
}

/// Whether the stream 0 is each thread's own.
bool null_is_of_thread = false;

bool is_blocking(const Stream& stream) { return !stream.legacy && (stream.flags & cudaStreamNonBlocking) == 0; }

/// The default stream waits for the others and they for it, unless they were created non-blocking.
void keep_order_with_default_stream(Stream& stream) {
  const auto wait_for_all_of = [&stream](Stream& other) {
    if (&other == &stream || other.done == other.enqueued) return;
    const Mark mark{other.shared_from_this(), other.enqueued};
    stream.waiting.emplace_back([mark] { run_until(mark); });
    ++stream.enqueued;
  };
  if (stream.legacy) {
    for (const auto& [other, owner] : streams().all) {
      if (other->device == stream.device && is_blocking(*other)) wait_for_all_of(*other);
    }
  } else if (is_blocking(stream)) {
    wait_for_all_of(legacy_stream(stream.device));
  }
}

/// A thread that forks may not leave the mutex locked for the child.
void watch_forks() {
  static const int installed = pthread_atfork([] { engine().lock(); }, [] { engine().unlock(); },
                                              [] {
                                                new (&engine()) std::recursive_mutex;
                                                forget_pool();
                                              });
  static_cast<void>(installed);
}

}  // namespace

std::recursive_mutex& engine() {
  static auto* const of_host = new std::recursive_mutex;
  static auto* const of_kernels = new std::recursive_mutex;
  return runs_in_kernel() ? *of_kernels : *of_host;
}

Stream* find_stream(cudaStream_t handle) {
  thread_local std::map<int, Stream*> of_thread;
  const bool of_this_thread = handle == cudaStreamPerThread || (handle == nullptr && null_is_of_thread);
  if (!of_this_thread && (handle == nullptr || handle == cudaStreamLegacy)) {
    return &legacy_stream(current_device());
  }
  if (of_this_thread) {
    Stream*& stream = of_thread[current_device()];
    if (stream == nullptr) stream = &new_stream(current_device(), 0);
    return stream;
  }
  auto* const stream = reinterpret_cast<Stream*>(handle);
  return streams().all.contains(stream) ? stream : nullptr;
}

void use_default_stream_of_thread() { null_is_of_thread = true; }

void register_capture(Capture& capture) { streams().captures.insert(&capture); }

void end_capture(Capture& capture) {
  capture.ended = true;
  streams().captures.erase(&capture);
  for (Stream* const member : std::exchange(capture.streams, {})) {
    member->last_nodes.clear();
    member->capture.reset();
  }
}

OpenStream open_stream(cudaStream_t handle) {
  watch_forks();
  if (sticky_error() != cudaSuccess) return {sticky_error()};
  Stream* const stream = find_stream(handle);
  if (stream == nullptr) {
    report("a stream was used that does not exist or has been destroyed.");
    return {cudaErrorInvalidResourceHandle};
  }
  if (stream->device != current_device()) {
    report("a stream of device " + std::to_string(stream->device) + " was used while device " +
           std::to_string(current_device()) + " is the current one; call cudaSetDevice() before.");
    return {cudaErrorInvalidResourceHandle};
  }
  if (stream->capture != nullptr) {
    if (stream->capture->invalid) return {cudaErrorStreamCaptureInvalidated};
    return {cudaSuccess, stream, false};
  }
  if (stream->legacy) {
    for (Capture* const capture : streams().captures) {
      if (is_blocking(*capture->origin) && capture->mode != cudaStreamCaptureModeRelaxed) {
        capture->invalid = true;
        report(
            "the default stream was used while a stream that waits for it is being captured; "
            "create that stream with cudaStreamNonBlocking.");
        return {cudaErrorStreamCaptureImplicit};
      }
    }
  }
  return {cudaSuccess, stream, !settings().lazy_streams && stream->waiting.empty()};
}

std::size_t new_node_name() {
  static std::size_t last = 0;
  return ++last;
}

cudaError_t record_nodes(const std::function<cudaError_t(cudaStream_t)>& enqueue, Nodes& nodes) {
  Stream& stream = new_stream(current_device(), cudaStreamNonBlocking);
  stream.capture = std::make_shared<Capture>();
  stream.capture->origin = &stream;
  const cudaError_t error = enqueue(reinterpret_cast<cudaStream_t>(&stream));
  nodes = std::move(stream.capture->nodes);
  streams().all.erase(&stream);
  return error;
}

void keep(Stream& stream, Work work, cudaGraphNodeType type) {
  if (stream.capture != nullptr) {
    stream.capture->nodes.push_back({std::move(work), stream.last_nodes, type, new_node_name()});
    stream.last_nodes.assign(1, stream.capture->nodes.size() - 1);
    return;
  }
  keep_order_with_default_stream(stream);
  stream.waiting.push_back(std::move(work));
  ++stream.enqueued;
}

StreamClock clock_of(Stream& stream) {
  StreamClock clock = stream.clock;
  clock.learn(observer->host_clock);
  if (stream.legacy) {
    clock.learn(streams().destroyed_blocking);
    for (const auto& [other, owner] : streams().all) {
      if (other->device == stream.device && is_blocking(*other)) clock.learn(other->clock);
    }
  } else if (is_blocking(stream)) {
    clock.learn(legacy_stream(stream.device).clock);
  }
  return clock;
}

void begin_piece(Stream& stream) {
  if (observer == nullptr) [[likely]]
    return;
  static std::size_t streams_so_far = 0;
  if (stream.last.piece++ == 0) stream.last.stream = streams_so_far++;
  stream.clock = clock_of(stream);
  stream.clock.learn(stream.last);
  called = {};
  observer->piece_begins(stream.last, stream.clock, streams_so_far > 1);
}

void note_wait(const StreamClock& clock) {
  if (observer != nullptr) observer->host_waited(clock);
}

void note_wait(Stream& stream) {
  if (observer != nullptr) observer->host_waited(stream.legacy ? clock_of(stream) : stream.clock);
}

void note_wait_for_all() {
  if (observer == nullptr) return;
  observer->host_waited(streams().destroyed);
  for (const auto& [handle, stream] : streams().all) observer->host_waited(stream->clock);
}

void perform(const std::function<void()>& work) {
  if (sticky_error() != cudaSuccess) return;
  const DeviceMemoryAccess access;
  work();
}

void run_until(const Mark& mark) {
  const std::shared_ptr<Stream> kept = mark.stream;
  Stream& stream = *kept;
  const std::uint64_t position = mark.position;  // work may change an event's mark
  while (stream.done < position && !stream.waiting.empty()) {
    const Work work = std::move(stream.waiting.front());
    stream.waiting.pop_front();
    ++stream.done;  // first, for work that waits for other streams
    perform(work);
  }
}

cudaError_t may_wait(const char* call) {
  if (runs_in_kernel()) return cudaSuccess;
  if (sticky_error() != cudaSuccess) return sticky_error();
  const std::lock_guard lock(engine());
  for (Capture* const capture : streams().captures) {
    const bool forbids =
        capture->mode == cudaStreamCaptureModeGlobal ||
        (capture->mode == cudaStreamCaptureModeThreadLocal && capture->thread == std::this_thread::get_id());
    if (!forbids) continue;
    capture->invalid = true;
    return refuse({}, std::string(call) + " is not permitted while a stream is being captured.",
                  cudaErrorStreamCaptureUnsupported);
  }
  return cudaSuccess;
}

cudaError_t wait_for(cudaStream_t handle) {
  if (runs_in_kernel()) return cudaSuccess;
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  Stream* const stream = find_stream(handle);
  if (stream == nullptr) {
    return refuse({}, "a stream was waited for that does not exist or has been destroyed.",
                  cudaErrorInvalidResourceHandle);
  }
  if (stream->capture != nullptr) {
    stream->capture->invalid = true;
    return refuse({}, "a stream was waited for while it is being captured.", cudaErrorStreamCaptureUnsupported);
  }
  if (stream->legacy) keep_order_with_default_stream(*stream);
  run_until({stream->shared_from_this(), stream->enqueued});
  note_wait(*stream);
  return sticky_error();
}

void wait_for_device() {
  if (runs_in_kernel()) return;  // it is the grid that waits
  const std::lock_guard lock(engine());
  const auto all = streams().all;
  for (const auto& [handle, stream] : all) {
    if (stream->device != current_device()) continue;
    run_until({stream, stream->enqueued});
    note_wait(*stream);
  }
  note_wait(streams().destroyed);
}

void reset_streams() {
  const std::lock_guard lock(engine());
  note_wait_for_all();
  for (const auto& [handle, stream] : streams().all) {
    stream->waiting.clear();
    stream->done = stream->enqueued;
    if (const std::shared_ptr<Capture> capture = stream->capture) end_capture(*capture);
  }
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int /*priority*/) {
  if (runs_in_kernel()) {  // all that is launched there waits for the end of the grid
    *stream = nullptr;
    return cudaSuccess;
  }
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (stream == nullptr || flags > cudaStreamNonBlocking) return record(cudaErrorInvalidValue);
  const std::lock_guard lock(engine());
  *stream = reinterpret_cast<cudaStream_t>(&new_stream(current_device(), flags));
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  if (runs_in_kernel()) return cudaSuccess;
  const std::lock_guard lock(engine());
  Stream* const stream = find_stream(handle);
  if (stream == nullptr || stream->legacy || handle == cudaStreamPerThread) {
    return record(cudaErrorInvalidResourceHandle);
  }
  if (const std::shared_ptr<Capture> capture = stream->capture) {
    capture->invalid = true;
    if (capture->origin == stream) {
      end_capture(*capture);
    } else {
      std::erase(capture->streams, stream);
    }
  }
  run_until({stream->shared_from_this(), stream->enqueued});
  streams().destroyed.learn(stream->clock);
  if (is_blocking(*stream)) streams().destroyed_blocking.learn(stream->clock);
  forget_stream_in_events(*stream);
  streams().all.erase(stream);
  return sticky_error();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  ++counters().host_synchronizations;
  return wait_for(stream);
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  const std::lock_guard lock(engine());
  const auto [error, stream, at_once] = open_stream(handle);
  if (error != cudaSuccess) return record(error);
  if (stream->capture != nullptr) {
    stream->capture->invalid = true;
    return record(cudaErrorStreamCaptureUnsupported);
  }
  // Whoever asks again and again waits for it: a piece is done each time.
  if (stream->waiting.empty()) {
    note_wait(*stream);
    return cudaSuccess;
  }
  run_until({stream->shared_from_this(), stream->done + 1});
  return cudaErrorNotReady;
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void* pointer, std::size_t /*bytes*/, unsigned flags) {
  const std::lock_guard lock(engine());
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (find_stream(handle) == nullptr) return record(cudaErrorInvalidResourceHandle);
  const auto found = find_allocation(reinterpret_cast<std::uintptr_t>(pointer));
  const bool one_flag = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
  if (!one_flag || !found || found->freed || found->kind != MemoryKind::managed) {
    return record(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  if (function == nullptr) return record(cudaErrorInvalidValue);
  const auto call = [=] {
    if (observer != nullptr) observer->host_function_begins();
    function(user_data);
  };
  return record(submit(
      stream, call, [&]() -> Work { return call; }, cudaGraphNodeTypeHost));
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* user_data, unsigned flags) {
  if (callback == nullptr || flags != 0) return record(cudaErrorInvalidValue);
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream, &capturing);
  if (error != cudaSuccess) return error;
  if (capturing != cudaStreamCaptureStatusNone) return record(cudaErrorStreamCaptureUnsupported);
  const auto call = [=] {
    if (observer != nullptr) observer->host_function_begins();
    callback(stream, sticky_error(), user_data);
  };
  return record(submit(stream, call, [&]() -> Work { return call; }));
}

cudaError_t cudaDeviceSynchronize() {
  if (const cudaError_t error = may_wait("cudaDeviceSynchronize()"); error != cudaSuccess) return error;
  ++counters().host_synchronizations;
  wait_for_device();
  return sticky_error();
}

cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }

cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
