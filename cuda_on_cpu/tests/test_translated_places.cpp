#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "command.hpp"

// The program `translate`, and what a compiler and a debugger say about its translations. CMake
// defines TRANSLATE and FORMS (programs), COMPILER and INCLUDE (the runtime's headers).

namespace cuda_on_cpu {
namespace {

namespace fs = std::filesystem;

class TranslatedPlaces : public testing::Test {
 protected:
  Ending run_here(const std::vector<std::string>& words) { return run(folder_.path(), words); }

  /// Writes a .cu file, translates it, and gives what the compiler says about it.
  std::string compiled(const std::string& text) {
    write_file(folder_ / "wrong.cu", text);
    const Ending translated = run_here({TRANSLATE, "wrong.cu", "out/wrong.cu.cpp"});
    EXPECT_EQ(translated.exit_code, 0) << translated.err;
    const std::string include = "-I" INCLUDE;
    return run_here({COMPILER, "-std=c++20", "-fsyntax-only", include, "out/wrong.cu.cpp"}).err;
  }

  std::string path(const std::string& name) { return (folder_ / name).string(); }

  TemporaryFolder folder_;
};

TEST_F(TranslatedPlaces, CompilerNamesTheLineOfTheOriginal) {
  const std::string head =
      "#include <cuda_runtime.h>\n"
      "__global__ void kernel(int* x, int n) {\n"
      "  __shared__ int tile[4],\n"
      "      other;\n";
  const std::string launch =
      "}\n"
      "void launch(int* x) {\n"
      "  kernel<<<1,\n"
      "           2>>>(\n"
      "      x, 3);\n";
  EXPECT_EQ(compiled(head + launch + "}\n"), "");
  EXPECT_NE(compiled(head + "  tile[0] = wrong;\n" + launch + "}\n").find(path("wrong.cu") + ":5:"),
            std::string::npos);
  EXPECT_NE(compiled(head + launch + "  wrong();\n}\n").find(path("wrong.cu") + ":10:3: error"),
            std::string::npos);
  // A launch without its last argument.
  std::string short_launch = launch;
  short_launch.erase(short_launch.find(", 3"), 3);
  EXPECT_NE(compiled(head + short_launch + "}\n").find(path("wrong.cu") + ":8:"),
            std::string::npos);
}

TEST_F(TranslatedPlaces, TranslatorEndsWithItsSentence) {
  const Ending none = run_here({TRANSLATE});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.err,
            "Usage: translate [--preprocessed] INPUT OUTPUT [INPUT WITH __CUDA_ARCH__]\n");
  EXPECT_EQ(run_here({TRANSLATE, "a", "b", "c"}).exit_code, 2);

  const Ending missing = run_here({TRANSLATE, "missing.cu", "out.cpp"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_EQ(missing.err, path("missing.cu") + " cannot be read\n");

  const std::string text = "\nvoid f() { k<<<1, 2>>>; }\n";
  write_file(folder_ / "wrong.cu", text);
  const Ending wrong = run_here({TRANSLATE, "wrong.cu", "out.cpp"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_EQ(wrong.err,
            path("wrong.cu") + ":2: a launch needs its arguments in parentheses behind >>>\n");
  EXPECT_FALSE(fs::exists(folder_ / "out.cpp"));

  write_file(folder_ / "empty.cu", "");
  const Ending unwritable = run_here({TRANSLATE, "empty.cu", "/dev/full"});
  EXPECT_EQ(unwritable.exit_code, 1);
  EXPECT_EQ(unwritable.err, "/dev/full cannot be written\n");
}

TEST_F(TranslatedPlaces, DebuggerStopsInTheOriginal) {
  if (run_here({"/bin/sh", "-c", "command -v gdb"}).exit_code != 0) {
    GTEST_SKIP() << "gdb is not installed (sudo apt install gdb)";
  }
  const Ending outcome = run_here(
      {"/bin/sh", "-c",
       "gdb -nx -batch -ex \"set debuginfod enabled off\" -ex \"break neighbour.cuh:15\" -ex run "
       "-ex backtrace --args " FORMS " --gtest_filter=All/Forms.*/Header"});
  if (outcome.err.find("ptrace") != std::string::npos) {
    GTEST_SKIP() << "gdb may not trace programs here: " << outcome.err;
  }
  // The line with its folders is printed where the program stops, and nowhere else.
  EXPECT_NE(outcome.out.find("forms/neighbour.cuh:15"), std::string::npos)
      << outcome.out << outcome.err;
}

}  // namespace
}  // namespace cuda_on_cpu
