// What stage 05's program says when one of its processes fails, and that the others end with it.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "cli/trainings.hpp"

namespace stagewise {
namespace {

using Clock = std::chrono::steady_clock;

// 53 samples in batches of 20: two of them and a short one.
const std::string training = " train --train-limit 53 --test-limit 20 --hidden 8 --batch-size 20 ";

class Stage05Failures : public Stage05 {
 protected:
  /// A command on two ranks, of which each does something else before, in the language of a shell.
  /// (Open MPI 5.0.7's mpirun does not survive two commands with a colon between them.)
  std::string by_rank(const std::string& first, const std::string& second, const std::string& command) {
    write("by_rank.sh",
          "if [ \"$OMPI_COMM_WORLD_RANK\" = 0 ]; then\n" + first + "\nelse\n" + second + "\nfi\nexec \"$@\"\n");
    return "mpirun -n 2 sh by_rank.sh stage05_mpi" + command;
  }

  /// The same command on two ranks that run in different folders.
  std::string in_folders(const std::string& first, const std::string& second, const std::string& command) {
    return by_rank("cd '" + fs::canonical(path(first)).string() + "'",
                   "cd '" + fs::canonical(path(second)).string() + "'", command);
  }

  /// The same command on two ranks with a variable of the environment that differs.
  std::string with_variable(const std::string& name, const std::string& first, const std::string& second,
                            const std::string& command) {
    return by_rank("export " + name + "=" + first, "export " + name + "=" + second, command);
  }
};

// ------------------------------------------------------------------------------------ wrong usage

TEST_F(Stage05Failures, OfUsageAreSaidOnce) {
  run_table("ranks");
  expect_failure(by_rank("set -- \"$@\" --epochs 3", ":", " train"), 2,
                 "rank 1 was started with 'train', but rank 0 with 'train --epochs 3'; every rank "
                 "needs the same command line");
  if (!is_emulated()) return;
  expect_failure(ranks(2) + " train --transport nccl", 2,
                 "--transport nccl cannot work here: NCCL needs GPUs, and kernels run on the CPU "
                 "here; --transport host works everywhere");
}

// --------------------------------------------------------------------------- failures of all ranks

/// Also where data are not those of the beginning, as they are before.
TEST_F(Stage05Failures, OfAllRanksAreSaidOnce) {
  surroundings_.heeds_permissions = true;
  run_table("failures_of_all_ranks");
  surroundings_.variables["OMPI_MCA_osc_sm_backing_directory"] = path("none").string();
  expect_failure(ranks(2) + training, 1,
                 "the processes on this host cannot share memory, for which MPI makes files in "
                 "/dev/shm; ...");
}

TEST_F(Stage05Failures, NameTheRankWhoseLossBecameNaN) {
  const std::string diverging = ranks(3) + training + "--epochs 3 --learning-rate 1e30 --save model.h5 --save-every 1 ";
  for (const std::string options : {"", "--average weights --average-every 2"}) {
    const std::string sentence =
        expect_failure(diverging + options, 1, "the loss became NaN in epoch 1, step 2 on rank ...");
    expect_contains(sentence, ", and training stopped; a learning rate smaller than 1e+30 may help");
    EXPECT_EQ(count(sentence, "; if you changed a kernel: "), is_emulated() ? 1 : 0) << sentence;
  }
  expect_failure(diverging + "--strategy tensor", 1, "the loss became NaN in epoch 1, step 2...");

  // Each rank follows gradients of its own, and rank 1 goes astray first.
  const std::string astray =
      " train --train-limit 300 --test-limit 20 --hidden none --loss squared-error --batch-size 6 "
      "--epochs 2 --learning-rate 0.2 --seed 3 --average weights --average-every 1000 ";
  const std::string serial = expect_failure("stage01_serial" + astray + "--workers 3", 1, "the loss ...");
  expect_failure(ranks(3) + astray, 1, between(serial, " in epoch ", ", and") + " on rank 1");
}

// --------------------------------------------------------------------------- failures of one rank

TEST_F(Stage05Failures, OfARankWithoutDataAreNoneIfRank0SendsThem) {
  run_well("make_dataset --train 60 --test 20 --output data/mnist");
  const std::string command = smooth_training + "--dataset mnist --save model.h5 ";
  const std::string here = path("data").string();
  const auto with_folders = [&](const std::string& first, const std::string& second, const std::string& options = "") {
    return with_variable("STAGEWISE_DATA_DIR", first, second, command + options);
  };
  EXPECT_EQ(count(run_well(with_folders(here, here)), "\nsent   "), 0);
  fs::rename(path("model.h5"), path("all.h5"));
  const std::string missing = "the data set mnist needs the file none/mnist/train-images-idx3-ubyte ";
  expect_contains(run_well(with_folders(here, "none")),
                  "\nsent   57.5 KB of samples from rank 0 to 1 rank; rank 1: " + missing);
  expect_same("all.h5", "model.h5");
  run_well(with_folders(here, "none", "--data-from root"));
  expect_same("all.h5", "model.h5");
  expect_failure(with_folders(here, "none", "--data-from all"), 1, "rank 1: " + missing);
  expect_failure(with_folders("none", here), 1, missing);
}

TEST_F(Stage05Failures, OfFilesThatAreNotTheSameOnAllRanks) {
  make_input("nan.h5");
  run_well("make_dataset --train 60 --test 20 --output good/mnist");
  run_well("make_dataset --train 60 --test 20 --seed 2 --output bad/mnist");
  fs::copy_file(path("digits.h5"), path("good/start.h5"));
  fs::copy_file(path("nan.h5"), path("bad/start.h5"));
  const std::string other = "the checkpoint start.h5 that rank 1 has read is another than that of rank 0";
  for (const auto& [command, said] :
       Sayings{{training + "--load start.h5", other},
               {training + "--load start.h5 --strategy tensor", other},
               {" evaluate --load start.h5 --test-limit 20", other},
               {training + "--dataset mnist --data-dir .",
                "the data set mnist that rank 1 has read is another than that of rank 0"}}) {
    expect_failure(in_folders("good", "bad", command), 1, said);
  }
  fs::remove(path("bad/start.h5"));
  expect_failure(in_folders("good", "bad", training + "--load start.h5"), 1,
                 "rank 1: the checkpoint start.h5 cannot be read: there is no such file");
}

TEST_F(Stage05Failures, OfOneRanksGpuThatIsTooSmall) {
  if (!is_emulated()) GTEST_SKIP() << "only an emulated GPU can be made smaller";
  for (const std::string options : {"", "--strategy tensor"}) {
    expect_contains(
        expect_failure(with_variable("STAGEWISE_CPU_DEVICE_MEMORY", "1000000000", "20000", smooth_training + options),
                       1, "rank 1: the emulated GPU (STAGEWISE_CPU_DEVICE_MEMORY) has too little"),
        " more are needed, 20.0 KB of 20.0 KB are free; a smaller ");
  }
}

TEST_F(Stage05Failures, ReplaceNoFileThatAnyRankReads) {
  make_input("digits");
  fs::create_directories(path("first"));
  fs::copy(path("digits"), path("first/digits"));
  const std::string images = "digits/train-images-idx3-ubyte";
  const std::string command =
      " train --hidden 4 --batch-size 20 --epochs 1 --format idx --dataset " + images + " --save ";
  const std::string sentence = "--save names a file of --dataset, " + images;
  expect_failure(ranks(2) + command + images, 2, "stage05_mpi: " + sentence);
  expect_failure(in_folders("first", ".", command + "../" + images), 2, "rank 1: " + sentence);
}

// ------------------------------------------------------------------------------------- dead ranks

/// A training that is under way, and somebody kills one of its processes.
class Stage05Killed : public Stage05 {
 protected:
  /// The process that is this rank of a job.
  static pid_t find_rank(const std::vector<pid_t>& processes, int rank) {
    const std::string wanted = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
    for (const pid_t process : processes) {
      std::ifstream environment("/proc/" + std::to_string(process) + "/environ");
      for (std::string variable; std::getline(environment, variable, '\0');) {
        if (variable == wanted) return process;
      }
    }
    return -1;
  }

