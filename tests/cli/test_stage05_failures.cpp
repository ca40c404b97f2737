// What stage 05's program says when one of its processes fails, and that the others end with it.

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/stage05.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

// ------------------------------------------------------------------------------------ wrong usage

TEST_F(Stage05, RefusesWhatItDoesNotKnow) {
  expect_job_fails(ranks(3) + "train --transport rdma", 2,
                   "--transport: 'rdma' is not one of auto, host, cuda-aware, nccl, peer");
  if (is_emulated()) {
    expect_job_fails(ranks(2) + "train --transport nccl", 2,
                     "--transport nccl cannot work here: NCCL needs GPUs, and kernels run on the "
                     "CPU here; --transport host works everywhere");
  }
  expect_job_fails(ranks(2) + "train --transport peer --timeout 0", 2, "--timeout: '0' is not ...");
  expect_job_fails(ranks(3) + "train --passes 3", 2,
                   "option '--passes' is unknown; stage05_mpi train --help lists what there is");
  expect_failure(program, 2,
                 "say what to do: train, evaluate, predict or info (see stage05_mpi --help)");
}

TEST_F(Stage05, RefusesANumberOfProcessesThatDoesNotFit) {
  expect_job_fails(ranks(3) + training + "--workers 4", 2,
                   "--workers 4 contradicts the number of processes, each of which is a worker: "
                   "mpirun has started 3");
  expect_job_fails(ranks(3) + "train --strategy data --batch-size 2", 2,
                   "3 processes are more than a batch has samples: --batch-size is 2");
  run_well(ranks(3) + training + "--epochs 0 --workers 3");
}

TEST_F(Stage05, RefusesRanksThatWereToldDifferentThings) {
  expect_job_fails(by_rank("set -- \"$@\" --epochs 3", ":", "train"), 2,
                   "rank 1 was started with 'train', but rank 0 with 'train --epochs 3'; every "
                   "rank needs the same command line");
}

TEST_F(Stage05, RefusesNetworksThatItCannotSplit) {
  const std::string small = "train --train-limit 53 --test-limit 20 --batch-size 20 ";
  const std::string split = small + "--strategy tensor ";
  const std::string why =
      "--strategy tensor splits the hidden layers of --model mlp, and there is none; --strategy "
      "data trains every network";
  expect_job_fails(ranks(2) + split + "--hidden none", 2, why);
  expect_job_fails(ranks(2) + split + "--model cnn", 2, why);
  expect_job_fails(ranks(3) + split + "--hidden 8,4,2", 2,
                   "--strategy tensor cannot split 2 hidden units among 3 processes");
  expect_job_fails(ranks(3) + split + "--hidden 2", 2,
                   "--strategy tensor cannot split 2 hidden units among 3 processes");
  const std::string hybrid = small + "--strategy hybrid ";
  expect_job_fails(ranks(3) + hybrid, 2,
                   "--tensor-ranks 2 does not divide the number of processes, 3");
  expect_job_fails(ranks(2) + hybrid + "--tensor-ranks 4", 2,
                   "--tensor-ranks 4 does not divide the number of processes, 2");
  expect_job_fails(ranks(2) + hybrid + "--tensor-ranks 0", 2, "--tensor-ranks: '0' is not ...");
  expect_job_fails(ranks(2) + hybrid + "--model cnn", 2,
                   "--strategy hybrid splits the hidden layers of --model mlp, and there is none; "
                   "--strategy data trains every network");
  expect_job_fails(ranks(4) + hybrid + "--hidden 1", 2,
                   "--strategy hybrid cannot split 1 hidden unit among 2 processes");
  expect_job_fails(ranks(4) + "train --train-limit 53 --strategy hybrid --batch-size 1", 2,
                   "--strategy hybrid cannot divide a batch of 1 sample among 2 networks");
  expect_job_fails(ranks(2) + split + "--gather loads", 2,
                   "--gather is for --strategy data: with tensor, ...");
}

// --------------------------------------------------------------------------- failures of all ranks

TEST_F(Stage05, SaysWhereSpaceIsMissingIfNoMemoryCanBeShared) {
  surroundings_.variables["OMPI_MCA_osc_sm_backing_directory"] = path("none").string();
  expect_job_fails(ranks(2) + training, 1,
                   "the processes on this host cannot share memory, for which MPI makes files in "
                   "/dev/shm; ...");
}

TEST_F(Stage05, SaysOnceThatTheDataSetIsMissing) {
  for (const std::string from : {"auto", "root", "all"}) {
    expect_job_fails(ranks(3) + "train --dataset mnist --data-dir none --data-from " + from, 1,
                     "the data set mnist needs the file none/mnist/train-images-idx3-ubyte ...");
  }
}

