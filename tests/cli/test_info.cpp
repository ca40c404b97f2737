// `info` of all stages: what a program runs on, and the lines of a training step.

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

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
      rows.back().shaped += line->substr(rows.back().shaped.empty() ? 6 : 7);
    }
  }
  for (Row& each : rows) each.values = std::regex_replace(each.shaped, shape, "");
  EXPECT_NE(output.find(": " + std::to_string(rows.size()) + " line"), std::string::npos) << output;
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
    folder_ = "stages/" + GetParam().substr(5, 2);
  }

  std::vector<Row> rows(const std::string& options = "") {
    return rows_of(run_well(GetParam() + " info --program " + sized(options)));
  }

  /// With layers and batches that one kernel has place for on every GPU, where no options say
  /// which.
  static std::string sized(const std::string& options) {
    const auto has = [&](const char* name) { return options.find(name) != std::string::npos; };
    if (GetParam() != "ladder persistent" || has("--model")) return options;
    return options + (has("--hidden") ? "" : " --hidden 8") +
           (has("--batch-size") ? "" : " --batch-size 10");
  }

  static bool is_fusing() { return GetParam() >= "stage04"; }

  /// Options that decide nothing are not offered, or refused.
  void expect_every_option_changes_the_program() {
    const std::vector<std::pair<std::string, std::vector<std::string>>> changes = {
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
      if (option == "program") continue;
      // Of one process only.
      if (has_ranks && option == "workers") continue;
      const auto change = std::find_if(changes.begin(), changes.end(),
                                       [&](const auto& known) { return known.first == option; });
      ASSERT_NE(change, changes.end()) << "info --" << option << ": what does it change?";
      const std::string ranks = has_ranks ? "mpirun -n 2 " : "";
      std::vector<std::string> outputs;
      for (std::string options : change->second) {
        if (has_ranks && options.starts_with("--workers 2")) options.erase(0, 11);
        const bool has_gradients = option != "strategy" && option != "tensor-ranks";
        if (has_ranks && has_gradients) options += " --strategy data";
        outputs.push_back(run_well(ranks + GetParam() + " info --program " + sized(options)));
        outputs.back().erase(
            0, outputs.back().find("\nline  operation "));  // the head names the model
      }
      EXPECT_NE(outputs[0], outputs[1]) << option;
    }
  }

  std::string folder_;
};

INSTANTIATE_TEST_SUITE_P(Stages, Info, testing::ValuesIn(stages()),
                         [](const auto& stage) { return test_name(stage.param); });

const std::vector<std::string> models = {"", "--model cnn", "--model neuron",
                                         "--hidden none --loss squared-error",
                                         "--hidden 8,7 --activation sigmoid --biases off"};

TEST_P(Info, NamesFilesThatExist) {
  for (const std::string& model : models) {
    bool has_own = false;
    for (const Row& row : rows(model)) {
      EXPECT_TRUE(fs::is_regular_file(fs::path(STAGEWISE_REPOSITORY) / row.file))
          << row.operation << " is said to be in '" << row.file << "'";
      has_own = has_own || row.file.starts_with(folder_);
    }
    // One process alone exchanges nothing of a network that is too small to be shared out.
    EXPECT_TRUE(has_own) << "nothing is computed by the stage itself: " << model;
  }
}

TEST_P(Info, MarksWhatIsFused) {
  for (const std::string& model : models) {
    const std::string output = run_well(GetParam() + " info --program " + model);
    bool has_fused = false;
    for (const Row& row : rows_of(output)) {
      EXPECT_EQ(row.operation.ends_with('*'), !row.replaces.empty()) << row.operation;
      has_fused = has_fused || !row.replaces.empty();
    }
    EXPECT_EQ(has_fused, is_fusing()) << output;
    EXPECT_EQ(output.ends_with("\n* one line instead of those behind #\n"), is_fusing()) << output;
  }
}

