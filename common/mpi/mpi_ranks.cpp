#include "mpi/mpi_ranks.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "network/shard.hpp"
#include "tensor/counts.hpp"
#include "tensor/digest.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise::mpi {

DataFrom data_from(const std::string& name) {
  if (name == "root") return DataFrom::root;
  return name == "all" ? DataFrom::all : DataFrom::automatic;
}

namespace {

void add(const Dataset& dataset, Digest& digest) {
  digest.add(static_cast<std::uint64_t>(dataset.sample_shape().elements()));
  digest.add(static_cast<std::uint64_t>(dataset.classes()));
  digest.add_all(dataset.labels());
  if (dataset.pixels() != nullptr) digest.add_all(*dataset.pixels());
  if (dataset.values() != nullptr) digest.add_all(*dataset.values());
}

template <typename U>
std::uint64_t bytes_of(const std::vector<U>& values) {
  return values.size() * sizeof(U);
}

/// In the form in which it is stored: one byte per pixel.
std::uint64_t bytes_of(const Dataset& dataset) {
  return bytes_of(dataset.labels()) +
         (dataset.pixels() != nullptr ? bytes_of(*dataset.pixels()) : bytes_of(*dataset.values()));
}

/// What is sent at once: small enough for progress to show.
constexpr std::size_t piece_bytes = std::size_t{1} << 24;

//! [broadcast]
/// Sends numbers from the first of these ranks to the others, where it returns them.
/// @param on_piece called with the bytes of each piece that has been sent.
template <typename U, typename OnPiece>
std::vector<U> broadcast(Communicator& ranks, const std::vector<U>& of_first, const OnPiece& on_piece) {
  std::uint64_t count = of_first.size();
  ranks.broadcast(count);
  std::vector<U> received;
  std::vector<U> piece;
  if (ranks.rank() > 0) received.reserve(count);
  for (std::uint64_t first = 0; first < count; first += piece.size()) {
    if (ranks.rank() == 0) {
      const std::span rest = std::span(of_first).subspan(first);
      const std::span next = rest.first(std::min(rest.size(), piece_bytes / sizeof(U)));
      piece.assign(next.begin(), next.end());
    }
    ranks.broadcast(piece);
    if (ranks.rank() > 0) received.insert(received.end(), piece.begin(), piece.end());
    on_piece(bytes_of(piece));
  }
  return received;
}

/// Sends a data set from the first of these ranks to the others, where it returns it.
template <typename OnPiece>
Dataset broadcast(Communicator& ranks, const Dataset& of_first, const OnPiece& on_piece) {
  struct Outline {
    Shape sample;
    int classes;
    bool has_pixels;
  } outline = {of_first.sample_shape(), of_first.classes(), of_first.pixels() != nullptr};
  ranks.broadcast(outline);
  std::vector<std::int32_t> labels = broadcast(ranks, of_first.labels(), on_piece);
  const auto make = [&]<typename U>(const std::vector<U>* own) {
    const std::vector<U> none;
    std::vector<U> features = broadcast(ranks, own != nullptr ? *own : none, on_piece);
    if (ranks.rank() == 0) return Dataset();
    return Dataset(outline.sample, outline.classes, std::move(features), std::move(labels));
  };
  return outline.has_pixels ? make(of_first.pixels()) : make(of_first.values());
}
//! [broadcast]

}  // namespace

//! [expect_same]
void MpiRanks::expect_same(const std::string& what, std::uint64_t digest) {
  const std::vector<std::uint64_t> all = world_->gather_all(digest);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all.front()) continue;
    throw Error(what + " that rank " + std::to_string(rank) + " has read is another than that of rank 0");
  }
}
//! [expect_same]

//! [load]
void MpiRanks::load(const std::string& name, const std::function<void()>& read, std::initializer_list<Dataset*> parts) {
  if (count() == 1) return read();
  std::string why_not;  // this rank has not read the data set
  if (rank() > 0 && data_from_ == DataFrom::root) {
    why_not = "it is not to read them";
  } else if (rank() > 0 && data_from_ == DataFrom::automatic) {
    try {
      read();
    } catch (const Error& error) {
      why_not = error.what();
    }
  } else {
    read();
  }
  const std::vector<std::string> reasons = world_->gather_all(why_not);
  const auto first =
      std::find_if(reasons.begin(), reasons.end(), [](const std::string& reason) { return !reason.empty(); });
  what_was_sent_.clear();
  if (first != reasons.end()) {
    const bool takes_part = rank() == 0 || !why_not.empty();
    const std::unique_ptr<Communicator> group = world_->split(takes_part ? 0 : 1);
    std::uint64_t bytes = 0;
    std::uint64_t sent = 0;
    for (const Dataset* const part : parts) bytes += rank() == 0 ? bytes_of(*part) : 0;
    const auto on_piece = [&](std::uint64_t of_piece) {
      sent += of_piece;
      if (rank() == 0 && on_sending_) on_sending_(sent, bytes);
    };
    for (Dataset* const part : parts) {
      if (!takes_part) continue;
      Dataset received = broadcast(*group, *part, on_piece);
      if (rank() > 0) *part = std::move(received);
    }
    what_was_sent_ =
        size_text(bytes) + " of samples from rank 0 to " +
        count_of(std::ssize(reasons) - std::count(reasons.begin(), reasons.end(), ""), "rank") +
        (data_from_ == DataFrom::root ? ""
                                      : "; rank " + std::to_string(first - reasons.begin()) + ": " + escaped(*first));
  }
  Digest digest;
  for (const Dataset* const part : parts) add(*part, digest);
  expect_same("the data set " + name, digest.value());
}
//! [load]

Split MpiRanks::load_for_training(const DatasetOptions& options) {
  Split split;
  load(options.name, [&] { split = Ranks::load_for_training(options); },
       {&split.train, &split.validation, &split.test});
  return split;
}

Dataset MpiRanks::load_for_evaluation(const DatasetOptions& options, const std::optional<TableEncoding>& encoding) {
  Dataset whole;
  load(options.name, [&] { whole = Ranks::load_for_evaluation(options, encoding); }, {&whole});
  return whole;
}

const Dataset& MpiRanks::shard(const Dataset& whole, Dataset& storage) {
  if (count() == 1 || whole.size() == 0) return whole;
  const Shard own = shard_of(whole.size(), count(), rank());
  storage = whole.slice(own.first, own.rows);
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
  std::vector<double> all;
  for (int rank = 0; rank < count(); ++rank) {
    std::vector<double> of_rank = own;
    world_->broadcast(of_rank, rank);
    all.insert(all.end(), of_rank.begin(), of_rank.end());
  }
  return all;
}

double MpiRanks::largest(double own) {
  const std::vector<double> all = world_->gather_all(own);
  return *std::max_element(all.begin(), all.end());
}

}  // namespace stagewise::mpi
