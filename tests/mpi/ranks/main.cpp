/// @file
/// GoogleTest in several processes: every rank runs every test, rank 0 reports.

#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "idle_filter.hpp"
#include "mpi/ranks/ranks.hpp"
#include "tensor/error.hpp"

namespace {

using namespace stagewise;

/// A rank that fails must not let the others wait: it says what failed and ends them all.
class EndAllRanks final : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override {
    test_ = std::string(test.test_suite_name()) + "." + test.name();
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::cerr << "rank " << test_world().rank() << " of " << test_world().size() << ", " << test_ << ":\n"
              << result.message() << std::endl;
    mpi::World::abort(1);
  }

 private:
  std::string test_;  ///< GoogleTest cannot be asked while it reports
};

/// That of main(), which tests cannot be given as an argument.
mpi::World*& world_of_program() {
  static mpi::World* world = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
  return world;
}

}  // namespace

namespace stagewise {

mpi::World& test_world() { return *world_of_program(); }

const mpi::Placement& test_placement() {
  static const mpi::Placement placement = mpi::choose_device(test_world());
  return placement;
}

}  // namespace stagewise

// GoogleTest's own exceptions would end the program, as they should.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  mpi::World world(argc, argv);
  world_of_program() = &world;
  if (const std::string objection = filter_objection(); !objection.empty()) {
    if (world.rank() == 0) std::cerr << objection << ".\n";
    return 1;
  }
  try {
    test_placement();
  } catch (const Error& error) {
    if (world.rank() == 0) std::cout << "Skipped: " << error.what() << '\n';
    return 0;
  }
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (world.rank() > 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new EndAllRanks);
  return RUN_ALL_TESTS();
}
