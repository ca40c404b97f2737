// `info` of all stages: what a program runs on, and the lines of a training step.

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

/// A line of `info --program`.
struct Row {
  std::string operation;
  std::string change;
  std::string bytes;
  std::string operations;
  std::string file;
  std::string shaped;    ///< what it reads and writes, with the shapes
  std::string values;    ///< the names alone
  std::string replaces;  ///< what it is there instead of; empty for most
};

/// The table that `info --program` ends with.
std::vector<Row> rows_of(const std::string& output) {
  static const std::regex row(
      R"( +\d+  (\S+) +(|fused|new kernel|new line) +([\d.]+(?: [kMGT])?) +([\d.]+(?: [kMGT])?)  (\S+))");
  static const std::regex shape(R"( \[[\dx]*\])");
  const std::vector<std::string> lines = lines_of(output);
  const auto head = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("line  operation ");
  });
  std::vector<Row> rows;
  for (auto line = head; line != lines.end(); ++line) {
    EXPECT_LE(line->size(), 120U) << *line;
    std::smatch parts;
    if (std::regex_match(*line, parts, row)) {
      rows.push_back({parts[1], parts[2], parts[3], parts[4], parts[5], "", "", ""});
    } else if (line->starts_with("      # ") && !rows.empty()) {
      rows.back().replaces += line->substr(rows.back().replaces.empty() ? 8 : 7);
    } else if (line->starts_with("      ") && !line->starts_with("      all ") && !rows.empty()) {
      rows.back().shaped += line->substr(rows.back().shaped.empty() ? 6 : 5);
    }
  }
  for (Row& each : rows) each.values = std::regex_replace(each.shaped, shape, "");
  expect_contains(output, ": " + std::to_string(rows.size()) + " line");
  return rows;
}

std::vector<std::string> operations_of(const std::vector<Row>& rows) {
  std::vector<std::string> operations;
  for (const Row& row : rows) operations.push_back(row.operation);
  return operations;
}

class Info : public CommandLine, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() != "stage01_serial" && GetParam() != "ladder blocked") need_device(GetParam());
  }

  /// With layers and batches that one kernel has place for on every GPU, where no options say
  /// which.
  static std::string sized(const std::string& options) {
    if (GetParam() != "ladder persistent" || count(options, "--model") > 0) return options;
    return options + (count(options, "--hidden") > 0 ? "" : " --hidden 8") +
           (count(options, "--batch-size") > 0 ? "" : " --batch-size 10");
  }
};

INSTANTIATE_TEST_SUITE_P(Stages, Info, testing::ValuesIn(stages()),
                         [](const auto& stage) { return test_name(stage.param); });
INSTANTIATE_TEST_SUITE_P(Variants, Info,
                         testing::Values("ladder blocked", "ladder rungs", "ladder tf32",
                                         "ladder persistent", "per_step_memory", "fold_bias"),
                         [](const auto& program) { return test_name(program.param); });

TEST_P(Info, SaysWhereEachLineIsAndWhatItReplaces) {
  const bool is_stage = GetParam().starts_with("stage");
  const bool is_first = GetParam() == "stage01_serial";
  const bool fuses = GetParam() >= "stage04";
  const std::string folder = is_stage ? "stages/" + GetParam().substr(5, 2) : "";
  for (const std::string options :
       {"", "--model cnn", "--model neuron", "--hidden none --loss squared-error",
        "--hidden 8,7 --activation sigmoid --biases off"}) {
    const std::string output = run_well(GetParam() + " info --program " + sized(options));
    bool has_own = false;
    bool has_fused = false;
    for (const Row& row : rows_of(output)) {
      EXPECT_TRUE(fs::is_regular_file(fs::path(STAGEWISE_REPOSITORY) / row.file))
          << row.operation << " is said to be in '" << row.file << "'";
      EXPECT_EQ(row.operation.ends_with('*'), !row.replaces.empty()) << row.operation;
      has_fused = has_fused || !row.replaces.empty();
      if (!is_stage) continue;
      // Against the stage before: what a stage computes by a file of its own.
      const bool is_own = row.file.starts_with(folder);
      const std::string change = GetParam() == "stage05_mpi" ? "new line"
                                 : row.replaces.empty()      ? "new kernel"
                                                             : "fused";
      EXPECT_EQ(row.change, is_own && !is_first ? change : "") << row.operation;
      has_own = has_own || is_own;
    }
    if (!is_stage) continue;
    EXPECT_TRUE(has_own) << "nothing is computed by the stage itself: " << options;
    EXPECT_EQ(has_fused, fuses) << output;
    EXPECT_EQ(output.ends_with("\n* one line instead of those behind #\n"), fuses) << output;
  }
}

