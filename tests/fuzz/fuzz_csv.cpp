#include "fuzz/fuzz_input.hpp"
#include "io/data_sets/csv.hpp"

// A table with the column "label" for classes, and then again as if a network had been trained on
// it: what has been read once is read again.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stagewise;
  const InputOnDisk file({data, size});
  expect_success_or_sentence([&] {
    Table table = read_csv(file.path(), "label");
    const Table again = read_csv(file.path(), "label", &table.encoding);
    if (again.dataset.labels() != table.dataset.labels()) std::abort();
    standardize(table.dataset, standardization_of(table.dataset));
  });
  return 0;
}