/// Report 001's perceptron: what the first three stages do is one list.
TEST_P(Info, ShowsTheLinesOfTheDefaultNetwork) {
  const std::vector<Row> lines = rows();
  if (is_fusing()) {
    EXPECT_LT(lines.size(), 10U);
    return;
  }
  EXPECT_EQ(operations_of(lines), (std::vector<std::string>{"gather",
                                                            "gemm",
                                                            "add_bias",
                                                            "relu",
                                                            "gemm",
                                                            "add_bias",
                                                            "softmax_cross_entropy",
                                                            "argmax",
                                                            "accumulate",
                                                            "softmax_cross_entropy_backward",
                                                            "column_sums",
                                                            "gemm",
                                                            "gemm",
                                                            "relu_backward",
                                                            "column_sums",
                                                            "gemm",
                                                            "sgd_update",
                                                            "sgd_update",
                                                            "sgd_update",
                                                            "sgd_update"}));
  EXPECT_EQ(lines[1].values, "batch, fc1/weight -> fc1/product");
  EXPECT_EQ(lines[15].values, "batch, d fc1/sum -> d fc1/weight");
  EXPECT_EQ(lines[16].values, "d fc1/weight, fc1/weight -> fc1/weight");
  // 2 * 100 * 784 * 256 operations; 4 bytes for each number of the factors and the product.
  EXPECT_EQ(lines[1].operations, "40.1 M");
  EXPECT_EQ(lines[1].bytes, "1.2 M");
  EXPECT_EQ(lines[1].shaped, "batch [100x28x28x1], fc1/weight [784x256] -> fc1/product [100x256]");
  EXPECT_EQ(rows("--precision double")[1].bytes, "2.4 M");
  EXPECT_EQ(rows("--batch-size 1000")[1].operations, "401 M");
}

/// Against the stage before: what a stage computes by a file of its own.
TEST_P(Info, SaysWhatChangesAgainstTheStageBefore) {
  const bool exchanges = GetParam() == "stage05_mpi";
  for (const std::string& model : models) {
    bool has_changed = false;
    for (const Row& row : rows(model)) {
      const bool is_own = row.file.starts_with(folder_) && GetParam() != "stage01_serial";
      EXPECT_EQ(row.change.empty(), !is_own) << row.operation;
      if (is_own) {
        has_changed = true;
        const std::string expected = exchanges              ? "new line"
                                     : row.replaces.empty() ? "new kernel"
                                                            : "fused";
        EXPECT_EQ(row.change, expected) << row.operation;
      }
    }
    EXPECT_EQ(has_changed, GetParam() != "stage01_serial") << model;
  }
}

TEST_P(Info, ShowsConvolutions) {
  const std::vector<std::string> operations = operations_of(rows("--model cnn"));
  const auto has = [&](const std::string& name) {
    return std::find(operations.begin(), operations.end(), name) != operations.end();
  };
  EXPECT_TRUE(has("convolution_backward"));
  EXPECT_EQ(has("convolution"), !is_fusing());
  EXPECT_EQ(has("average_pool_backward"), !is_fusing());
  EXPECT_EQ(has("convolution_relu_pool*"), is_fusing());
  EXPECT_EQ(has("pool_relu_backward*"), is_fusing());
}

/// Except for the loss and the updates, which --fuse does not affect.
TEST_P(Info, LeavesLayersToStage03WhereAsked) {
  if (!is_fusing()) GTEST_SKIP() << "this stage fuses nothing";
  for (const std::string& model : models) {
    for (const Row& row : rows(model + " --fuse off")) {
      const bool is_left = row.operation == "loss*" || row.operation == "update_by_sum*" ||
                           row.operation == "add_partials*";
      EXPECT_TRUE(row.replaces.empty() || is_left) << model << ": " << row.operation;
      if (row.operation.starts_with("convolution")) {
        const bool is_backward = row.operation == "convolution_backward";
        EXPECT_EQ(row.file, std::string("stages/03_shared_memory/convolution") +
                                (is_backward ? "/backward.cu" : ".cu"));
      }
    }
  }
}

TEST_P(Info, EveryOptionChangesTheProgram) {
  expect_every_option_changes_the_program();
}

TEST_P(Info, RefusesOptionsThatTheProgramWouldContradict) {
  expect_failure(GetParam() + " info --program --model cnn --hidden 8", 2,
                 "--hidden is for --model mlp: the layers of cnn are fixed");
}

/// Programs with other kernels than the stages'.
class InfoOfAVariant : public Info {};