/// Options that decide nothing are not offered, or refused.
TEST_P(Info, EveryOptionChangesTheProgram) {
  const std::map<std::string, std::pair<std::string, std::string>> changes = {
      {"model", {"", "--model cnn"}},
      {"precision", {"", "--precision double"}},
      {"hidden", {"", "--hidden 9"}},
      {"activation", {"", "--activation sigmoid"}},
      {"loss", {"", "--loss squared-error"}},
      {"biases", {"", "--biases off"}},
      {"batch-size", {"", "--batch-size 20"}},
      {"optimizer", {"", "--optimizer adam"}},
      {"workers", {"", "--workers 2"}},
      {"average", {"--workers 2", "--workers 2 --average weights"}},
      {"fold-bias", {"", "--fold-bias off"}},
      {"gather", {"", "--gather kernel"}},
      {"fuse", {"", "--fuse off"}},
      {"persistent", {"--hidden 8", "--hidden 8 --persistent off"}},
      {"strategy", {"", "--strategy data"}},
      {"tensor-ranks", {"--strategy hybrid", "--strategy hybrid --tensor-ranks 4"}},
      {"transport", {"--transport host", "--transport peer"}},
      {"overlap",
       {"--transport host --hidden 1024,1024",
        "--transport host --hidden 1024,1024 --overlap off"}}};
  const bool has_ranks = GetParam() == "stage05_mpi";
  for (const std::string& line : lines_of(run_well(GetParam() + " info --help"))) {
    if (!line.starts_with("  --")) continue;
    const std::string option = line.substr(4, line.find(' ', 4) - 4);
    if (option == "program" || (has_ranks && option == "workers")) continue;  // ranks are workers
    ASSERT_TRUE(changes.contains(option)) << "info --" << option << ": what does it change?";
    const auto table_of = [&](std::string options) {
      if (has_ranks && options.starts_with("--workers 2")) options.erase(0, 11);
      const bool has_gradients = option != "strategy" && option != "tensor-ranks";
      if (has_ranks && has_gradients) options += " --strategy data";
      const std::string output = run_well((has_ranks ? "mpirun -n 2 " : "") + GetParam() +
                                          " info --program " + sized(options));
      return output.substr(output.find("\nline  operation "));  // the head names the model
    };
    const auto& [without, with] = changes.at(option);
    EXPECT_NE(table_of(without), table_of(with)) << option;
  }
}

class InfoOf : public CommandLine {
 protected:
  std::vector<Row> rows(const std::string& program, const std::string& options = "") {
    return rows_of(run_well(program + " info --program " + options));
  }
};

/// Report 001's perceptron: what the first three stages do is one list.
TEST_F(InfoOf, TheFirstStagesIsOneList) {
  need_device("stage02_naive_cuda");
  if (IsSkipped()) return;
  for (const std::string stage :
       {"stage01_serial", "stage02_naive_cuda", "stage03_shared_memory"}) {
    const std::vector<Row> lines = rows(stage);
    EXPECT_EQ(operations_of(lines), words_of("gather gemm add_bias relu gemm add_bias "
                                             "softmax_cross_entropy argmax accumulate "
                                             "softmax_cross_entropy_backward column_sums gemm gemm "
                                             "relu_backward column_sums gemm sgd_update sgd_update "
                                             "sgd_update sgd_update"));
    EXPECT_EQ(lines[1].values, "batch, fc1/weight -> fc1/product");
    EXPECT_EQ(lines[15].values, "batch, d fc1/sum -> d fc1/weight");
    // 2 * 100 * 784 * 256 operations; 4 bytes for each number of the factors and the product.
    EXPECT_EQ(lines[1].operations, "40.1 M");
    EXPECT_EQ(lines[1].bytes, "1.2 M");
    EXPECT_EQ(lines[1].shaped,
              "batch [100x28x28x1], fc1/weight [784x256] -> fc1/product [100x256]");
    EXPECT_EQ(rows(stage, "--precision double")[1].bytes, "2.4 M");
  }
}

TEST_F(InfoOf, Stage01SaysWhatItRunsOn) {
  const std::string output = run_well("stage01_serial info");
  EXPECT_TRUE(output.starts_with("stage01_serial: a neural network ")) << output;
  for (const std::string line :
       {"runs on    CPU (", "version    Stagewise ", "library    OpenBLAS "}) {
    expect_contains(output, "\n" + line);
  }
  EXPECT_EQ(count(output, "stages/"), 0) << output;
}

