#include "cuda_on_cpu/diagnose.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include <cuda_runtime_api.h>
#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

namespace cuda_on_cpu {
namespace {

std::atomic<cudaError_t> sticky = cudaSuccess;
thread_local cudaError_t last_error = cudaSuccess;

std::string demangled(const char* symbol) {
  if (symbol == nullptr) return "";
  int status = 0;
  char* const name = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string text = status == 0 ? name : symbol;
  std::free(name);  // NOLINT(*-no-malloc): that is how the demangler allocates
  return text;
}

/// Whether a learner would look for a mistake there: not in the runtime or a system header.
[[maybe_unused]] bool is_own_source(const std::string& file) {
  return !file.empty() && file.find("cuda_on_cpu/include/") == std::string::npos &&
         file.find("cuda_on_cpu/libraries/") == std::string::npos &&
         file.find("include/cuda_on_cpu/") == std::string::npos && file.rfind("/usr/", 0) != 0 &&
         file.rfind("../", 0) != 0 && file.find("sanitizer") == std::string::npos;
}

/// The debug information of the program and its libraries, read when first needed.
class DebugInformation {
 public:
  DebugInformation() {
    static char* no_path = nullptr;
    static const Dwfl_Callbacks callbacks = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr, &no_path};
    session_ = dwfl_begin(&callbacks);
    if (session_ == nullptr) return;
    dwfl_report_begin(session_);
    dwfl_linux_proc_report(session_, getpid());
    dwfl_report_end(session_, nullptr, nullptr);
  }

  /// The line of the learner's source that the instruction belongs to: its own or, where a function
  /// of the runtime was compiled into it, that of the call.
  std::string place_of(std::uintptr_t instruction) const {
    Dwfl_Module* const module = dwfl_addrmodule(session_, instruction);
    if (module == nullptr) return "";
    // Line 0 stands for an instruction that belongs to several lines, or to none: then the nearest
    // one before it within the function says about where.
    GElf_Off from_its_beginning = 0;
    GElf_Sym symbol;
    dwfl_module_addrinfo(module, instruction, &from_its_beginning, &symbol, nullptr, nullptr, nullptr);
    const char* file = nullptr;
    int number = 0;
    for (GElf_Off back = 0; number == 0 && back <= from_its_beginning; ++back) {
      Dwfl_Line* const line = dwfl_module_getsrc(module, instruction - back);
      if (line == nullptr) break;
      file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
    }
    if (file == nullptr || number == 0) return "";
    if (is_own_source(file)) return to_string(Place{file, static_cast<unsigned>(number)});
    Dwarf_Addr bias = 0;
    Dwarf_Die* const unit = dwfl_module_addrdie(module, instruction, &bias);
    // The innermost scope, then everything that it was compiled into.
    Dwarf_Die* innermost = nullptr;
    if (unit == nullptr || dwarf_getscopes(unit, instruction - bias, &innermost) <= 0) return "";
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes_die(innermost, &scopes);
    std::string place;
    for (int i = 0; i < count && place.empty(); ++i) place = place_of_call(unit, &scopes[i]);
    std::free(innermost);  // NOLINT(*-no-malloc): that is how the library allocates
    std::free(scopes);     // NOLINT(*-no-malloc): the same
    return place;
  }

  std::string function_of(std::uintptr_t address) const {
    // Variables that begin with zero are in no file's part of the memory, but in the table of the program's symbols.
    for (const std::uintptr_t place : {address, reinterpret_cast<std::uintptr_t>(&record)}) {
      Dwfl_Module* const module = dwfl_addrmodule(session_, place);
      const char* const name = module == nullptr ? nullptr : dwfl_module_addrname(module, address);
      if (name != nullptr) return demangled(name);
    }
    return "";
  }

 private:
  static std::string place_of_call(Dwarf_Die* unit, Dwarf_Die* scope) {
    if (dwarf_tag(scope) != DW_TAG_inlined_subroutine) return "";
    Dwarf_Attribute attribute;
    Dwarf_Word file_number = 0;
    Dwarf_Word line = 0;
    Dwarf_Files* files = nullptr;
    if (dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &file_number) != 0 ||
        dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_getsrcfiles(unit, &files, nullptr) != 0) {
      return "";
    }
    const char* const file = dwarf_filesrc(files, file_number, nullptr, nullptr);
    if (file == nullptr || !is_own_source(file)) return "";
    return to_string(Place{file, static_cast<unsigned>(line)});
  }

