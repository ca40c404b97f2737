#include "cli/command_line.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include <sys/stat.h>

#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::string> programs = {
    {"stage01_serial", STAGEWISE_STAGE01},
    {"stage02_naive_cuda", STAGEWISE_STAGE02},
    {"stage03_shared_memory", STAGEWISE_STAGE03},
    {"stage04_minibatch", STAGEWISE_STAGE04},
#ifdef STAGEWISE_STAGE05
    {"stage05_mpi", STAGEWISE_STAGE05},
    {"grade", STAGEWISE_GRADE},
    {"mpirun", STAGEWISE_MPIRUN},
#endif
    {"ladder", STAGEWISE_LADDER},
    {"per_step_memory", STAGEWISE_PER_STEP_MEMORY},
    {"fold_bias", STAGEWISE_FOLD_BIAS},
    {"matrix_files", STAGEWISE_MATRIX_FILES},
    {"compare_checkpoints", STAGEWISE_COMPARE_CHECKPOINTS},
    {"make_dataset", STAGEWISE_MAKE_DATASET},
};

}  // namespace

CommandLine::CommandLine() {
  surroundings_.folder = folder_.path();
  surroundings_.variables["STAGEWISE_DATA_DIR"] = std::nullopt;
  surroundings_.variables["OMPI_ALLOW_RUN_AS_ROOT"] = "1";
  surroundings_.variables["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  // Containers may forbid a process to read another's memory, which Open MPI then deplores.
  surroundings_.variables["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none";
  renew_temporary_folder();
}

void CommandLine::renew_temporary_folder() {
  const fs::path folder = temporary_ / std::to_string(programs_++);
  fs::create_directory(folder);
  surroundings_.variables["TMPDIR"] = folder.string();
}

std::vector<std::string> CommandLine::resolve(const std::string& command) {
  std::vector<std::string> words = words_of(command);
  const bool has_ranks = words.at(0) == "mpirun";
  words.at(0) = programs.at(words.at(0));
  if (!has_ranks) return words;
  for (std::string& word : words) {
    if (word == "stage05_mpi" || word == "grade" || word == "ladder") word = programs.at(word);
  }
  words.insert(words.begin() + 1, {"--oversubscribe", "--bind-to", "none"});
  return words;
}

Outcome CommandLine::run(const std::vector<std::string>& words) {
  renew_temporary_folder();
  return stagewise::run(words, surroundings_);
}

Outcome CommandLine::run(const std::string& command) {
  for (const std::string& word : words_of(command)) make_input(word.substr(0, word.find('/')));
  return run(resolve(command));
}

std::string CommandLine::run_well(const std::string& command) {
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.exit_code, 0) << command;
  EXPECT_EQ(outcome.err, "") << command;
  return outcome.out;
}

nlohmann::json CommandLine::report_of(const std::string& command) {
  run_well(command + " --report report.json");
  return nlohmann::json::parse(text("report.json"));
}

void CommandLine::need_device(const std::string& stage) {
  const Outcome info = run(stage + " info");
  if (info.exit_code == 0) return;
  EXPECT_NE(info.err.find("no GPU can be used here"), std::string::npos) << info.err;
  EXPECT_NE(info.err.find("preset cpu"), std::string::npos) << info.err;
  GTEST_SKIP() << info.err;
}

void CommandLine::expect_failure(const std::string& command, int exit_code,
                                 const std::string& sentence) {
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.signal, 0) << command;
  EXPECT_EQ(outcome.exit_code, exit_code) << command;
  const std::string program = program_of(command);
  if (sentence.ends_with("...")) {
    const std::string begin = program + ": " + sentence.substr(0, sentence.size() - 3);
    EXPECT_EQ(outcome.err.substr(0, begin.size()), begin) << command;
    EXPECT_TRUE(outcome.err.ends_with(".\n") || outcome.err.ends_with("?\n")) << outcome.err;
    EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.err;
  } else {
    const std::string end = sentence.ends_with('?') ? "\n" : ".\n";
    EXPECT_EQ(outcome.err, program + ": " + sentence + end) << command;
  }
}

