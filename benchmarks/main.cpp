/// @file
/// The main() of every benchmark: Google Benchmark's, plus what a figure is worth nothing without.

#include <benchmark/benchmark.h>
#include <cblas.h>

int main(int argc, char** argv) {
  openblas_set_num_threads(1);
  benchmark::AddCustomContext("compiler", STAGEWISE_COMPILER);
  benchmark::AddCustomContext("build", STAGEWISE_BUILD_TYPE);
  benchmark::AddCustomContext("openblas", openblas_get_config());
  benchmark::AddCustomContext("openblas_kernels", openblas_get_corename());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
