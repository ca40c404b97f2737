#include "fuzz/fuzz_input.hpp"
#include "io/checkpoint.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const stagewise::InputOnDisk file({data, size});
  stagewise::expect_success_or_sentence([&] { stagewise::load_checkpoint(file.path()); });
  return 0;
}