  Dwfl* session_ = nullptr;
};

const DebugInformation& debug_information() {
  static const auto* const information = new DebugInformation;
  return *information;
}

std::mutex debug_mutex;

/// Asks the debug information, in a thread of its own: reading it takes more stack than a fiber or
/// a signal handler has. Where the host has no memory for that, nothing is known.
template <typename Question>
std::string ask(const Question& question) {
  std::string answer;
  try {
    std::thread([&] {
      try {
        const std::lock_guard lock(debug_mutex);
        answer = question(debug_information());
      } catch (const std::bad_alloc&) {
        answer.clear();
      }
    }).join();
  } catch (const std::system_error&) {
    answer.clear();
  }
  return answer;
}

}  // namespace

cudaError_t record(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t sticky_error() { return sticky.load(); }

void set_sticky_error(cudaError_t error) {
  cudaError_t none = cudaSuccess;
  sticky.compare_exchange_strong(none, error);
}

void forget_errors() {
  sticky = cudaSuccess;
  last_error = cudaSuccess;
}

void report(const std::string& sentence) {
  const std::string line = "CUDA on the CPU: " + sentence + "\n";
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = write(STDERR_FILENO, line.data() + written, line.size() - written);
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
}

void report_at(Place place, const std::string& sentence) {
  report(place.file == nullptr ? sentence : to_string(place) + ": " + sentence);
}

cudaError_t refuse(Place place, const std::string& sentence, cudaError_t error) {
  report_at(place, sentence);
  return record(error);
}

void report_in_kernel(const Worker& worker, const std::string& place, const std::string& sentence) {
  report((place.empty() ? "" : place + ": ") + running_thread(worker.launch(), worker.block().index, threadIdx) + ": " +
         sentence);
}

std::string to_string(Place place) {
  if (place.file == nullptr) return "";
  if (place.line == 0) return place.file;  // words
  const std::string path = place.file;
  std::size_t begin = path.rfind('/');
  if (begin != std::string::npos && begin > 0) begin = path.rfind('/', begin - 1);
  return (begin == std::string::npos ? path : path.substr(begin + 1)) + ":" + std::to_string(place.line);
}

uint3 index_of(std::uint64_t number, dim3 extents) {
  return {static_cast<unsigned>(number % extents.x), static_cast<unsigned>(number / extents.x % extents.y),
          static_cast<unsigned>(number / extents.x / extents.y)};
}

std::string hexadecimal(std::uintptr_t address) {
  char text[32];
  std::snprintf(text, sizeof text, "%#lx", static_cast<unsigned long>(address));
  return text;
}

std::string to_string(uint3 index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) + ")";
}

std::string running_thread(const RunningLaunch& launch, uint3 block, uint3 thread) {
  return "kernel '" + std::string(launch.kernel) + "', block " + to_string(block) + ", thread " + to_string(thread);
}

std::string counted(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string place_of_instruction(std::uintptr_t instruction) {
  return ask([=](const DebugInformation& known) { return known.place_of(instruction); });
}

std::string function_at(std::uintptr_t address) {
  return ask([=](const DebugInformation& known) { return known.function_of(address); });
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return sticky_error() != cudaSuccess ? sticky_error() : last_error; }

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define CUDA_ON_CPU_ERROR(name, number, text) \
  case cuda##name:                            \
    return "cuda" #name;
    CUDA_ON_CPU_ERRORS(CUDA_ON_CPU_ERROR)
#undef CUDA_ON_CPU_ERROR
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define CUDA_ON_CPU_ERROR(name, number, text) \
  case cuda##name:                            \
    return text;
    CUDA_ON_CPU_ERRORS(CUDA_ON_CPU_ERROR)
#undef CUDA_ON_CPU_ERROR
  }
  return "unrecognized error code";
}
