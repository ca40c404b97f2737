#include "cli/command_line.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include <sys/stat.h>

#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

/// A sentence that a program says: "stage01_serial: --gemm needs a value."
bool is_sentence(const std::string& line, const std::string& program) {
  return line.starts_with(program + ": ") && (line.ends_with('.') || line.ends_with('?'));
}

/// Inputs that a command makes.
const std::map<std::string, std::string> made_by_commands = {
    {"digits.h5", short_training + " --epochs 2 --save digits.h5"},
    {"double.h5", short_training + " --epochs 2 --precision double --save double.h5"},
    {"neuron.h5",
     "stage01_serial train --model neuron --dataset step --train-limit 50 --test-limit 20 "
     "--batch-size 10 --epochs 2 --save neuron.h5"},
    {"many.h5",
     "stage01_serial train --dataset gaussian --classes 1001 --features 2 --samples 10 "
     "--hidden none --batch-size 10 --epochs 0 --save many.h5"},
    {"digits", "make_dataset --train 50 --test 20 --output digits"},
};

/// A command of a table, and the indented lines behind it.
struct Entry {
  std::string command;
  std::vector<std::string> said;
};

std::vector<Entry> entries_of(const std::string& table) {
  std::ifstream file(fs::path(STAGEWISE_REPOSITORY) / "tests/cli/tables" / (table + ".txt"));
  std::vector<Entry> entries;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("    ") && !entries.empty()) {
      entries.back().said.push_back(line.substr(4));
    } else {
      EXPECT_GT(line[0], ' ') << "behind " << entries.size() << " commands of " << table;
      entries.push_back({line, {}});
    }
  }
  EXPECT_FALSE(entries.empty()) << table;
  return entries;
}

void expect_line(const std::string& output, const std::string& line) {
  if (line == "nothing") {
    EXPECT_EQ(output, "");
    return;
  }
  if (line.starts_with("not ")) {
    EXPECT_EQ(count(output, line.substr(4)), 0) << line << '\n' << output;
    return;
  }
  std::string part = line.starts_with("...") ? line.substr(3) : "\n" + line;
  part = part.ends_with("...") ? part.substr(0, part.size() - 3) : part + "\n";
  const int found = count("\n" + output, part);
  EXPECT_TRUE(line.starts_with("...") ? found > 0 : found == 1) << line << " in\n" << output;
}

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
  const std::set<std::string> of_system = {"cmp", "cp", "ln", "ls", "mkdir", "mv", "readlink", "rm"};
  const auto path_of = [&](const std::string& program) {
    return (of_system.contains(program) ? "/usr/bin/" : STAGEWISE_PROGRAMS "/") + program;
  };
  if (words.at(0) != "mpirun") {
    words[0] = path_of(words[0]);
    return words;
  }
#ifdef STAGEWISE_MPIRUN
  words[0] = STAGEWISE_MPIRUN;
#endif
  for (std::string& word : words) {
    if (word == "stage05_mpi" || word == "grade" || word == "ladder") word = path_of(word);
  }
  words.insert(words.begin() + 1, {"--oversubscribe", "--bind-to", "none"});
  return words;
}