void CommandLine::make_input(const std::string& name) {
  const fs::path place = path(name);
  std::error_code ignored;  // of a name that no file can have
  if (name.empty() || fs::exists(place, ignored)) return;
  const auto make = [&](const std::string& command) {
    const Outcome outcome = run(resolve(command));
    ASSERT_EQ(outcome.exit_code, 0) << command << '\n' << outcome.err;
  };
  if (name == "digits.h5") {
    make(short_training + " --epochs 2 --save " + name);
  } else if (name == "double.h5") {
    make(short_training + " --epochs 2 --precision double --save " + name);
  } else if (name == "neuron.h5") {
    make(
        "stage01_serial train --model neuron --dataset step --train-limit 50 --test-limit 20 "
        "--batch-size 10 --epochs 2 --save " +
        name);
  } else if (name == "many.h5") {
    make(
        "stage01_serial train --dataset gaussian --classes 1001 --features 2 --samples 10 "
        "--hidden none --batch-size 10 --epochs 0 --save " +
        name);
  } else if (name == "other.h5") {
    make_input("digits.h5");
    const Checkpoint whole = load_checkpoint(path("digits.h5"));
    save_checkpoint(place, {.precision = "float", .parameters = whole.parameters});
  } else if (name == "nan.h5") {
    make_input("digits.h5");
    Checkpoint checkpoint = load_checkpoint(path("digits.h5"));
    checkpoint.parameters.back().values.back() = std::numeric_limits<double>::quiet_NaN();
    save_checkpoint(place, checkpoint);
  } else if (name == "cut.h5") {
    make_input("digits.h5");
    Bytes bytes = read_file(path("digits.h5"));
    bytes.resize(bytes.size() / 2);
    write_file(place, bytes);
  } else if (name == "text.h5") {
    write_file(place, {'h', 'e', 'l', 'l', 'o', '\n'});
  } else if (name == "empty.h5") {
    write_file(place, {});
  } else if (name == "folder") {
    fs::create_directory(place);
  } else if (name == "fifo") {
    ASSERT_EQ(::mkfifo(place.c_str(), 0666), 0);
  } else if (name == "locked") {
    fs::create_directory(place);
    fs::permissions(place, fs::perms::owner_read | fs::perms::owner_exec);
  } else if (name == "locked.h5") {
    make_input("digits.h5");
    fs::copy_file(path("digits.h5"), place);
    fs::permissions(place, fs::perms::owner_read);
  } else if (name == "digits") {
    make("make_dataset --train 50 --test 20 --output digits");
  }
}

std::string CommandLine::text(const std::string& name) const {
  std::ifstream file(path(name));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string program_of(const std::string& command) {
  std::vector<std::string> words = words_of(command);
  if (words.at(0) == "mpirun") words.erase(words.begin(), words.begin() + 3);
  const std::set<std::string> of_ladder = {"blocked", "rungs", "tf32", "persistent"};
  const bool is_training =
      words.at(0) == "ladder" && words.size() > 1 && of_ladder.contains(words[1]);
  return is_training ? words[0] + " " + words[1] : words[0];
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> stages() {
  std::vector<std::string> found;
  for (const auto& [name, path] : programs) {
    if (name.starts_with("stage0")) found.push_back(name);
  }
  return found;
}

std::string test_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '-' || c == ' '; }, '_');
  return text;
}

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t begin = text.find(before);
  const std::size_t end =
      begin == std::string::npos ? begin : text.find(after, begin + before.size());
  if (end == std::string::npos) {
    ADD_FAILURE() << "'" << text << "' has nothing between '" << before << "' and '" << after
                  << "'";
    return "";
  }
  return text.substr(begin + before.size(), end - begin - before.size());
}

}  // namespace stagewise
