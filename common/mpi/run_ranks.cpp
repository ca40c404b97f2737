#include "mpi/run_ranks.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <streambuf>
#include <thread>
#include <vector>

#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise::mpi {
namespace {

/// Discards what is written to it.
class Nowhere final : public std::streambuf {
  int_type overflow(int_type c) override { return traits_type::not_eof(c); }
  std::streamsize xsputn(const char* /*text*/, std::streamsize length) override { return length; }
};

/// @throws UsageError if mpirun has given the ranks different options: they would wait for each
///         other forever.
void compare_command_lines(World& world, int argc, const char* const* argv) {
  std::string own;
  for (int i = 1; i < argc; ++i) own += (i > 1 ? " " : "") + std::string(argv[i]);
  const std::vector<std::string> all = world.gather_all(own);
  constexpr std::size_t longest = 500;
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all.front()) continue;
    throw UsageError("rank " + std::to_string(rank) + " was started with " + in_quotes(all[rank], longest) +
                     ", but rank 0 with " + in_quotes(all.front(), longest) +
                     "; every rank needs the same command line");
  }
}

//! [fail]
/// Prints what went wrong and ends all processes.
///
/// Often all ranks fail in the same way, for example because a file is missing, and only one of
/// them should report it, preferably rank 0. So each rank waits, and higher ranks wait longer. Then
/// the first failing rank on each host prints its message; the others wait to be ended.
void fail(const World& world, const std::string& program, const std::string& sentence, int exit_code, bool has_begun) {
  const bool is_root = world.rank() == 0;
  if (!has_begun && !is_root) return;  // rank 0's command line is the same and fails the same way
  constexpr auto turn = std::chrono::milliseconds(250);
  constexpr int max_turns = 12;
  std::this_thread::sleep_for(turn * std::min(world.rank(), max_turns));
  if (has_begun && !world.is_first_to_fail()) {
    std::this_thread::sleep_for(std::chrono::seconds(5));  // the process ends much earlier
  } else {
    std::cerr << program << ": " << (is_root ? "" : "rank " + std::to_string(world.rank()) + ": ") << sentence
              << std::endl;
  }
  if (!has_begun || world.size() == 1) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until mpirun has read it
  World::abort(exit_code);
}
//! [fail]

}  // namespace

int run_ranks(const std::string& program, int& argc, char**& argv,
              const std::function<int(World&, const ProgramHooks&)>& body) {
  try {
    World world(argc, argv);
    const ProgramHooks hooks = {
        .before = [&] { compare_command_lines(world, argc, argv); },
        .on_failure = [&](const std::string& sentence, int exit_code,
                          bool has_begun) { fail(world, program, sentence, exit_code, has_begun); }};
    Nowhere nowhere;
    std::streambuf* const output = std::cout.rdbuf();
    if (world.rank() > 0) std::cout.rdbuf(&nowhere);
    const int code = body(world, hooks);
    std::cout.rdbuf(output);
    return code;
  } catch (const std::exception& error) {  // before there is a command line
    std::cerr << program << ": " << error.what() << ".\n";
    return 1;
  }
}

}  // namespace stagewise::mpi