TEST_P(InfoOfAVariant, NamesFilesThatExist) {
  for (const std::string& model : models) {
    for (const Row& row : rows(model)) {
      EXPECT_TRUE(fs::is_regular_file(fs::path(STAGEWISE_REPOSITORY) / row.file))
          << row.operation << " is said to be in '" << row.file << "'";
    }
  }
}

TEST_P(InfoOfAVariant, EveryOptionChangesTheProgram) {
  expect_every_option_changes_the_program();
}

TEST_P(InfoOfAVariant, RefusesOptionsThatTheProgramWouldContradict) {
  expect_failure(GetParam() + " info --program --model cnn --hidden 8", 2,
                 "--hidden is for --model mlp: the layers of cnn are fixed");
}

INSTANTIATE_TEST_SUITE_P(Programs, InfoOfAVariant,
                         testing::Values("ladder blocked", "ladder rungs", "ladder tf32",
                                         "ladder persistent", "per_step_memory", "fold_bias"),
                         [](const auto& program) { return test_name(program.param); });

TEST_F(CommandLine, InfoSaysWhatTheProgramRunsOn) {
  const std::string output = run_well("stage01_serial info");
  EXPECT_TRUE(output.starts_with("stage01_serial: a neural network ")) << output;
  EXPECT_NE(output.find("\nruns on    CPU ("), std::string::npos) << output;
  EXPECT_NE(output.find("\nversion    Stagewise "), std::string::npos) << output;
  EXPECT_NE(output.find("\nlibrary    OpenBLAS "), std::string::npos) << output;
  EXPECT_EQ(output.find("stages/"), std::string::npos) << output;
}

TEST_F(CommandLine, InfoShowsWhatWorkersDo) {
  const std::vector<Row> rows = rows_of(run_well("stage01_serial info --program --workers 2"));
  EXPECT_EQ(rows.size(), 40U);  // 16 lines each, a sum for each parameter, and the updates
  const auto count = [&](const std::string& operation, const std::string& part) {
    return std::count_if(rows.begin(), rows.end(), [&](const Row& row) {
      return row.operation == operation && row.values.find(part) != std::string::npos;
    });
  };
  EXPECT_EQ(count("gemm", "@0"), 5);
  EXPECT_EQ(count("gemm", "@1"), 5);
  EXPECT_EQ(count("sum", "d fc1/weight@0, d fc1/weight@1 -> d fc1/weight"), 1);
  EXPECT_EQ(count("sgd_update", "d fc1/weight, fc1/weight -> fc1/weight"), 1);
}

TEST_F(CommandLine, InfoShowsWhatStage04Fuses) {
  need_device("stage04_minibatch");
  const std::vector<Row> rows = rows_of(run_well("stage04_minibatch info --program"));
  EXPECT_EQ(operations_of(rows),
            (std::vector<std::string>{"linear*", "output_layer*", "linear_gradients*"}));
  EXPECT_EQ(rows[0].values, "features, order, fc1/weight, fc1/bias -> fc1/output");
  EXPECT_EQ(rows[0].replaces, "gather gemm add_bias relu");
  EXPECT_EQ(rows[1].replaces,
            "gather gemm add_bias softmax_cross_entropy argmax softmax_cross_entropy_backward gemm "
            "relu_backward column_sums gemm");
  EXPECT_EQ(rows[2].replaces, "sgd_update x2 accumulate gather column_sums gemm sgd_update x2");
  EXPECT_EQ(rows[2].file, "stages/04_minibatch/linear/parameter_gradients.cu");
  const std::vector<Row> shared = rows_of(run_well("stage04_minibatch info --program --workers 2"));
  ASSERT_EQ(shared.size(), 11U);
  EXPECT_EQ(shared[8].operation, "update_by_sum*");
  EXPECT_EQ(shared[8].replaces, "sum x4 sgd_update x4");
}

TEST_F(CommandLine, InfoShowsAStepOfOneLine) {
  need_device("ladder persistent");
  const std::vector<Row> rows =
      rows_of(run_well("ladder persistent info --program --hidden 8 --batch-size 10"));
  ASSERT_EQ(operations_of(rows), std::vector<std::string>{"persistent_step*"});
  EXPECT_EQ(rows[0].file, "ladders/persistent/training/mlp_steps.cu");
  EXPECT_TRUE(rows[0].replaces.starts_with("gather gemm add_bias relu gemm add_bias softmax_"))
      << rows[0].replaces;
  EXPECT_EQ(operations_of(rows_of(run_well("ladder persistent info --program --persistent off"))),
            (std::vector<std::string>{"linear*", "output_layer*", "linear_gradients*"}));
}

