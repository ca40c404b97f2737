/// @file
/// Writes down which functions of the CUDA runtime a program calls, in their order.
///
/// CUDA loads this library into any program that runs with CUDA_INJECTION64_PATH naming it:
///
///     CUDA_INJECTION64_PATH=build/cuda/bin/libtrace_cuda_calls.so STAGEWISE_CALLS=calls.txt
///         build/cuda/bin/stage04_minibatch train
///
/// Each line of the file that STAGEWISE_CALLS names is a number and a function: so many calls of it
/// came one after the other.

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <cupti.h>

namespace {

struct Trace {
  std::mutex mutex;
  std::vector<std::pair<std::string, long>> calls;
};

/// Never destroyed: threads may call CUDA until the very end.
Trace& trace() {
  static Trace* const the_trace = new Trace;
  return *the_trace;
}

/// "cudaGraphLaunch" of "cudaGraphLaunch_v10000": the version that a program was linked with.
std::string plain_name(const char* function) {
  const std::string name = function;
  return name.substr(0, name.find('_'));
}

void note_call(void* /*unused*/, CUpti_CallbackDomain domain, CUpti_CallbackId /*function*/,
               const void* data) {
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API || call.callbackSite != CUPTI_API_ENTER) return;
  const std::string name = plain_name(call.functionName);
  const std::lock_guard lock(trace().mutex);
  auto& calls = trace().calls;
  if (calls.empty() || calls.back().first != name) calls.emplace_back(name, 0);
  ++calls.back().second;
}

void write_calls() {
  const std::lock_guard lock(trace().mutex);
  const char* const path = std::getenv("STAGEWISE_CALLS");
  std::FILE* const file = path != nullptr ? std::fopen(path, "w") : stderr;
  if (file == nullptr) {
    std::perror(path);
    return;
  }
  for (const auto& [name, count] : trace().calls) {
    std::fprintf(file, "%ld %s\n", count, name.c_str());
  }
  if (file != stderr) std::fclose(file);
}

}  // namespace

/// What CUDA calls when it has loaded the library.
/// @return 1: all is well.
extern "C" int InitializeInjection() {  // NOLINT(readability-identifier-naming)
  CUpti_SubscriberHandle subscriber = nullptr;
  if (cuptiSubscribe(&subscriber, note_call, nullptr) != CUPTI_SUCCESS ||
      cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API) != CUPTI_SUCCESS) {
    std::fprintf(stderr,
                 "trace_cuda_calls: CUPTI cannot be used here: does another tool use it?\n");
    return 1;
  }
  std::atexit(write_calls);
  return 1;
}
