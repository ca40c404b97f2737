#include <cstdio>
#include <exception>
#include <string>

#include "mistakes/mistakes.hpp"

// mistakes NAME [--cured]: makes a mistake, or does it right. The exit code is 1 if CUDA or the
// result told of it.

int main(int argc, char** argv) {
  const auto& all = mistakes::Mistake::all();
  const bool cured = argc == 3 && std::string(argv[2]) == "--cured";
  const auto found = argc == 2 || cured ? all.find(argv[1]) : all.end();
  if (found == all.end()) {
    std::fprintf(stderr, "Usage: mistakes NAME [--cured], where NAME is one of\n");
    for (const auto& [name, mistake] : all) std::fprintf(stderr, "  %s\n", name.c_str());
    return 2;
  }
  try {
    found->second(cured);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mistakes: %s\n", error.what());
    return 1;
  }
  return 0;
}
