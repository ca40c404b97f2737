#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz/fuzz_input.hpp"
#include "reports/002/matrix_file.hpp"

// What can be read is written again, which must give the same bytes: there is one file a matrix.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stagewise;
  const InputOnDisk file({data, size});
  const InputOnDisk copy({});
  expect_success_or_sentence([&] {
    write_matrix(copy.path(), read_matrix(file.path()));
    std::ifstream stream(copy.path(), std::ios::binary);
    const std::vector<char> again{std::istreambuf_iterator<char>(stream), {}};
    if (!std::equal(again.begin(), again.end(), data, data + size,
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; })) {
      std::abort();
    }
  });
  return 0;
}