  /// Waits until `condition` holds, but no longer than `longest`.
  template <typename Condition>
  static bool wait_until(const Condition& condition, std::chrono::seconds longest) {
    const auto start = Clock::now();
    while (!condition()) {
      if (Clock::now() - start > longest) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }

  /// Sends a signal to a rank of a training that is under way, with which all others must end.
  /// @param longest how long they may live on.
  Outcome end_by(int signal, int rank, const std::string& command,
                 std::chrono::seconds longest = std::chrono::seconds(10)) {
    SCOPED_TRACE(command);
    Process job(resolve(command), surroundings_);
    EXPECT_TRUE(
        wait_until([&] { return job.output().find("\nepoch 2/") != std::string::npos; }, std::chrono::seconds(60)))
        << job.output();
    const std::vector<pid_t> processes = descendants_of(job.id());
    const pid_t victim = find_rank(processes, rank);
    if (victim <= 0) {
      ADD_FAILURE() << "there is no rank " << rank;
      return {};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // among the steps of an epoch
    const auto start = Clock::now();
    EXPECT_EQ(::kill(victim, signal), 0);
    Outcome outcome = job.wait();
    EXPECT_LT(Clock::now() - start, longest);
    EXPECT_EQ(outcome.signal, 0) << outcome.err;
    EXPECT_GT(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(wait_until([&] { return std::none_of(processes.begin(), processes.end(), is_running); },
                           std::chrono::seconds(5)))
        << "a process of the job has outlived it";
    return outcome;
  }
};

TEST_F(Stage05Killed, EndsWithAnyOfItsRanks) {
  const std::string endless = training + "--epochs 1000000 ";
  end_by(SIGKILL, 0, ranks(3) + endless);
  end_by(SIGKILL, 2, ranks(3) + endless + "--strategy tensor");
  end_by(SIGKILL, 3, ranks(4) + endless + "--strategy hybrid");
  if (is_emulated()) end_by(SIGKILL, 1, ranks(3) + endless + "--transport peer");
}

/// A rank that is stopped says nothing, and mpirun does not notice. The others wait in MPI, or in a
/// kernel, which then notices, too.
TEST_F(Stage05Killed, OthersSayWhichRankHasStopped) {
  if (!is_emulated()) GTEST_SKIP() << "there may be too few GPUs";
  for (const std::string how :
       {"--strategy data --transport host", "--strategy data --transport peer", "--strategy tensor"}) {
    const Outcome outcome = end_by(SIGSTOP, 1,
                                   ranks(3) +
                                       " train --train-limit 600 --test-limit 20 --hidden 8 --batch-size 3 "
                                       "--epochs 1000000 --timeout 3 " +
                                       how,
                                   std::chrono::seconds(13));
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_EQ(count(outcome.err,
                    "stage05_mpi: rank 1 has not run for 3 seconds: it has been stopped, or its "
                    "host is overloaded; --timeout says how long to wait.\n") +
                  count(outcome.err,
                        "stage05_mpi: the numbers of rank 1 have not come within 3 seconds: it has "
                        "stopped, or is far behind; --timeout says how long to wait.\n"),
              1)
        << how << outcome.err;
    // The thread that watches the others may not call MPI.
    if (count(outcome.err, "has not run") == 1) {
      EXPECT_EQ(count(outcome.err, "MPI_ABORT was invoked"), 0) << how << outcome.err;
    }
  }
}

/// What is stopped as a whole, as by Ctrl-Z, goes on as a whole.
TEST_F(Stage05Killed, GoesOnIfAllRanksWereStopped) {
  if (!is_emulated()) GTEST_SKIP() << "there may be too few GPUs";
  Process job(resolve(ranks(2) + training + "--epochs 1000000 --timeout 3"), surroundings_);
  const auto epochs = [&] { return count(job.output(), "\nepoch "); };
  ASSERT_TRUE(wait_until([&] { return epochs() > 2; }, std::chrono::seconds(60))) << job.output();
  const std::vector<pid_t> processes = descendants_of(job.id());
  for (const pid_t process : processes) ::kill(process, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(5));
  for (const pid_t process : processes) ::kill(process, SIGCONT);
  const auto before = epochs();
  EXPECT_TRUE(wait_until([&] { return epochs() > before + 2; }, std::chrono::seconds(60))) << job.output();
  for (const pid_t process : processes) ::kill(process, SIGKILL);
  EXPECT_EQ(count(job.wait().err, "has not run"), 0);
}

TEST_F(Stage05Killed, ContinuesFromTheLastEpochItSaved) {
  const std::string command = ranks(3) + smooth_training + "--average weights --average-every 7 ";
  end_by(SIGKILL, 1, command + "--epochs 1000000 --save part.h5 --save-every 1");
  const std::int64_t done = load_checkpoint(path("part.h5")).epoch;
  ASSERT_GE(done, 1);
  const std::string epochs = "--epochs " + std::to_string(done + 2);
  run_well(command + epochs + " --save whole.h5");
  run_well(ranks(3) + " train --resume part.h5 --test-limit 20 --save rest.h5 " + epochs);
  expect_same("whole.h5", "rest.h5");
}

}  // namespace
}  // namespace stagewise
