#include "fuzz/fuzz_input.hpp"
#include "io/data_sets/cifar10.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const stagewise::InputOnDisk file({data, size});
  stagewise::expect_success_or_sentence([&] { stagewise::read_cifar10({file.path()}); });
  return 0;
}