TEST_F(Stage05, SaysOnceThatAFileCannotBeWrittenOrRead) {
  surroundings_.heeds_permissions = true;
  expect_job_fails(ranks(3) + training + "--save none/model.h5", 1,
                   "the checkpoint none/model.h5 cannot be written: there is no folder ...");
  expect_job_fails(ranks(2) + training + "--save locked/model.h5", 1,
                   "the checkpoint locked/model.h5 cannot be written: ...");
  expect_job_fails(ranks(2) + training + "--report folder", 1,
                   "the report folder cannot be written: it is a folder");
  expect_job_fails(ranks(3) + "evaluate --load none.h5", 1,
                   "the checkpoint none.h5 cannot be read: there is no such file");
}

TEST_F(Stage05, SaysOnWhichRankTheLossBecameNaN) {
  const std::string diverging =
      small_training + "--epochs 3 --learning-rate 1e30 --save model.h5 --save-every 1 ";
  for (const std::string options : {"", "--average weights --average-every 2"}) {
    const std::string sentence = expect_job_fails(ranks(3) + diverging + options, 1,
                                                  "the loss became NaN in epoch 1, step 2 on rank "
                                                  "...");
    EXPECT_NE(sentence.find(", and training stopped; a learning rate smaller than 1e+30 may help"),
              std::string::npos)
        << sentence;
    EXPECT_EQ(sentence.find("; if you changed a kernel: ") != std::string::npos, is_emulated())
        << sentence;
    EXPECT_FALSE(fs::exists(path("model.h5"))) << options;
  }
  expect_job_fails(ranks(3) + diverging + "--strategy tensor", 1,
                   "the loss became NaN in epoch 1, step 2...");
  EXPECT_FALSE(fs::exists(path("model.h5")));
}

// --------------------------------------------------------------------------- failures of one rank

TEST_F(Stage05, ARankMayLackTheDataSetIfRank0SendsIt) {
  run_well("make_dataset --train 60 --test 20 --output data/mnist");
  const std::string command = training + "--dataset mnist --save model.h5 ";
  const std::string here = path("data").string();
  const std::string all_have = run_well(with_variable("STAGEWISE_DATA_DIR", here, here, command));
  EXPECT_EQ(all_have.find("\nsent   "), std::string::npos) << all_have;
  fs::rename(path("model.h5"), path("all.h5"));
  const std::string sent = run_well(with_variable("STAGEWISE_DATA_DIR", here, "none", command));
  EXPECT_NE(
      sent.find("\nsent   57.5 KB of samples from rank 0 to 1 rank; rank 1: the data set mnist "
                "needs the file none/mnist/train-images-idx3-ubyte "),
      std::string::npos)
      << sent;
  expect_same("all.h5", "model.h5", "0");
  run_well(with_variable("STAGEWISE_DATA_DIR", here, "none", command + "--data-from root"));
  expect_same("all.h5", "model.h5", "0");
  expect_job_fails(
      with_variable("STAGEWISE_DATA_DIR", here, "none", command + "--data-from all"), 1,
      "rank 1: the data set mnist needs the file none/mnist/train-images-idx3-ubyte ...");
  expect_job_fails(with_variable("STAGEWISE_DATA_DIR", "none", here, command), 1,
                   "the data set mnist needs the file none/mnist/train-images-idx3-ubyte ...");
}

TEST_F(Stage05, RefusesFilesThatAreNotTheSameOnAllRanks) {
  make_input("nan.h5");
  fs::create_directory(path("good"));
  fs::create_directory(path("bad"));
  fs::copy_file(path("digits.h5"), path("good") / "start.h5");
  fs::copy_file(path("nan.h5"), path("bad") / "start.h5");
  const std::string other =
      "the checkpoint start.h5 that rank 1 has read is another than that of rank 0";
  for (const std::string& command :
       {small_training + "--load start.h5", small_training + "--load start.h5 --strategy tensor",
        std::string("evaluate --load start.h5 --test-limit 20")}) {
    expect_job_fails(in_folders(path("good"), path("bad"), command), 1, other);
  }
  fs::remove(path("bad") / "start.h5");
  expect_job_fails(in_folders(path("good"), path("bad"), small_training + "--load start.h5"), 1,
                   "rank 1: the checkpoint start.h5 cannot be read: there is no such file");

  run_well("make_dataset --train 60 --test 20 --output good/mnist");
  run_well("make_dataset --train 60 --test 20 --seed 2 --output bad/mnist");
  expect_job_fails(
      in_folders(path("good"), path("bad"), small_training + "--dataset mnist --data-dir ."), 1,
      "the data set mnist that rank 1 has read is another than that of rank 0");
}

