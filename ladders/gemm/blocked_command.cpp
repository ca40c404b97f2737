#include "01_serial/operation_files.hpp"
#include "01_serial/serial_executor.hpp"
#include "ladders/gemm/blocked.hpp"
#include "ladders/program/commands.hpp"
#include "network/operand.hpp"
#include "offers/all.hpp"

namespace stagewise {
namespace {

/// Stage 01, with another product.
template <typename T>
class BlockedExecutor final : public SerialExecutor<T> {
 public:
  using SerialExecutor<T>::run;
  void run(const Gemm& op) { serial::gemm_blocked(this->problem(op)); }

 private:
  void run(const Line& line) override { run_operation(*this, line.operation, line.replaces); }
};

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const StageOptions& /*options*/) {
  return std::make_unique<BlockedExecutor<T>>();
}

Stage describe_stage() {
  Stage stage(Offers{.program = "ladder blocked", .has_workers = true});
  stage.summary = "Stage 01 with a product whose tiles stay in registers.";
  stage.device = [] { return "CPU (" + processor_name() + ", one core)"; };
  stage.in_float.make_executor = make_executor<float>;
  stage.in_double.make_executor = make_executor<double>;
  stage.folder = "ladders/gemm/";
  stage.files = stage01_files();
  stage.files["gemm"] = "ladders/gemm/blocked.cpp";
  stage.offers = all_offers();
  stage.libraries = [] { return std::vector<std::string>(); };
  return stage;
}

}  // namespace

int run_blocked(int argc, char** argv) { return run_stage(describe_stage(), argc, argv); }

}  // namespace stagewise
