// `info` of all stages: what a program runs on, and the lines of a training step.

#include <algorithm>
#include <regex>

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
  const auto head = std::find_if(lines.begin(), lines.end(),
                                 [](const std::string& line) { return line.starts_with("line  operation "); });
  std::vector<Row> rows;
  for (auto line = head; line != lines.end(); ++line) {
    EXPECT_LE(line->size(), 120U) << *line;
    std::smatch parts;
    if (std::regex_match(*line, parts, row)) {
      rows.push_back({parts[1], parts[2], parts[3], parts[4], parts[5], "", "", ""});
    } else if (line->starts_with("      # ") && !rows.empty()) {
      rows.back().replaces += line->substr(rows.back().replaces.empty() ? 8 : 7);
    } else if (line->starts_with("      ") && !line->starts_with("      all ") && !rows.empty()) {
      rows.back().shaped += line->substr(rows.back().shaped.empty() ? 6 : 7);
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

class Info : public EachProgram {
 protected:
  /// With layers and batches that one kernel has place for on every GPU, where no options say
  /// which.
  static std::string sized(const std::string& options) {
    if (GetParam() != "ladder persistent" || count(options, "--model") > 0) return options;
    return options + (count(options, "--hidden") > 0 ? "" : " --hidden 8") +
           (count(options, "--batch-size") > 0 ? "" : " --batch-size 10");
  }
};

INSTANTIATE_TEST_SUITE_P(Programs, Info, testing::ValuesIn(programs_that_train()), name_of_program);

TEST_P(Info, SaysWhereEachLineIsAndWhatItReplaces) {
  const bool is_stage = GetParam().starts_with("stage");
  const bool is_first = GetParam() == "stage01_serial";
  const bool fuses = GetParam() >= "stage04";
  const std::string folder = is_stage ? "stages/" + GetParam().substr(5, 2) : "";
  for (const std::string options : {"", "--model cnn", "--model neuron", "--hidden none --loss squared-error",
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

/// Options that decide nothing are not offered, or refused. The table has pairs of which the last
/// option decides something. What all programs share is asked of the first; how ranks average is
/// stage 05's own.
TEST_P(Info, EveryOptionChangesTheProgram) {
  const bool has_ranks = GetParam() == "stage05_mpi";
  const std::set<std::string> shared = options_of("stage01_serial info");
  const std::set<std::string> offered = options_of(GetParam() + " info");
  std::set<std::string> known = {"help", "program"};
  for (const auto& [one, other] : table("programs")) {
    const std::vector<std::string> words = words_of(one);
    const std::string option = words.at(words.size() - 2).substr(2);
    known.insert(option);
    const bool is_own = !shared.contains(option) || option == "average";
    if (!offered.contains(option) || (GetParam() != "stage01_serial" && !is_own)) continue;
    const auto table_of = [&](std::string options) {
      if (has_ranks) {  // which are workers
        if (options.starts_with("--workers 2")) options.erase(0, 11);
        if (option != "strategy" && option != "tensor-ranks") options += " --strategy data";
      }
      const std::string output =
          run_well((has_ranks ? "mpirun -n 2 " : "") + GetParam() + " info --program " + sized(options));
      return output.substr(output.find("\nline  operation "));  // the head names the model
    };
    EXPECT_NE(table_of(one), table_of(other)) << option;
  }
  for (const std::string& option : offered) {
    EXPECT_TRUE(known.contains(option)) << "info --" << option << ": what does it change?";
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
  for (const std::string stage : {"stage01_serial", "stage02_naive_cuda", "stage03_shared_memory"}) {
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
    EXPECT_EQ(lines[1].shaped, "batch [100x28x28x1], fc1/weight [784x256] -> fc1/product [100x256]");
    EXPECT_EQ(rows(stage, "--precision double")[1].bytes, "2.4 M");
  }
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
  EXPECT_EQ(operations_of(rows("fold_bias", "--fold-bias off")), operations_of(rows("stage03_shared_memory")));
}

#ifdef STAGEWISE_STAGE05

/// Which lines there are, test_distribute.cpp looks at; here, for one of two processes unless there
/// are more.
TEST_F(InfoOf, ProcessesSaysWhatTheyExchange) {
  need_device("stage04_minibatch");
  if (IsSkipped()) return;
  const std::string values = "d fc2/bias@0, d fc1/bias@0, d fc2/weight@0, d fc1/weight@0";
  const std::string of_data = values + " -> " + values;
  for (const auto& [command, sums] :
       Sayings{{"mpirun -n 3 stage05_mpi info --program --strategy data --transport host", of_data},
               {"stage05_mpi info --program --batch-size 256", "fc2/product@0 -> fc2/product@0"},
               {"stage05_mpi info --program --batch-size 257", of_data},
               {"stage05_mpi info --program --strategy hybrid", "fc2/product@0 -> fc2/product@0" + of_data},
               {"stage05_mpi info --program --average weights", ""}}) {
    std::string found;
    for (const Row& row : rows_of(run_well(command))) {
      if (row.operation != "all_reduce") continue;
      found += row.values;
      EXPECT_EQ(row.file, "stages/05_mpi/transport.cpp");
    }
    EXPECT_EQ(found, sums) << command;
  }
  const std::vector<Row> updates =
      rows_of(run_well("mpirun -n 2 stage05_mpi info --program --strategy data --transport peer"));
  const auto update = std::find_if(updates.begin(), updates.end(),
                                   [](const Row& row) { return row.operation == "all_reduce_update*"; });
  ASSERT_NE(update, updates.end());
  EXPECT_EQ(update->file, "stages/05_mpi/all_reduce/2_two_shot.cu");
  EXPECT_EQ(update->replaces, "all_reduce sgd_update x4");
}

#endif

}  // namespace
}  // namespace stagewise