TEST_F(CommandLine, InfoShowsFoldedBiases) {
  need_device("fold_bias");
  const auto count = [](const std::vector<Row>& rows, const std::string& operation) {
    return std::count_if(rows.begin(), rows.end(),
                         [&](const Row& row) { return row.operation == operation; });
  };
  const std::vector<Row> rows = rows_of(run_well("fold_bias info --program"));
  EXPECT_EQ(count(rows, "add_bias"), 0);
  for (const std::string operation : {"folded_linear*", "folded_gradients*"}) {
    EXPECT_EQ(count(rows, operation), 2) << operation;
  }
  for (const Row& row : rows) {
    if (!row.operation.starts_with("folded_")) continue;
    EXPECT_EQ(row.file, "reports/003/fold_bias/fold_bias_executor.cpp");
  }
  EXPECT_EQ(operations_of(rows_of(run_well("fold_bias info --program --fold-bias off"))),
            operations_of(rows_of(run_well("stage03_shared_memory info --program"))));
}

#ifdef STAGEWISE_STAGE05

TEST_F(CommandLine, InfoShowsWhatProcessesExchange) {
  need_device("stage04_minibatch");
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
  const std::vector<std::string> one = {values + " -> " + values};
  const std::vector<std::string> of_tensor = {"fc2/product@0 -> fc2/product@0"};
  EXPECT_EQ(sums_of("stage05_mpi info --program --strategy data"), one) << "one of two processes";
  EXPECT_EQ(sums_of("mpirun -n 3 stage05_mpi info --program --strategy data --transport host"),
            one);
  EXPECT_EQ(sums_of("stage05_mpi info --program --strategy tensor"), of_tensor);
  EXPECT_EQ(sums_of("stage05_mpi info --program --batch-size 256"), of_tensor);
  EXPECT_EQ(sums_of("stage05_mpi info --program --batch-size 257"), one);
  EXPECT_EQ(run("stage05_mpi info --program --transport peer").err, "") << "one of two";
  EXPECT_EQ(sums_of("stage05_mpi info --program --strategy tensor --hidden 8,7,6").size(), 3U);
  EXPECT_EQ(sums_of("stage05_mpi info --program --strategy hybrid"),
            (std::vector<std::string>{"fc2/product@0 -> fc2/product@0", one.front()}));
  const std::string of_data = "stage05_mpi info --program --strategy data ";
  const std::string wide = of_data + "--hidden 1024,1024,1024";
  EXPECT_EQ(sums_of(wide).size(), 3U) << "three buckets";
  EXPECT_EQ(sums_of("mpirun -n 2 " + wide + " --transport host --overlap off").size(), 1U);
  EXPECT_EQ(sums_of("mpirun -n 2 " + wide + " --transport host").size(), 3U);
  const std::string alone = of_data + "--hidden 1024,1024 --transport peer";
  EXPECT_NE(run_well(alone).find("all_reduce_update*"), std::string::npos) << "one of two";
  const std::vector<Row> updates = rows_of(run_well("mpirun -n 2 " + of_data + "--transport peer"));
  const auto update = std::find_if(updates.begin(), updates.end(), [](const Row& row) {
    return row.operation == "all_reduce_update*";
  });
  ASSERT_NE(update, updates.end());
  EXPECT_EQ(update->file, "stages/05_mpi/all_reduce/2_two_shot.cu");
  EXPECT_EQ(update->replaces, "all_reduce sgd_update x4");
  EXPECT_EQ(sums_of("stage05_mpi info --program --average weights").size(), 0U);
  expect_failure("stage05_mpi info --program --strategy tensor --model cnn", 2,
                 "--strategy tensor splits the hidden layers of --model mlp, and there is none; "
                 "--strategy data trains every network");
  expect_failure("stage05_mpi info --program --workers 2", 2,
                 "--workers 2 takes as many processes, and there is one: start them with mpirun -n "
                 "2");
}

#endif

}  // namespace
}  // namespace stagewise