/// Each rank follows gradients of its own, and rank 1 goes astray first.
TEST_F(Stage05, EndsWhenOneRankDiverges) {
  const std::string diverging =
      "train --train-limit 300 --test-limit 20 --hidden none --loss squared-error --batch-size 6 "
      "--epochs 2 --learning-rate 0.2 --seed 3 --average weights --average-every 1000 ";
  const Outcome serial = run("stage01_serial " + diverging + "--workers 3");
  ASSERT_EQ(serial.exit_code, 1) << "choose numbers that diverge: " << serial.out;
  const std::string place = between(serial.err, " in epoch ", ", and");
  const std::string sentence = expect_job_fails(ranks(3) + diverging, 1, "the loss became ...");
  EXPECT_EQ(between(sentence, " in epoch ", ", and"), place + " on rank 1");
}

TEST_F(Stage05, EndsWhenOneRanksGpuIsTooSmall) {
  if (!is_emulated()) GTEST_SKIP() << "only an emulated GPU can be made smaller";
  for (const std::string options : {"", "--strategy tensor"}) {
    const std::string sentence = expect_job_fails(
        with_variable("STAGEWISE_CPU_DEVICE_MEMORY", "1000000000", "20000", training + options), 1,
        "rank 1: the emulated GPU (STAGEWISE_CPU_DEVICE_MEMORY) has too little "
        "memory: ...");
    EXPECT_NE(sentence.find(" more are needed, 20.0 KB of 20.0 KB are free; a smaller "),
              std::string::npos)
        << sentence;
  }
}

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

  static bool any_runs(const std::vector<pid_t>& processes) {
    return std::any_of(processes.begin(), processes.end(), is_running);
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

  void expect_end_of_all(const std::string& command, int rank_to_kill) {
    Process job(resolve(command), surroundings_);
    ASSERT_TRUE(wait_until([&] { return job.output().find("\nepoch 2/") != std::string::npos; },
                           std::chrono::seconds(30)))
        << job.output();
    const std::vector<pid_t> processes = descendants_of(job.id());
    ASSERT_GE(processes.size(), 3U);
    const pid_t victim = find_rank(processes, rank_to_kill);
    ASSERT_GT(victim, 0);
    const auto start = Clock::now();
    ASSERT_EQ(::kill(victim, SIGKILL), 0);
    const Outcome outcome = job.wait();
    EXPECT_LT(Clock::now() - start, soon);
    EXPECT_EQ(outcome.signal, 0) << outcome.err;
    EXPECT_GT(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(wait_until([&] { return !any_runs(processes); }, std::chrono::seconds(5)))
        << "a process of the job has outlived it";
  }
};

TEST_F(Stage05Killed, EndsWithAnyOfItsRanks) {
  const std::string endless = ranks(3) + small_training + "--epochs 1000000 ";
  expect_end_of_all(endless, 0);
  expect_end_of_all(endless, 2);
  expect_end_of_all(endless + "--strategy tensor", 1);
  expect_end_of_all(ranks(4) + small_training + "--epochs 1000000 --strategy hybrid", 3);
  if (is_emulated()) expect_end_of_all(endless + "--transport peer", 1);
}

/// A rank that is stopped says nothing, and mpirun does not notice. The others wait in MPI, or in a
/// kernel, which then notices, too.
TEST_F(Stage05Killed, OthersSayWhichRankHasStopped) {
  if (!is_emulated()) GTEST_SKIP() << "there may be too few GPUs";
  for (const std::string how :
       {"--strategy data --transport host", "--strategy data --transport cuda-aware",
        "--strategy data --transport peer", "--strategy tensor"}) {
    Process job(resolve(ranks(3) +
                        "train --train-limit 600 --test-limit 20 --hidden 8 --batch-size 3 "
                        "--epochs 1000000 --timeout 5 " +
                        how),
                surroundings_);
    ASSERT_TRUE(wait_until([&] { return job.output().find("\nepoch 1/") != std::string::npos; },
                           std::chrono::seconds(60)))
        << job.output();
    const std::vector<pid_t> processes = descendants_of(job.id());
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // among the steps of an epoch
    const pid_t victim = find_rank(processes, 1);
    ASSERT_GT(victim, 0);
    const auto start = Clock::now();
    ASSERT_EQ(::kill(victim, SIGSTOP), 0);
    const Outcome outcome = job.wait();
    EXPECT_LT(Clock::now() - start, soon + std::chrono::seconds(5)) << how;
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_EQ(count(outcome.err,
                    "stage05_mpi: rank 1 has not run for 5 seconds: it has been stopped, or its "
                    "host is overloaded; --timeout says how long to wait.\n") +
                  count(outcome.err,
                        "stage05_mpi: the numbers of rank 1 have not come within 5 seconds: it has "
                        "stopped, or is far behind; --timeout says how long to wait.\n"),
              1)
        << how << outcome.err;
    // The thread that watches the others may not call MPI.
    if (count(outcome.err, "has not run") == 1) {
      EXPECT_EQ(count(outcome.err, "MPI_ABORT was invoked"), 0) << how << outcome.err;
    }
    EXPECT_TRUE(wait_until([&] { return !any_runs(processes); }, std::chrono::seconds(5)))
        << "a process of the job has outlived it";
  }
}

/// What is stopped as a whole, as by Ctrl-Z, goes on as a whole.
TEST_F(Stage05Killed, GoesOnIfAllRanksWereStopped) {
  if (!is_emulated()) GTEST_SKIP() << "there may be too few GPUs";
  Process job(resolve(ranks(2) + small_training + "--epochs 1000000 --timeout 3"), surroundings_);
  const auto epochs = [&] { return count(job.output(), "\nepoch "); };
  ASSERT_TRUE(wait_until([&] { return epochs() > 2; }, std::chrono::seconds(60))) << job.output();
  const std::vector<pid_t> processes = descendants_of(job.id());
  for (const pid_t process : processes) ::kill(process, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(5));
  for (const pid_t process : processes) ::kill(process, SIGCONT);
  const auto before = epochs();
  EXPECT_TRUE(wait_until([&] { return epochs() > before + 2; }, std::chrono::seconds(60)))
      << job.output();
  for (const pid_t process : processes) ::kill(process, SIGKILL);
  EXPECT_EQ(count(job.wait().err, "has not run"), 0);
}

TEST_F(Stage05Killed, ContinuesFromTheLastEpochItSaved) {
  const std::string command = ranks(3) + training + "--average weights --average-every 7 ";
  expect_end_of_all(command + "--epochs 1000000 --save part.h5 --save-every 1", 1);
  const std::int64_t done = load_checkpoint(path("part.h5")).epoch;
  ASSERT_GE(done, 1);
  const std::string epochs = "--epochs " + std::to_string(done + 2);
  run_well(command + epochs + " --save whole.h5");
  run_well(ranks(3) + "train --resume part.h5 --test-limit 20 --save rest.h5 " + epochs);
  expect_same("whole.h5", "rest.h5", "0");
}

// ------------------------------------------------------------------------------- data and files

TEST_F(Stage05, GoesOnWithTheDataThatAnotherStageHasBegunWith) {
  run_well("make_dataset --dataset step --train 50 --test 20 --output table");
  run_well(
      "stage01_serial train --dataset table/train.csv --format csv --label label --epochs 1 "
      "--hidden none --batch-size 10 --workers 2 --save part.h5");
  const auto fingerprint_in = [&](const std::string& name) {
    return load_checkpoint(path(name)).settings.at("data-values");
  };
  for (const std::string from : {"root", "all"}) {
    const std::string output =
        run_well(ranks(2) + "train --resume part.h5 --epochs 2 --save rest.h5 --data-from " + from);
    EXPECT_EQ(output.find("may be others"), std::string::npos) << output;
    EXPECT_EQ(fingerprint_in("rest.h5"), fingerprint_in("part.h5"));
  }
  run_well("make_dataset --dataset step --train 50 --test 20 --seed 3 --output table");
  for (const std::string from : {"root", "all"}) {
    const Outcome outcome = run(ranks(2) + "train --resume part.h5 --epochs 2 --data-from " + from);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(count(outcome.err,
                    "stage05_mpi: the checkpoint part.h5 was trained on other data than "
                    "table/train.csv: the samples have other values"),
              1)
        << outcome.err;
  }
}

TEST_F(Stage05, ReplacesNoFileThatAnyRankReads) {
  make_input("digits");
  const fs::path here = fs::canonical(path(""));
  fs::create_directories(path("first"));
  fs::copy(path("digits"), path("first/digits"));
  const Bytes before = read_file(path("digits/train-images-idx3-ubyte"));
  const std::string command =
      "train --hidden 4 --batch-size 20 --epochs 1 --format idx --dataset "
      "digits/train-images-idx3-ubyte --save ";
  const std::string sentence = "--save names a file of --dataset, digits/train-images-idx3-ubyte";
  const auto expect_refused = [&](const std::string& line, const std::string& rank) {
    const Outcome outcome = run(line);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find("stage05_mpi: " + rank + sentence + ".\n"), std::string::npos)
        << outcome.err;
    EXPECT_EQ(read_file(path("digits/train-images-idx3-ubyte")), before);
  };
  expect_refused(ranks(2) + command + "digits/train-images-idx3-ubyte", "");
  expect_refused(in_folders(here / "first", here, command + "../digits/train-images-idx3-ubyte"),
                 "rank 1: ");
}

}  // namespace
}  // namespace stagewise
