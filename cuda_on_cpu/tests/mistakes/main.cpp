#include <cstdio>
#include <exception>
#include <map>
#include <string>

#include "mistakes/mistakes.hpp"

// mistakes NAME [--cured]: makes a mistake, or does it right. The exit code is 1 if CUDA or the
// result told of it.

namespace mistakes {
namespace {

using Mistake = void (*)(bool cured);

const std::map<std::string, Mistake>& all() {
  static const std::map<std::string, Mistake> table = {
      {"barrier_divergence", barrier_divergence},
      {"different_barriers", different_barriers},
      {"missing_lanes", missing_lanes},
      {"shuffle_outside_mask", shuffle_outside_mask},
      {"beyond_allocation", beyond_allocation},
      {"misaligned", misaligned},
      {"row_above", row_above},
      {"null_pointer", null_pointer},
      {"wild_index", wild_index},
      {"use_after_free", use_after_free},
      {"double_free", double_free},
      {"copy_beyond", copy_beyond},
      {"wrong_direction", wrong_direction},
      {"host_access", host_access},
      {"uninitialized", uninitialized},
      {"beyond_dynamic_shared", beyond_dynamic_shared},
      {"beyond_shared", beyond_shared},
      {"stack_overflow", stack_overflow},
      {"missing_barrier", missing_barrier},
      {"missing_wait", missing_wait},
      {"missing_event", missing_event},
      {"too_many_threads", too_many_threads},
      {"beyond_launch_bounds", beyond_launch_bounds},
      {"too_much_shared", too_much_shared},
      {"unchecked_launch", unchecked_launch},
      {"late_error", late_error},
      {"failed_assertion", failed_assertion},
  };
  return table;
}

int usage() {
  std::fprintf(stderr, "Usage: mistakes NAME [--cured], where NAME is one of\n");
  for (const auto& [name, mistake] : all()) std::fprintf(stderr, "  %s\n", name.c_str());
  return 2;
}

}  // namespace
}  // namespace mistakes

int main(int argc, char** argv) {
  using namespace mistakes;  // NOLINT(google-build-using-namespace)
  const bool cured = argc == 3 && std::string(argv[2]) == "--cured";
  if (argc < 2 || (argc > 2 && !cured)) return usage();
  const auto found = all().find(argv[1]);
  if (found == all().end()) return usage();
  try {
    found->second(cured);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mistakes: %s\n", error.what());
    return 1;
  }
  return 0;
}
