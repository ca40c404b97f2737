/// @file
/// GoogleTest in several processes: every rank runs every test, rank 0 reports.

#include <iostream>
#include <memory>
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
    std::cerr << "rank " << test_world().rank() << " of " << test_world().size() << ", " << test_
              << ":\n"
              << result.message() << std::endl;
    mpi::World::abort(1);
  }

 private:
  std::string test_;  ///< GoogleTest cannot be asked while it reports
};

std::unique_ptr<mpi::World>& world_of_program() {
  static std::unique_ptr<mpi::World> world;
  return world;
}

}  // namespace

namespace stagewise {

mpi::World& test_world() {
  return *world_of_program();
}

const mpi::Placement& test_placement() {
  static const mpi::Placement placement = mpi::choose_device(test_world());
  return placement;
}

}  // namespace stagewise

// GoogleTest's own exceptions would end the program, as they should.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  world_of_program() = std::make_unique<mpi::World>(argc, argv);
  if (const std::string objection = filter_objection(); !objection.empty()) {
    if (test_world().rank() == 0) std::cerr << objection << ".\n";
    world_of_program().reset();
    return 1;
  }
  try {
    test_placement();
  } catch (const Error& error) {
    if (test_world().rank() == 0) std::cout << "Skipped: " << error.what() << '\n';
    world_of_program().reset();
    return 0;
  }
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (test_world().rank() > 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new EndAllRanks);
  const int code = RUN_ALL_TESTS();
  world_of_program().reset();
  return code;
}
