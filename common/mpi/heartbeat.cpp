#include "mpi/heartbeat.hpp"

#include <cstdint>
#include <iostream>
#include <utility>
#include <vector>

#include "tensor/counts.hpp"

namespace stagewise::mpi {
namespace {

constexpr auto period = std::chrono::milliseconds(100);

/// The counter of a process that is not, or no longer, expected to count.
constexpr std::uint32_t silent = 0;

}  // namespace

Heartbeat::Heartbeat(World& world, std::chrono::seconds patience, std::function<void(int rank)> on_silence)
    : world_(world), thread_([this, patience, on_silence = std::move(on_silence)] { watch(patience, on_silence); }) {}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  change_.notify_all();
  thread_.join();
  world_.beats(world_.local_rank()).store(silent);
}

//! [watch]
void Heartbeat::watch(std::chrono::seconds patience, const std::function<void(int rank)>& on_silence) {
  struct Other {
    std::uint32_t last = silent;
    std::int64_t periods = 0;  ///< in which its counter has not changed
  };
  std::vector<Other> others(world_.local_ranks().size());
  std::uint32_t own = silent;
  std::unique_lock lock(mutex_);
  while (!change_.wait_for(lock, period, [&] { return ends_; })) {
    if (++own == silent) ++own;
    world_.beats(world_.local_rank()).store(own);
    for (std::size_t i = 0; i < others.size(); ++i) {
      const std::uint32_t beats = world_.beats(static_cast<int>(i)).load();
      Other& other = others[i];
      other.periods = beats == silent || beats != other.last ? 0 : other.periods + 1;
      other.last = beats;
      if (other.periods * period > patience) return on_silence(world_.local_ranks()[i]);
    }
  }
}
//! [watch]

std::shared_ptr<Heartbeat> make_heartbeat(World& world, const std::string& program, std::chrono::seconds patience) {
  return std::make_shared<Heartbeat>(world, patience, [&world, program, patience](int rank) {
    if (world.is_first_to_fail()) {
      std::cerr << program << ": rank " << rank << " has not run for " << count_of(patience.count(), "second")
                << ": it has been stopped, or its host is overloaded; --timeout says how long to "
                   "wait."
                << std::endl;
    }
    // Time for mpirun to read this; or, if another was first, for that one, which may have stopped.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    World::abort(1);
  });
}

}  // namespace stagewise::mpi
