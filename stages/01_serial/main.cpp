/// @file
/// Stage 01's program.

#include <new>
#include <sstream>

#include "01_serial/gemm/blas.hpp"
#include "01_serial/serial_backend.hpp"
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
  stage.make_float_backend = [](const StageOptions& options) {
    return std::make_unique<SerialBackend<float>>(serial::parse_gemm_form(options.at("gemm")));
  };
  stage.make_double_backend = [](const StageOptions& options) {
    return std::make_unique<SerialBackend<double>>(serial::parse_gemm_form(options.at("gemm")));
  };
  stage.primitives = {{"gemm", folder + "gemm.cpp, gemm/*.cpp"},
                      {"add_bias", folder + "elementwise.cpp"},
                      {"relu, relu_backward", folder + "elementwise.cpp"},
                      {"sigmoid, sigmoid_backward", folder + "elementwise.cpp"},
                      {"transpose", folder + "transpose.cpp"},
                      {"sum, sum_rows (bias gradient)", folder + "reduce.cpp"},
                      {"softmax_cross_entropy, ..._backward", folder + "loss.cpp"},
                      {"squared_error, ..._backward", folder + "loss.cpp"},
                      {"accumulate", folder + "loss.cpp"},
                      {"argmax, threshold", folder + "predict.cpp"},
                      {"convolution, convolution_backward", folder + "convolution.cpp"},
                      {"average_pool, ..._backward", folder + "average_pool.cpp"},
                      {"sgd_update", folder + "update.cpp"},
                      {"linear, linear_backward", "common/backend/backend.cpp"},
                      {"convolution_relu_pool", "common/backend/backend.cpp"}};
  stage.libraries = libraries;
  return stage;
}

}  // namespace

int main(int argc, char** argv) {
  return stagewise::run_stage(describe_stage(), argc, argv);
}
