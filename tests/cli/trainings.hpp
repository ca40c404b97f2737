/// @file
/// What the tests of programs that train have in common: stage 01 is the measure of them all, of
/// several processes, too.
#pragma once

#include <string>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"
#include "verify/compare.hpp"

namespace stagewise {

class Trainings : public CommandLine {
 protected:
  /// Expects that a program trains what stage 01 trains, workers included.
  /// @param options the program's, of which stage 01 may know nothing.
  /// @param serial stage 01's.
  void expect_training(const std::string& program, const std::string& options = "", const std::string& serial = "") {
    SCOPED_TRACE(program + " " + options);
    const std::string reference = test_name("serial " + serial) + ".h5";
    if (!fs::exists(path(reference))) {
      run_well("stage01_serial" + smooth_training + "--save " + reference + " " + serial);
    }
    const std::string output = run_well(program + smooth_training + "--save own.h5 --report own.json " + options);
    EXPECT_EQ(count(output, program_of(program) + " on "), 1) << output;
    const json report = json::parse(text("own.json"));
    EXPECT_EQ(report.at("stage"), program_of(program));
    const bool is_emulated = report.at("cuda_on_cpu");
    const std::string processor = program == "ladder blocked" ? "CPU (" : "GPU (";
    EXPECT_TRUE(report.at("device").get<std::string>().starts_with(is_emulated ? "CUDA on the CPU (" : processor))
        << report;
    EXPECT_EQ(count(output, "times mean nothing about GPUs"), is_emulated ? 1 : 0) << output;
    expect_same(reference, "own.h5", "1e-10");
    const Checkpoint expected = load_checkpoint(path(reference));
    const Checkpoint found = load_checkpoint(path("own.h5"));
    ASSERT_EQ(found.workers.size(), expected.workers.size());
    for (std::size_t w = 0; w < found.workers.size(); ++w) {
      EXPECT_LE(largest_difference(compare_parameters(found.workers[w], expected.workers[w])), 1e-10);
    }
  }

  /// Expects that a program evaluates and predicts as stage 01 does.
  void expect_answers(const std::string& program) {
    SCOPED_TRACE(program);
    const std::string evaluate = " evaluate --load double.h5 --test-limit 77 --batch-size 10";
    const json serial = report_of("stage01_serial" + evaluate);
    const json own = report_of(program + evaluate);
    EXPECT_EQ(own.at("test_accuracy"), serial.at("test_accuracy"));
    EXPECT_NEAR(own.at("test_loss").get<double>(), serial.at("test_loss").get<double>(), 1e-12);
    const std::string predict = " predict --load double.h5 --test-limit 23 --batch-size 10";
    const json expected = report_of("stage01_serial" + predict).at("predictions");
    const json found = report_of(program + predict).at("predictions");
    ASSERT_EQ(found.size(), 23U);
    for (std::size_t i = 0; i < 23; ++i) {
      EXPECT_EQ(found.at(i).at("predicted"), expected.at(i).at("predicted"));
      for (std::size_t c = 0; c < 10; ++c) {
        EXPECT_NEAR(found.at(i).at("scores").at(c).get<double>(), expected.at(i).at("scores").at(c).get<double>(),
                    1e-12);
      }
    }
  }
};

/// A program as so many processes.
inline std::string ranks(int count, const std::string& program = "stage05_mpi") {
  return "mpirun -n " + std::to_string(count) + " " + program;
}

class Stage05 : public Trainings {
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

  /// Whether the kernels run on the CPU, where MPI can read the device's memory.
  bool is_emulated() { return count(run_well("stage04_minibatch info"), "CUDA on the CPU") > 0; }
};

}  // namespace stagewise
