#include "05_mpi/scatter.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpi/check.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise::mpi {
namespace {

/// A sample as one element of a message: MPI counts elements in ints, and a sample may be long.
class SampleType {
 public:
  SampleType(Index width, MPI_Datatype number) {
    MPI_CHECK(MPI_Type_contiguous(static_cast<int>(width), number, &type_));
    MPI_CHECK(MPI_Type_commit(&type_));
  }
  ~SampleType() { MPI_Type_free(&type_); }
  SampleType(const SampleType&) = delete;
  SampleType& operator=(const SampleType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

//! [scatter]
/// Scatters rows of `width` numbers each.
/// @param all on rank 0: the rows for all ranks, one rank after another.
template <typename U>
std::vector<U> scatter_rows(const World& world, const std::vector<U>& all, Index width,
                            std::span<const Index> counts) {
  const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(world.rank())]);
  std::vector<U> rows(own * static_cast<std::size_t>(width));
  const SampleType row(width, type_of<U>());
  const bool are_equal = std::all_of(counts.begin(), counts.end(),
                                     [&](Index count) { return count == counts.front(); });
  if (are_equal) {
    const auto count = static_cast<int>(own);
    MPI_CHECK(MPI_Scatter(all.data(), count, row.get(), rows.data(), count, row.get(), 0,
                          world.communicator()));
    return rows;
  }
  std::vector<int> sizes;
  std::vector<int> begins;
  int begin = 0;
  for (const Index count : counts) {
    sizes.push_back(static_cast<int>(count));
    begins.push_back(begin);
    begin += sizes.back();
  }
  MPI_CHECK(MPI_Scatterv(all.data(), sizes.data(), begins.data(), row.get(), rows.data(),
                         static_cast<int>(own), row.get(), 0, world.communicator()));
  return rows;
}
//! [scatter]

/// Copies the given rows, one after another.
template <typename U>
std::vector<U> rows_of(const std::vector<U>& all, Index width,
                       std::span<const std::uint32_t> samples) {
  std::vector<U> rows;
  rows.reserve(samples.size() * static_cast<std::size_t>(width));
  for (const std::uint32_t sample : samples) {
    const auto begin = all.begin() + static_cast<Index>(sample) * width;
    rows.insert(rows.end(), begin, begin + width);
  }
  return rows;
}

/// Everything about a data set except its samples.
struct Outline {
  Shape sample;
  int classes = 0;
  Index samples = 0;
  bool has_pixels = false;
};

/// Rank 0's.
Outline outline_of_root(World& world, const Dataset& whole) {
  Outline outline = {.sample = whole.sample_shape(),
                     .classes = whole.classes(),
                     .samples = whole.size(),
                     .has_pixels = whole.pixels() != nullptr};
  world.broadcast(outline);
  return outline;
}

/// A data set of what `send` makes of rank 0's labels and features.
/// @param send called with the numbers, elsewhere than on rank 0 none, and how many a sample has.
template <typename Send>
Dataset dataset_of(const Outline& outline, const Dataset& whole, const Send& send) {
  std::vector<std::int32_t> labels = send(&whole.labels(), 1);
  const Index width = outline.sample.elements();
  if (outline.has_pixels) {
    return {outline.sample, outline.classes, send(whole.pixels(), width), std::move(labels)};
  }
  return {outline.sample, outline.classes, send(whole.values(), width), std::move(labels)};
}

}  // namespace

Dataset scatter(World& world, const Dataset& whole, std::span<const std::uint32_t> samples,
                std::span<const Index> counts) {
  const Outline outline = outline_of_root(world, whole);
  if (outline.samples > std::numeric_limits<int>::max()) {
    throw Error("a data set of " + count_of(outline.samples, "sample") +
                " is too large for messages of MPI; --data-from all lets every rank read its own");
  }
  return dataset_of(outline, whole, [&](const auto* from, Index width) {
    std::remove_cvref_t<decltype(*from)> all;
    if (world.rank() == 0) all = rows_of(*from, width, samples);
    return scatter_rows(world, all, width, counts);
  });
}

Dataset broadcast(World& world, const Dataset& whole) {
  const Outline outline = outline_of_root(world, whole);
  return dataset_of(outline, whole, [&](const auto* from, Index /*width*/) {
    std::remove_cvref_t<decltype(*from)> all;
    if (world.rank() == 0) all = *from;
    world.broadcast(all);
    return all;
  });
}

Dataset broadcast_outline(World& world, const Dataset& whole) {
  const Outline outline = outline_of_root(world, whole);
  return Dataset::outline(outline.sample, outline.classes, outline.samples);
}

}  // namespace stagewise::mpi