Outcome CommandLine::run(const std::vector<std::string>& words) {
  renew_temporary_folder();
  return last_ = stagewise::run(words, surroundings_);
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

json CommandLine::report_of(const std::string& command) {
  run_well(command + " --report report.json");
  return json::parse(text("report.json"));
}

std::set<std::string> CommandLine::options_of(const std::string& command) {
  std::set<std::string> names;
  for (const std::string& line : lines_of(run_well(command + " --help"))) {
    if (line.starts_with("  --")) names.insert(line.substr(4, line.find(' ', 4) - 4));
  }
  EXPECT_FALSE(names.empty()) << command;
  return names;
}

void CommandLine::need_device(const std::string& stage) {
  const Outcome info = run(stage + " info");
  if (info.exit_code == 0) return;
  expect_contains(info.err, "no GPU can be used here");
  expect_contains(info.err, "preset cpu");
  GTEST_SKIP() << info.err;
}

std::string CommandLine::expect_failure(const std::string& command, int exit_code, const std::string& said) {
  SCOPED_TRACE(command);
  for (const std::string& word : words_of(command)) make_input(word.substr(0, word.find('/')));
  const std::map<std::string, Bytes> before = files();
  const Outcome outcome = run(resolve(command));
  EXPECT_TRUE(files() == before) << "a file has changed";
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(outcome.exit_code, exit_code);
  std::vector<std::string> lines = lines_of(outcome.err);
  const std::string program = program_of(command);
  const bool is_job = command.starts_with("mpirun");
  EXPECT_TRUE(exit_code != 2 || is_job || outcome.out.empty()) << outcome.out;
  if (is_job) {
    std::erase_if(lines, [&](const auto& line) { return !line.starts_with(program + ": "); });
  }
  EXPECT_EQ(lines.size(), 1U) << outcome.err;
  if (lines.empty()) return "";
  EXPECT_TRUE(is_sentence(lines[0], program)) << lines[0];
  expect_contains(lines[0], said.ends_with("...") ? said.substr(0, said.size() - 3) : said);
  return lines[0];
}

void CommandLine::expect_failures(const std::string& begin, int exit_code, const Sayings& sayings) {
  for (const auto& [end, said] : sayings) expect_failure(begin + end, exit_code, said);
}

Sayings CommandLine::table(const std::string& name) {
  Sayings sayings;
  for (const Entry& entry : entries_of(name)) {
    EXPECT_EQ(entry.said.size(), 1U) << entry.command;
    for (const std::string& said : entry.said) sayings.emplace_back(entry.command, said);
  }
  return sayings;
}

void CommandLine::run_table(const std::string& name) {
  for (const auto& [line, said] : entries_of(name)) {
    const bool fails = line.starts_with("1 ") || line.starts_with("2 ");
    const int exit_code = fails ? line[0] - '0' : 0;
    const std::string command = line.substr(fails ? 2 : 0);
    SCOPED_TRACE(command);
    if (fails && !said.empty()) {
      expect_failure(command, exit_code, said[0]);
    } else {
      run(command);
      EXPECT_EQ(last_.exit_code, exit_code) << last_.out;
      EXPECT_EQ(last_.err, "");
    }
    expect_lines(last_.out, {said.begin() + (fails && !said.empty() ? 1 : 0), said.end()});
  }
}

void CommandLine::expect_same(const std::string& a, const std::string& b, const std::string& tolerance) {
  run_well("compare_checkpoints " + a + " " + b + " --tolerance " + tolerance);
}

void CommandLine::expect_same_bytes(const std::string& a, const std::string& b) {
  EXPECT_FALSE(read_file(path(a)).empty()) << a;
  EXPECT_TRUE(read_file(path(a)) == read_file(path(b))) << a << " and " << b << " differ";
}

void CommandLine::make_input(const std::string& name) {
  const fs::path place = path(name);
  std::error_code ignored;  // of a name that no file can have
  if (name.empty() || fs::exists(place, ignored)) return;
  const auto checkpoint = [&] {
    make_input("digits.h5");
    return load_checkpoint(path("digits.h5"));
  };
  if (const auto made = made_by_commands.find(name); made != made_by_commands.end()) {
    const Outcome outcome = run(resolve(made->second));
    ASSERT_EQ(outcome.exit_code, 0) << made->second << '\n' << outcome.err;
  } else if (name == "other.h5") {
    save_checkpoint(place, {.precision = "float", .parameters = checkpoint().parameters});
  } else if (name == "nan.h5") {
    Checkpoint changed = checkpoint();
    changed.parameters.back().values.back() = std::numeric_limits<double>::quiet_NaN();
    save_checkpoint(place, changed);
  } else if (name == "cut.h5") {
    save_checkpoint(place, checkpoint());
    fs::resize_file(place, fs::file_size(place) / 2);
  } else if (name == "text.h5" || name == "empty.h5") {
    write(name, name == "text.h5" ? "hello\n" : "");
  } else if (name == "folder" || name == "locked") {
    fs::create_directory(place);
    if (name == "locked") fs::permissions(place, fs::perms::owner_read | fs::perms::owner_exec);
  } else if (name == "fifo") {
    ASSERT_EQ(::mkfifo(place.c_str(), 0666), 0);
  } else if (name == "locked.h5") {
    save_checkpoint(place, checkpoint());
    fs::permissions(place, fs::perms::owner_read);
  }
}

std::string CommandLine::text(const std::string& name) const {
  const Bytes bytes = read_file(path(name));
  return {bytes.begin(), bytes.end()};
}

void CommandLine::write(const std::string& name, const std::string& text) const {
  write_file(path(name), Bytes(text.begin(), text.end()));
}

std::map<std::string, Bytes> CommandLine::files() const {
  std::map<std::string, Bytes> found;
  for (const auto& entry : fs::recursive_directory_iterator(path(""))) {
    if (entry.is_regular_file()) found[entry.path()] = read_file(entry.path());
  }
  return found;
}

std::string program_of(const std::string& command) {
  std::vector<std::string> words = words_of(command);
  if (words.at(0) == "mpirun") words.erase(words.begin(), words.begin() + 3);
  if (words.at(0) == "sh") words.erase(words.begin(), words.begin() + 2);  // and its script
  const std::set<std::string> of_ladder = {"blocked", "rungs", "tf32", "persistent"};
  const bool is_training = words.at(0) == "ladder" && words.size() > 1 && of_ladder.contains(words[1]);
  return is_training ? words[0] + " " + words[1] : words[0];
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void expect_narrow(const std::string& output) {
  for (const std::string& line : lines_of(output)) EXPECT_LE(line.size(), 80U) << line;
}

void expect_lines(const std::string& output, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) expect_line(output, line);
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++found;
  return found;
}

std::vector<std::string> stages() {
  std::vector<std::string> names = {"stage01_serial", "stage02_naive_cuda", "stage03_shared_memory",
                                    "stage04_minibatch"};
#ifdef STAGEWISE_MPIRUN
  names.emplace_back("stage05_mpi");
#endif
  return names;
}

std::vector<std::string> programs_that_train() {
  std::vector<std::string> names = stages();
  names.insert(names.end(), variants.begin(), variants.end());
  return names;
}

std::string test_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '-' || c == ' '; }, '_');
  return text;
}

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t begin = text.find(before);
  const std::size_t end = begin == std::string::npos ? begin : text.find(after, begin + before.size());
  if (end == std::string::npos) {
    ADD_FAILURE() << "'" << text << "' has nothing between '" << before << "' and '" << after << "'";
    return "";
  }
  return text.substr(begin + before.size(), end - begin - before.size());
}

}  // namespace stagewise
