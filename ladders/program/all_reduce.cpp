// The subcommand all-reduce.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>

#include "05_mpi/transport/peer.hpp"
#include "cli/text.hpp"
#include "ladders/program/commands.hpp"
#include "ladders/program/ring.hpp"
#include "ladders/program/runner.hpp"
#include "mpi/check.hpp"
#include "mpi/devices.hpp"
#include "tensor/counts.hpp"

namespace stagewise::ladder {
namespace {

/// The sizes of messages that are measured, unless one is given: the sums of a small network's
/// outputs, of its gradients, and what lies between them.
std::vector<Index> sizes_of(const AllReduceOptions& options) {
  if (options.bytes > 0) return {options.bytes};
  if (cuda::runs_on_cpu()) return {1024, 33'792};
  return {1024, 33'792, 65'536, 524'288, 6'400'000};
}

/// A way to add up.
struct Rung {
  Row row;
  std::function<void()> enqueue;
  bool is_recorded = false;  ///< whether it only enqueues work, so that it is measured in a graph
};

/// A message of one size on this rank, and the ways to add it up.
template <typename T>
class Message {
 public:
  Message(const AllReduceOptions& options, mpi::World& world, const mpi::Placement& placement, Index count)
      : options_(options),
        world_(world),
        placement_(placement),
        count_(count),
        inputs_(random_inputs()),
        expected_(inputs_.begin(), inputs_.end()),
        host_(mpi::make_transport<T>("host", world)),
        ring_(world, count) {
    copy_in(stream_, inputs_, x_);
    world.all_reduce(expected_.data(), count);  // exact, in any order
    host_->reserve(count);
    if (has_peers()) {
      peers_ = std::make_unique<mpi::PeerTransport<T>>(world, mpi::default_patience);
      y_ = peers_->memory_for(std::vector<Index>{count}).front();
    }
    if (mpi::reason_against("nccl", placement).empty()) {
      nccl_ = mpi::make_transport<T>("nccl", world);
    }
  }

  /// The rungs of the ladder, those that need more than there is with the reason.
  std::vector<Rung> rungs() {
    const std::string reason = mpi::reason_against("peer", placement_);
    const auto rung_of = [&](const char* name, const char* file, const char* idea, std::function<void()> enqueue) {
      return Rung{{.name = name, .file = file, .idea = idea, .bytes = bytes()}, std::move(enqueue)};
    };
    const auto by_kernels = [&](const char* name, const char* file, const char* idea, std::function<void()> enqueue) {
      Rung rung = rung_of(name, file, idea, std::move(enqueue));
      rung.row.skipped = reason;
      rung.is_recorded = true;
      return rung;
    };
    return {rung_of("host", "stages/05_mpi/transport/by_mpi.hpp", "MPI_Allreduce in the hosts' memory",
                    [this] { add_up(*host_); }),
            rung_of("ring", "ladders/program/ring.hpp", "in a ring, with MPI_Sendrecv",
                    [this] { ring_.add_up(stream_, y_); }),
            by_kernels("one-shot", "stages/05_mpi/all_reduce/1_one_shot.cu", "flagged words to every GPU",
                       [this] {
                         peers_->one_shot(stream_, {y_, count_});
                       }),
            by_kernels("two-shot", "stages/05_mpi/all_reduce/2_two_shot.cu", "each GPU adds up a shard", [this] {
              peers_->two_shot(stream_, {y_, count_});
            })};
  }

  /// NCCL, if it can be used here.
  std::optional<Rung> reference() {
    if (nccl_ == nullptr) return std::nullopt;
    return Rung{{.name = "NCCL", .bytes = bytes()}, [this] { add_up(*nccl_); }, true};
  }

  /// Runs, verifies and measures, on all ranks.
  void run(Row& row, const Rung& rung) {
    verify(row, rung);
    if (!row.wrong.empty() || options_.repetitions == 0) return;
    row.seconds = measure(rung);
    verify(row, rung);
  }

 private:
  double bytes() const { return sizeof(T) * static_cast<double>(count_); }

  bool has_peers() const { return mpi::reason_against("peer", placement_).empty(); }

  std::vector<T> random_inputs() const {
    Random random(options_.seed + 1000 * static_cast<std::uint64_t>(world_.rank()));
    return random_whole_numbers<T>(count_, random);
  }

  void add_up(mpi::Transport<T>& transport) {
    const mpi::Piece<T> piece = {y_, count_};
    transport.begin({&piece, 1}, stream_);
    transport.finish();
  }

  /// Adds up once, and says what is wrong on any rank.
  void verify(Row& row, const Rung& rung) {
    copy_over(stream_, count_, x_.data(), y_);
    rung.enqueue();
    note_difference(row, copy_out(stream_, y_, count_), expected_, 1, count_);
    const std::vector<std::string> all = world_.gather_all(row.wrong);
    for (std::size_t rank = all.size(); rank-- > 0;) {
      if (!all[rank].empty()) row.wrong = "on rank " + std::to_string(rank) + ", " + all[rank];
    }
  }

  //! [measure]
  /// The median of what the slowest rank takes for a sum. All ranks must do the same, so rank 0
  /// decides how often.
  double measure(const Rung& rung) {
    constexpr double wanted_seconds = 2e-3;
    constexpr double most = 500;
    double once = seconds_of([&] { rung.enqueue(); });
    world_.broadcast(once);
    const auto sums = cuda::runs_on_cpu() ? 1 : static_cast<int>(std::clamp(wanted_seconds / once, 1.0, most));
    const auto enqueue_all = [&] {
      for (int i = 0; i < sums; ++i) rung.enqueue();
    };
    std::optional<cuda::ExecutableGraph> graph;
    if (rung.is_recorded) graph.emplace(stream_, enqueue_all);
    const auto work = [&] { graph ? graph->launch(stream_) : enqueue_all(); };
    constexpr int warm_ups = 3;
    for (int i = 0; i < warm_ups && !cuda::runs_on_cpu(); ++i) seconds_of(work);
    std::vector<double> seconds;
    for (Index i = 0; i < options_.repetitions; ++i) seconds.push_back(seconds_of(work) / sums);
    return median(seconds);
  }

  double seconds_of(const std::function<void()>& work) {
    stream_.synchronize();
    MPI_CHECK(MPI_Barrier(world_.communicator()));
    start_.record(stream_);
    work();
    end_.record(stream_);
    stream_.synchronize();
    const std::vector<double> all = world_.gather_all(end_.seconds_since(start_));
    return *std::max_element(all.begin(), all.end());
  }
  //! [measure]

  const AllReduceOptions& options_;
  mpi::World& world_;
  const mpi::Placement& placement_;
  Index count_;
  cuda::Stream stream_;
  cuda::TimedEvent start_;
  cuda::TimedEvent end_;
  std::vector<T> inputs_;
  std::vector<double> expected_;
  Tensor<T> x_ = on_device<T>(count_);
  Tensor<T> own_ = on_device<T>(count_);
  T* y_ = own_.data();  ///< what is added up, in memory of all ranks if there is some
  std::unique_ptr<mpi::Transport<T>> host_;
  std::unique_ptr<mpi::Transport<T>> nccl_;
  std::unique_ptr<mpi::PeerTransport<T>> peers_;
  Ring<T> ring_;
};

/// @throws Error if the only rung that was asked for cannot be used.
template <typename T>
Table run_size(const AllReduceOptions& options, mpi::World& world, const mpi::Placement& placement, Index bytes) {
  Message<T> message(options, world, placement, bytes / static_cast<Index>(sizeof(T)));
  std::vector<Rung> rungs = message.rungs();
  const bool all = options.rung == "all";
  std::erase_if(rungs, [&](const Rung& rung) { return !all && rung.row.name != options.rung; });
  Table table{with_thousands(bytes) + " B", "NCCL", {}, {}};
  for (const Rung& rung : rungs) table.rows.push_back(rung.row);
  if (!all && !table.rows.front().skipped.empty()) {
    throw Error("the rung " + options.rung + " cannot be used here: " + table.rows.front().skipped);
  }
  if (const std::optional<Rung> nccl = message.reference()) {
    table.reference = nccl->row;
    message.run(*table.reference, *nccl);
  }
  TablePrinter printer(std::cout, table, measured_in(options.repetitions, false));
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    Row& row = table.rows[i];
    if (row.skipped.empty()) message.run(row, rungs[i]);
    printer.print(row);
  }
  if (table.reference) printer.print(*table.reference);
  return table;
}

template <typename T>
std::vector<Table> run_sizes(const AllReduceOptions& options, mpi::World& world) {
  const std::vector<Index> sizes = sizes_of(options);
  if (sizes.front() % static_cast<Index>(sizeof(T)) != 0) {
    throw UsageError("--bytes " + std::to_string(sizes.front()) + " is no multiple of the " +
                     std::to_string(sizeof(T)) + " bytes of a " + options.precision);
  }
  const mpi::Placement placement = mpi::choose_device(world);
  const auto largest = static_cast<double>(*std::max_element(sizes.begin(), sizes.end()));
  // The inboxes take a few megabytes besides.
  check_memory("a message of " + with_prefix(largest, "B"), 3 * largest, 6 * largest);
  print_header(std::cout, cuda::describe_device(), cuda::runs_on_cpu(),
               {{"ranks", mpi::describe(world, placement)},
                {"sum", "of a message from each rank, in place on each GPU, " + options.precision},
                {"check",
                 "equal to the exact sum on every rank; inputs are random whole numbers, whose "
                 "sums are exact in any order"}});
  std::vector<Table> tables;
  for (const Index bytes : sizes) tables.push_back(run_size<T>(options, world, placement, bytes));
  return tables;
}

}  // namespace

Results run(const AllReduceOptions& options, mpi::World& world) {
  if (world.size() == 1) {
    throw UsageError("all-reduce is for several processes, and there is but one: start them with mpirun -n");
  }
  return {"all-reduce",
          {{"ranks", world.size()}},
          options.precision == "double" ? run_sizes<double>(options, world) : run_sizes<float>(options, world)};
}

}  // namespace stagewise::ladder
