#include "cuda_on_cpu/settings.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <string>

namespace cuda_on_cpu {
namespace {

[[noreturn]] void refuse(const char* variable, const std::string& value, const std::string& expected) {
  std::fprintf(stderr, "The environment variable %s is '%s', but must be %s.\n", variable, value.c_str(),
               expected.c_str());
  std::exit(2);  // NOLINT(concurrency-mt-unsafe): the first use, before there are other threads
}

/// The place of the variable's value among the words; `fallback` if it is not set.
std::size_t word(const char* variable, std::initializer_list<const char*> words, std::size_t fallback) {
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  if (value == nullptr) return fallback;
  std::size_t i = 0;
  std::string expected;
  for (const char* const candidate : words) {
    if (std::string(value) == candidate) return i;
    if (i > 0) expected += i + 1 < words.size() ? ", " : " or ";
    expected += candidate;
    ++i;
  }
  refuse(variable, value, expected);
}

std::uint64_t number(const char* variable, std::uint64_t fallback, std::uint64_t lowest, std::uint64_t highest) {
  const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  if (text == nullptr) return fallback;
  char* end = nullptr;
  errno = 0;
  const std::uint64_t value = std::strtoull(text, &end, 10);
  const bool is_number = *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
  if (!is_number || value < lowest || value > highest) {
    refuse(variable, text, "a whole number from " + std::to_string(lowest) + " to " + std::to_string(highest));
  }
  return value;
}

Settings read_settings() {
  Settings read;
  read.lazy_streams = word("STAGEWISE_CPU_STREAMS", {"eager", "lazy"}, 0) == 1;
  read.thread_order = static_cast<ThreadOrder>(word("STAGEWISE_CPU_THREAD_ORDER", {"forward", "reverse", "random"}, 0));
  read.seed = number("STAGEWISE_CPU_SEED", read.seed, 0, std::numeric_limits<std::uint64_t>::max());
  read.strict_barriers = word("STAGEWISE_CPU_STRICT_BARRIERS", {"on", "off"}, 0) == 0;
  read.protect = word("STAGEWISE_CPU_PROTECT", {"on", "off"}, 1) == 0;
  read.progress = static_cast<Progress>(word("STAGEWISE_CPU_PROGRESS", {"off", "on", "limit"}, 0));
  read.workers = static_cast<unsigned>(number("STAGEWISE_CPU_WORKERS", 0, 1, 1024));
  read.devices = static_cast<int>(number("STAGEWISE_CPU_DEVICES", 1, 1, 64));
  read.multiprocessors = static_cast<int>(
      number("STAGEWISE_CPU_MULTIPROCESSORS", static_cast<std::uint64_t>(read.multiprocessors), 1, 1024));
  read.device_memory = number("STAGEWISE_CPU_DEVICE_MEMORY", read.device_memory, 1, std::uint64_t{1} << 46);
  return read;
}

}  // namespace

Settings& settings() {
  static Settings settings = read_settings();
  return settings;
}

Counters& counters() {
  static Counters counters{};
  return counters;
}

}  // namespace cuda_on_cpu
