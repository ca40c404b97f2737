#include "fuzz/fuzz_input.hpp"
#include "io/data_sets/hdf5_data.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const stagewise::InputOnDisk file({data, size});
  stagewise::expect_success_or_sentence([&] { stagewise::read_hdf5(file.path()); });
  return 0;
}
