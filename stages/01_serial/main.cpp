/// @file
/// Stage 01's program.

#include <new>
#include <sstream>

#include "01_serial/gemm/blas.hpp"
#include "01_serial/serial_executor.hpp"
#include "all_offers.hpp"
#include "app/stage.hpp"
#include "tensor/error.hpp"

namespace {

using namespace stagewise;

std::vector<std::string> libraries() try {
  // The configuration begins with name and version; the core says which kernels were picked.
  const serial::OpenBlas& blas = serial::open_blas();
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
  return std::make_unique<SerialExecutor<T>>(serial::parse_gemm_form(options.at("gemm")));
}

Stage describe_stage() {
  const std::string folder = "stages/01_serial/";
  Stage stage;
  stage.program = "stage01_serial";
  stage.summary = "Stage 01: a neural network as loops on one core.";
  stage.device = [] { return "CPU (" + processor_name() + ", one core)"; };
  stage.has_workers = true;
  stage.options = {{.name = "gemm",
                    .description = "form of the matrix product",
                    .choices = serial::gemm_form_names(),
                    .default_choice = "reordered"}};
  stage.in_float.make_executor = make_executor<float>;
  stage.in_double.make_executor = make_executor<double>;
  stage.files = {{"gather", "common/data/dataset.cpp"},
                 {"gemm", folder + "gemm.cpp"},
                 {"add_bias", folder + "elementwise.cpp"},
                 {"column_sums", folder + "reduce.cpp"},
                 {"sum", folder + "elementwise.cpp"},
                 {"relu", folder + "elementwise.cpp"},
                 {"relu_backward", folder + "elementwise.cpp"},
                 {"sigmoid", folder + "elementwise.cpp"},
                 {"sigmoid_backward", folder + "elementwise.cpp"},
                 {"softmax_cross_entropy", folder + "loss.cpp"},
                 {"softmax_cross_entropy_backward", folder + "loss.cpp"},
                 {"squared_error", folder + "loss.cpp"},
                 {"squared_error_backward", folder + "loss.cpp"},
                 {"argmax", folder + "predict.cpp"},
                 {"threshold", folder + "predict.cpp"},
                 {"accumulate", folder + "loss.cpp"},
                 {"convolution", folder + "convolution.cpp"},
                 {"convolution_backward", folder + "convolution.cpp"},
                 {"average_pool", folder + "average_pool.cpp"},
                 {"average_pool_backward", folder + "average_pool.cpp"},
                 {"sgd_update", folder + "update.cpp"},
                 {"mean", folder + "serial_executor.cpp"},
                 {"copy", folder + "serial_executor.cpp"}};
  stage.offers = all_offers();
  stage.libraries = libraries;
  return stage;
}

}  // namespace

int main(int argc, char** argv) {
  return stagewise::run_stage(describe_stage(), argc, argv);
}
