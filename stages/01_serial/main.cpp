/// @file
/// Stage 01's program.

#include <new>
#include <sstream>

#include "01_serial/offers.hpp"
#include "01_serial/operation_files.hpp"
#include "01_serial/serial_executor.hpp"
#include "cli/stage.hpp"
#include "io/open_blas.hpp"
#include "offers/all.hpp"
#include "tensor/error.hpp"

namespace {

using namespace stagewise;

std::vector<std::string> libraries() try {
  // The configuration begins with name and version; the core name tells which kernels are used.
  const OpenBlas& blas = open_blas();
  std::istringstream configuration(blas.configuration());
  std::string name;
  std::string version;
  configuration >> name >> version;
  return {name + " " + version + ", kernels for " + blas.core_name() + " (--gemm blas)"};
} catch (const Error& error) {
  return {std::string("none: ") + error.what()};
} catch (const std::bad_alloc&) {
  return {"none: the host has too little memory for OpenBLAS (--gemm blas)"};
}

template <typename T>
std::unique_ptr<Executor<T>> make_executor(const StageOptions& options) {
  return std::make_unique<SerialExecutor<T>>(serial::parse_gemm_variant(options.at("gemm")));
}

Stage describe_stage() {
  Stage stage(stage01_offers());
  stage.option("gemm").choices = serial::gemm_variant_names();
  stage.summary = "Stage 01: a neural network as loops on one core.";
  stage.device = [] { return "CPU (" + processor_name() + ", one core)"; };
  stage.in_float.make_executor = make_executor<float>;
  stage.in_double.make_executor = make_executor<double>;
  stage.files = stage01_files();
  stage.offers = all_offers();
  stage.libraries = libraries;
  return stage;
}

}  // namespace

int main(int argc, char** argv) {
  return stagewise::run_stage(describe_stage(), argc, argv);
}
