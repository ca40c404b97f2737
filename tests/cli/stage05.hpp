/// @file
/// What the tests of stage 05's program have in common.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

inline const std::string program = "stage05_mpi ";

// 53 samples in batches of 20: two of them and a short one.
inline const std::string small_training =
    "train --train-limit 53 --test-limit 20 --hidden 8 --batch-size 20 ";
inline const std::string training = small_training + "--precision double --activation sigmoid ";

/// How long a job may live on after one of its processes has failed.
inline constexpr std::chrono::seconds soon(10);

/// A program as so many processes.
inline std::string ranks(int count, const std::string& of = program) {
  return "mpirun -n " + std::to_string(count) + " " + of;
}

inline int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++found;
  return found;
}

class Stage05 : public CommandLine {
 protected:
  void SetUp() override {
#ifdef STAGEWISE_STAGE05
    surroundings_.longest_run = 60;
    surroundings_.variables["STAGEWISE_CPU_WORKERS"] = "1";  // the ranks have the cores
    need_device("stage04_minibatch");                        // which takes less time to say so
#else
    GTEST_SKIP() << "this build has no stage 05 (libopenmpi-dev)";
#endif
  }

  /// The command on two ranks, of which each does something else before, in the language of a
  /// shell. (Open MPI 5.0.7's mpirun does not survive two commands with a colon between them.)
  std::string by_rank(const std::string& first, const std::string& second,
                      const std::string& command) {
    std::ofstream(path("by_rank.sh")) << "if [ \"$OMPI_COMM_WORLD_RANK\" = 0 ]; then\n"
                                      << first << "\nelse\n"
                                      << second << "\nfi\nexec \"$@\"\n";
    return "mpirun -n 2 sh by_rank.sh " + program + command;
  }

  /// The same command on two ranks, of which the first runs in one folder and the second in
  /// another.
  std::string in_folders(const fs::path& first, const fs::path& second,
                         const std::string& command) {
    return by_rank("cd '" + first.string() + "'", "cd '" + second.string() + "'", command);
  }

  /// The same command on two ranks with a variable of the environment that differs.
  std::string with_variable(const std::string& name, const std::string& first,
                            const std::string& second, const std::string& command) {
    return by_rank("export " + name + "=" + first, "export " + name + "=" + second, command);
  }

  /// Whether the kernels run on the CPU, where MPI can read the device's memory.
  bool is_emulated() {
    return run_well("stage04_minibatch info").find("CUDA on the CPU") != std::string::npos;
  }

  /// Expects that a job ends by itself, with this exit code, and that one rank says this sentence,
  /// behind said_by_. Around it, mpirun may say what it likes.
  /// @param sentence without the program's name and the period; what follows a "..." at its end is
  ///        left open.
  /// @return what the program has said.
  std::string expect_job_fails(const std::string& command, int exit_code,
                               const std::string& sentence) {
    const auto start = Clock::now();
    const Outcome outcome = run(command);
    EXPECT_LT(Clock::now() - start, std::chrono::minutes(1)) << command;  // with its start
    EXPECT_EQ(outcome.signal, 0) << command;
    EXPECT_EQ(outcome.exit_code, exit_code) << command;
    std::vector<std::string> said;
    for (const std::string& line : lines_of(outcome.err)) {
      if (line.starts_with(said_by_)) said.push_back(line);
    }
    EXPECT_EQ(said.size(), 1U) << command << '\n' << outcome.err;
    if (said.empty()) return "";
    if (sentence.ends_with("...")) {
      const std::string begin = said_by_ + sentence.substr(0, sentence.size() - 3);
      EXPECT_EQ(said.front().substr(0, begin.size()), begin) << command;
      EXPECT_TRUE(said.front().ends_with(".")) << said.front();
    } else {
      EXPECT_EQ(said.front(), said_by_ + sentence + ".") << command;
    }
    return said.front();
  }

  std::string said_by_ = "stage05_mpi: ";

  void expect_same(const std::string& a, const std::string& b, const std::string& tolerance) {
    run_well("compare_checkpoints " + a + " " + b + " --tolerance " + tolerance);
  }

  void expect_same_bytes(const std::string& a, const std::string& b) {
    ASSERT_FALSE(read_file(path(a)).empty()) << a;
    EXPECT_TRUE(read_file(path(a)) == read_file(path(b))) << a << " and " << b << " differ";
  }
};

}  // namespace stagewise
