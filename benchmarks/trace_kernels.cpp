/// @file
/// Writes down when kernels and copies ran on the GPU, those of recorded steps included.
///
/// CUDA loads this library into any program that runs with CUDA_INJECTION64_PATH naming it:
///
///     CUDA_INJECTION64_PATH=build/cuda/bin/libtrace_kernels.so STAGEWISE_KERNELS=kernels.txt
///         build/cuda/bin/stage04_minibatch train
///
/// Each line of the file that STAGEWISE_KERNELS names is a kernel or a copy: the nanoseconds at
/// which it began and ended, the number of its stream, its name.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <cupti.h>
#include <cxxabi.h>

namespace {

struct Span {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t stream = 0;
  std::string name;
};

struct Trace {
  std::mutex mutex;
  std::vector<Span> spans;
};

/// Never destroyed: CUPTI may deliver records until the very end.
Trace& trace() {
  static Trace* const the_trace = new Trace;
  return *the_trace;
}

std::string plain_name(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : mangled;
}

/// The buffers are CUPTI's until they come back full.
void give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  constexpr std::size_t size = 4 << 20;
  constexpr std::size_t alignment = 8;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(alignment, size));
  *bytes = *buffer == nullptr ? 0 : size;
  *max_records = 0;  // as many as there is room for
}

void note(const CUpti_Activity& record) {
  // A record may be longer than these versions of its structure, but begins like them.
  if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel8&>(record);
    trace().spans.push_back({kernel.start, kernel.end, kernel.streamId, plain_name(kernel.name)});
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy5&>(record);
    const char* const name = copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD   ? "copy in"
                             : copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ? "copy out"
                                                                                : "copy";
    trace().spans.push_back({copy.start, copy.end, copy.streamId, name});
  }
}

void take_buffer(CUcontext /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer, std::size_t /*size*/,
                 std::size_t valid_bytes) {
  {
    const std::lock_guard lock(trace().mutex);
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
      note(*record);
    }
  }
  std::free(buffer);
}

void write_spans() {
  cuptiActivityFlushAll(1);
  const std::lock_guard lock(trace().mutex);
  const char* const path = std::getenv("STAGEWISE_KERNELS");
  std::FILE* const file = path != nullptr ? std::fopen(path, "w") : stderr;
  if (file == nullptr) {
    std::perror(path);
    return;
  }
  std::vector<Span>& spans = trace().spans;
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  for (const Span& span : spans) {
    std::fprintf(file, "%llu %llu %u %s\n", static_cast<unsigned long long>(span.begin),
                 static_cast<unsigned long long>(span.end), span.stream, span.name.c_str());
  }
  if (file != stderr) std::fclose(file);
}

}  // namespace

/// What CUDA calls when it has loaded the library.
/// @return 1: all is well.
extern "C" int InitializeInjection() {  // NOLINT(readability-identifier-naming)
  if (cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS ||
      cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS ||
      cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY) != CUPTI_SUCCESS) {
    std::fprintf(stderr, "trace_kernels: CUPTI cannot be used here: does another tool use it?\n");
    return 1;
  }
  std::atexit(write_spans);
  return 1;
}
