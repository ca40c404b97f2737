#include <algorithm>

#include "fuzz/fuzz_input.hpp"
#include "io/data_sets/idx.hpp"

// Two files in one input: its first two bytes say how long the labels are, which come next.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stagewise;
  if (size < 2) return 0;
  const std::span<const std::uint8_t> both(data + 2, size - 2);
  const std::size_t wanted = data[0] * 256U + data[1];
  const std::size_t labels_size = std::min(wanted, both.size());
  const InputOnDisk labels(both.first(labels_size));
  const InputOnDisk images(both.subspan(labels_size));
  for (const int classes : {0, 10}) {
    expect_success_or_sentence([&] { read_idx(images.path(), labels.path(), classes); });
  }
  return 0;
}