TEST_F(InfoOf, AFusedLineSaysWhatItReplaces) {
  need_device("stage04_minibatch");
  if (IsSkipped()) return;
  const std::vector<std::string> three = {"linear*", "output_layer*", "linear_gradients*"};
  const std::vector<Row> fused = rows("stage04_minibatch");
  EXPECT_EQ(operations_of(fused), three);
  EXPECT_EQ(fused[0].values, "features, order, fc1/weight, fc1/bias -> fc1/output");
  EXPECT_EQ(fused[0].replaces, "gather gemm add_bias relu");
  EXPECT_EQ(fused[2].replaces, "sgd_update x2 accumulate gather column_sums gemm sgd_update x2");
  EXPECT_EQ(fused[2].file, "stages/04_minibatch/linear/parameter_gradients.cu");

  const std::vector<Row> persistent = rows("ladder persistent", "--hidden 8 --batch-size 10");
  EXPECT_EQ(operations_of(persistent), std::vector<std::string>{"persistent_step*"});
  EXPECT_EQ(persistent[0].file, "ladders/persistent/training/mlp_steps.cu");
  EXPECT_EQ(operations_of(rows("ladder persistent", "--persistent off")), three);

  const std::vector<std::string> folded = operations_of(rows("fold_bias"));
  EXPECT_EQ(std::count(folded.begin(), folded.end(), "add_bias"), 0);
  for (const std::string operation : {"folded_linear*", "folded_gradients*"}) {
    EXPECT_EQ(std::count(folded.begin(), folded.end(), operation), 2) << operation;
  }
  EXPECT_EQ(operations_of(rows("fold_bias", "--fold-bias off")),
            operations_of(rows("stage03_shared_memory")));
}

#ifdef STAGEWISE_STAGE05

/// Numbers of lines that add up, for one of two processes unless there are more.
const std::vector<std::pair<std::string, std::size_t>> exchanges = {
    {"stage05_mpi info --program --strategy tensor --hidden 8,7,6", 3},
    {"stage05_mpi info --program --strategy hybrid", 2},
    {"stage05_mpi info --program --strategy data --hidden 1024,1024,1024", 3},  // three buckets
    {"stage05_mpi info --program --average weights", 0},
    {"mpirun -n 2 stage05_mpi info --program --strategy data --hidden 1024,1024,1024 --transport "
     "host --overlap off",
     1},
};

TEST_F(InfoOf, ProcessesSaysWhatTheyExchange) {
  need_device("stage04_minibatch");
  if (IsSkipped()) return;
  const auto sums_of = [&](const std::string& command) {
    std::vector<std::string> sums;
    for (const Row& row : rows_of(run_well(command))) {
      if (row.operation != "all_reduce") continue;
      sums.push_back(row.values);
      EXPECT_EQ(row.file, "stages/05_mpi/transport.cpp");
    }
    return sums;
  };
  const std::string values = "d fc2/bias@0, d fc1/bias@0, d fc2/weight@0, d fc1/weight@0";
  const std::vector<std::string> of_data = {values + " -> " + values};
  const std::vector<std::string> of_tensor = {"fc2/product@0 -> fc2/product@0"};
  EXPECT_EQ(sums_of("mpirun -n 3 stage05_mpi info --program --strategy data --transport host"),
            of_data);
  EXPECT_EQ(sums_of("stage05_mpi info --program --batch-size 256"), of_tensor);
  EXPECT_EQ(sums_of("stage05_mpi info --program --batch-size 257"), of_data);
  for (const auto& [command, number] : exchanges) {
    EXPECT_EQ(sums_of(command).size(), number) << command;
  }
  const std::vector<Row> updates =
      rows_of(run_well("mpirun -n 2 stage05_mpi info --program --strategy data --transport peer"));
  const auto update = std::find_if(updates.begin(), updates.end(), [](const Row& row) {
    return row.operation == "all_reduce_update*";
  });
  ASSERT_NE(update, updates.end());
  EXPECT_EQ(update->file, "stages/05_mpi/all_reduce/2_two_shot.cu");
  EXPECT_EQ(update->replaces, "all_reduce sgd_update x4");
  expect_failure("stage05_mpi info --program --workers 2", 2,
                 "--workers 2 takes as many processes, not 1: start them with mpirun -n 2");
}

#endif

}  // namespace
}  // namespace stagewise
