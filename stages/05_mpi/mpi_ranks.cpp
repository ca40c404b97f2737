#include "05_mpi/mpi_ranks.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "05_mpi/scatter.hpp"
#include "network/shard.hpp"
#include "tensor/digest.hpp"
#include "tensor/error.hpp"

namespace stagewise::mpi {
namespace {

void add(const Dataset& dataset, Digest& digest) {
  digest.add(static_cast<std::uint64_t>(dataset.sample_shape().elements()));
  digest.add(static_cast<std::uint64_t>(dataset.classes()));
  digest.add_all(dataset.labels());
  if (dataset.pixels() != nullptr) digest.add_all(*dataset.pixels());
  if (dataset.values() != nullptr) digest.add_all(*dataset.values());
}

}  // namespace

//! [expect_same]
void MpiRanks::expect_same(const std::string& what, std::uint64_t digest) {
  const std::vector<std::uint64_t> all = world_->gather_all(digest);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all.front()) continue;
    throw Error(what + " that rank " + std::to_string(rank) +
                " has read is another than that of rank 0");
  }
}
//! [expect_same]

void MpiRanks::agree_on(const std::string& name, std::initializer_list<Dataset*> parts) {
  if (data_from_ == DataFrom::all) {
    Digest digest;
    for (const Dataset* const part : parts) add(*part, digest);
    expect_same("the data set " + name, digest.value());
    return;
  }
  for (Dataset* const part : parts) {
    const Dataset outline = broadcast_outline(*world_, *part);
    if (!reads()) *part = outline;
  }
}

Split MpiRanks::load_for_training(const DatasetOptions& options) {
  Split split;
  if (reads()) split = Ranks::load_for_training(options);
  agree_on(options.name, {&split.train, &split.validation, &split.test});
  return split;
}

Dataset MpiRanks::load_for_evaluation(const DatasetOptions& options,
                                      const std::optional<TableEncoding>& encoding) {
  Dataset whole;
  if (reads()) whole = Ranks::load_for_evaluation(options, encoding);
  agree_on(options.name, {&whole});
  return whole;
}

const Dataset& MpiRanks::shard(const Dataset& whole, Dataset& storage) {
  if (count() == 1 || whole.size() == 0) return whole;
  if (data_from_ == DataFrom::all) {
    const Shard own = shard_of(whole.size(), count(), rank());
    storage = whole.slice(own.first, own.rows);
    return storage;
  }
  std::vector<Index> counts;
  for (int rank = 0; rank < count(); ++rank) {
    counts.push_back(shard_of(whole.size(), count(), rank).rows);
  }
  std::vector<std::uint32_t> samples;
  if (rank() == 0) {
    samples.resize(static_cast<std::size_t>(whole.size()));
    std::iota(samples.begin(), samples.end(), 0U);
  }
  storage = scatter(*world_, whole, samples, counts);
  return storage;
}

//! [sum]
Sums MpiRanks::sum(const Sums& own) {
  Sums all;
  rank_of_bad_step_ = -1;
  const std::vector<Sums> ranks = world_->gather_all(own);
  for (std::size_t i = 0; i < ranks.size(); ++i) {  // in this order everywhere: the same bits
    const Totals& totals = ranks[i].totals;
    all.samples += ranks[i].samples;
    all.totals.loss += totals.loss;
    all.totals.correct += totals.correct;
    const std::int64_t bad = totals.first_bad_step;
    if (bad < 0 || (all.totals.first_bad_step >= 0 && all.totals.first_bad_step <= bad)) continue;
    all.totals.first_bad_step = bad;
    rank_of_bad_step_ = static_cast<int>(i);
  }
  return all;
}
//! [sum]

std::vector<double> MpiRanks::gather(const std::vector<double>& own) {
  std::string bytes(own.size() * sizeof(double), '\0');
  std::copy_n(std::as_bytes(std::span(own)).begin(), bytes.size(),
              std::as_writable_bytes(std::span(bytes)).begin());
  std::vector<double> all;
  for (const std::string& part : world_->gather_all(bytes)) {
    std::vector<double> values(part.size() / sizeof(double));
    std::copy_n(std::as_bytes(std::span(part)).begin(), part.size(),
                std::as_writable_bytes(std::span(values)).begin());
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

double MpiRanks::largest(double own) {
  const std::vector<double> all = world_->gather_all(own);
  return *std::max_element(all.begin(), all.end());
}

}  // namespace stagewise::mpi
