#include "cuda_on_cpu/count_tables.hpp"

#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/requests.hpp"

namespace cuda_on_cpu {
namespace {

/// "1,234,567"
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string with_decimals(double number, const char* format = "%.2f") {
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

/// "8.39 MB"
std::string size(double bytes) {
  if (bytes < 1e3) return with_decimals(bytes, "%.0f B");
  if (bytes < 1e6) return with_decimals(bytes / 1e3, "%.2f KB");
  if (bytes < 1e9) return with_decimals(bytes / 1e6, "%.2f MB");
  return with_decimals(bytes / 1e9, "%.2f GB");
}

double ratio(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

/// "4.00 sectors" of global memory, "2.00 cycles" of shared memory.
std::string per_request(AccessKind kind, const AccessCounts& counts) {
  if (kind < AccessKind::shared_load)
    return with_decimals(ratio(counts.sectors, counts.requests)) + " sectors";
  return with_decimals(ratio(counts.wavefronts, counts.requests)) + " cycles";
}

/// What is worse than it could be; empty if nothing is.
std::string remark(AccessKind kind, const AccessCounts& counts) {
  if (kind >= AccessKind::shared_load) {
    const std::uint64_t conflicts = counts.conflicts;
    return conflicts == 0
               ? ""
               : grouped(conflicts) + (conflicts == 1 ? " bank conflict" : " bank conflicts");
  }
  const double used = 100 * ratio(counts.bytes, counts.sectors * sector_bytes);
  return used >= 99.5 ? "" : with_decimals(used, "%.0f") + " % of the bytes moved are asked for";
}

void print_line(const std::string& title, AccessKind kind, const AccessCounts& counts) {
  std::string said = remark(kind, counts);
  if (!said.empty()) said.insert(0, "   ");
  std::fprintf(stderr, "  %-30s %14s %14s %7s%s\n", title.c_str(), grouped(counts.requests).c_str(),
               per_request(kind, counts).c_str(),
               with_decimals(ratio(counts.lanes, counts.requests), "%.1f").c_str(), said.c_str());
}

void print_distinct(const char* what, std::uint64_t asked, std::uint64_t distinct) {
  if (asked == 0) return;
  std::fprintf(stderr, "  %s %s, each %s times: %s asked for\n",
               size(static_cast<double>(distinct)).c_str(), what,
               with_decimals(ratio(asked, distinct), "%.1f").c_str(),
               size(static_cast<double>(asked)).c_str());
}

}  // namespace

void print_kernel(const std::string& name, const KernelCounts& kernel) {
  std::fprintf(
      stderr, "\nkernel '%s': %s, %s, %s, %s\n", name.c_str(),
      (kernel.launches == 1 ? std::string("1 launch") : grouped(kernel.launches) + " launches")
          .c_str(),
      counted(kernel.blocks, "block").c_str(), counted(kernel.threads, "thread").c_str(),
      counted(kernel.barriers, "barrier").c_str());
  std::array<AccessCounts, kinds.size()> sums;
  // Instructions of a line, such as the copies of an unrolled loop.
  std::map<std::pair<std::string, AccessKind>, AccessCounts> lines;
  for (const auto& [key, counts] : kernel.instructions) {
    const auto& [instruction, kind] = key;
    sums[static_cast<std::size_t>(kind)] += counts;
    std::string place = place_of_instruction(instruction);
    lines[{place.empty() ? "(elsewhere)" : place, kind}] += counts;
  }
  std::fprintf(stderr, "  %-30s %14s %14s %7s\n", "", "requests", "per request", "lanes");
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].requests > 0) print_line(kinds[i], static_cast<AccessKind>(i), sums[i]);
  }
  for (const auto& [key, counts] : lines) {
    const auto& [place, kind] = key;
    print_line(place + " " + kinds[static_cast<std::size_t>(kind)], kind, counts);
  }
  print_distinct("of global memory read", sums[0].bytes, kernel.distinct_loaded);
  print_distinct("written", sums[1].bytes + sums[2].bytes, kernel.distinct_stored);
}

}  // namespace cuda_on_cpu
