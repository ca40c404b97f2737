#include "mpi/world.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string_view>
#include <thread>

#include "mpi/check.hpp"
#include "tensor/error.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::mpi {
namespace {

/// Counts are ints in MPI: what is larger goes in pieces of this many bytes.
constexpr std::size_t max_bytes = std::size_t{1} << 30;

/// What suits Open MPI where it does not know, unless the user has said something else.
void advise_open_mpi() {
  const char* const ranks = std::getenv("OMPI_COMM_WORLD_SIZE");
  const char* const local_ranks = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (ranks == nullptr || local_ranks == nullptr) return;
  // It waits busily, which takes the processor from ranks that still compute where there is less
  // than one for each of a rank's two threads. Then it is to yield between two looks.
  const bool are_few = 2 * std::strtoul(local_ranks, nullptr, 10) > std::thread::hardware_concurrency();
  if (are_few) ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  // Within a host, messages go through memory. Open MPI 5 looks for a network all the same, and
  // complains where there is none, as in a container. The others are what Debian leaves out, since
  // looking for their hardware takes a second.
  if (std::string_view(ranks) == local_ranks) ::setenv("OMPI_MCA_btl", "^tcp,uct,openib,ofi", 0);
}

}  // namespace

Communicator::~Communicator() {
  if (all_ != MPI_COMM_WORLD) MPI_Comm_free(&all_);
}

std::unique_ptr<Communicator> Communicator::split(int color) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_CHECK(MPI_Comm_split(all_, color, rank_, &part));
  std::unique_ptr<Communicator> result(new Communicator);  // its constructor is not public
  result->take(part);
  return result;
}

int Communicator::rank_in_world(int rank) const {
  MPI_Group these = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_CHECK(MPI_Comm_group(all_, &these));
  MPI_CHECK(MPI_Comm_group(MPI_COMM_WORLD, &all));
  int found = -1;
  MPI_CHECK(MPI_Group_translate_ranks(these, 1, &rank, all, &found));
  MPI_CHECK(MPI_Group_free(&these));
  MPI_CHECK(MPI_Group_free(&all));
  return found;
}

void Communicator::take(MPI_Comm of) {
  all_ = of;
  MPI_CHECK(MPI_Comm_rank(all_, &rank_));
  MPI_CHECK(MPI_Comm_size(all_, &size_));
}

World::World(int& argc, char**& argv) {
  // Alone, there is nobody to coordinate with: spares the helper process that Open MPI starts.
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr && std::getenv("PMIX_RANK") == nullptr &&
      std::getenv("PMI_RANK") == nullptr) {
    ::setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  }
  advise_open_mpi();
  // Open MPI may crash where it gets no memory.
  if (!can_be_had(std::size_t{256} << 20U)) {
    throw Error("the host has too little memory for MPI, which ulimit -v may limit");
  }
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS || provided < MPI_THREAD_FUNNELED) {
    throw Error("MPI cannot begin, or not in a program of several threads");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  take(MPI_COMM_WORLD);
  MPI_CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank(), MPI_INFO_NULL, &local_));
  MPI_CHECK(MPI_Comm_rank(local_, &local_rank_));
  share_memory();
  const std::vector<int> local_ranks = gather_all(local_rank_);
  hosts_ = static_cast<int>(std::count(local_ranks.begin(), local_ranks.end(), 0));
}

World::~World() {
  if (shared_ != MPI_WIN_NULL) {
    MPI_Win_unlock_all(shared_);
    MPI_Win_free(&shared_);
  }
  MPI_Comm_free(&local_);
  MPI_Finalize();
}

void World::share_memory() {
  int count = 0;
  MPI_CHECK(MPI_Comm_size(local_, &count));
  local_ranks_.resize(static_cast<std::size_t>(count));
  const int own = rank();
  MPI_CHECK(MPI_Allgather(&own, 1, MPI_INT, local_ranks_.data(), 1, MPI_INT, local_));
  const std::size_t words = local_rank_ == 0 ? 1 + local_ranks_.size() : 0;
  const auto bytes = static_cast<MPI_Aint>(words * sizeof(std::uint32_t));
  void* of_own = nullptr;
  if (MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, local_, &of_own, &shared_) != MPI_SUCCESS) {
    throw Error(
        "the processes on this host cannot share memory, for which MPI makes files in /dev/shm; if "
        "it is full (see df -h /dev/shm), remove files there, or make it larger, as docker run "
        "--shm-size 1g does");
  }
  MPI_Aint size = 0;
  int unit = 0;
  void* of_first = nullptr;
  MPI_CHECK(MPI_Win_shared_query(shared_, 0, &size, &unit, static_cast<void*>(&of_first)));
  shared_words_ = static_cast<std::uint32_t*>(of_first);
  // Memory of another process may only be accessed within an epoch: this one lasts as long as the
  // window. All later accesses are atomic, and need no MPI.
  MPI_CHECK(MPI_Win_lock_all(MPI_MODE_NOCHECK, shared_));
  if (local_rank_ == 0) std::fill_n(shared_words_, words, 0U);
  MPI_CHECK(MPI_Win_sync(shared_));
  MPI_CHECK(MPI_Barrier(local_));
  MPI_CHECK(MPI_Win_sync(shared_));
}

bool World::is_first_to_fail() const { return std::atomic_ref<std::uint32_t>(*shared_words_).exchange(1) == 0; }

// With MPI_THREAD_FUNNELED, threads other than the main one may not call MPI_Abort(). There, the
// process just exits, without MPI_Finalize(): mpirun, and srun with --kill-on-bad-exit, take that
// for a failure and end the others.
void World::abort(int exit_code) {
  int is_main_thread = 0;
  MPI_Is_thread_main(&is_main_thread);
  if (is_main_thread != 0) MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

std::vector<std::string> Communicator::gather_all(const std::string& own) {
  const std::vector<int> sizes = gather_all(static_cast<int>(own.size()));
  std::vector<int> begins(sizes.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), 0);
  std::string all(static_cast<std::size_t>(begins.back() + sizes.back()), '\0');
  MPI_CHECK(MPI_Allgatherv(own.data(), sizes[static_cast<std::size_t>(rank_)], MPI_CHAR, all.data(), sizes.data(),
                           begins.data(), MPI_CHAR, all_));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    texts.push_back(all.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(sizes[i])));
  }
  return texts;
}

void World::wait_patiently() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_CHECK(MPI_Ibarrier(communicator(), &request));
  for (int is_done = 0; is_done == 0;) {
    MPI_CHECK(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE));
    if (is_done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

template <typename T>
void Communicator::all_reduce(T* values, std::int64_t count) {
  constexpr std::int64_t most = 1 << 30;  // MPI's counts are ints
  for (std::int64_t first = 0; first < count; first += most) {
    MPI_CHECK(MPI_Allreduce(MPI_IN_PLACE, values + first, static_cast<int>(std::min(most, count - first)), type_of<T>(),
                            MPI_SUM, all_));
  }
}

template void Communicator::all_reduce(float*, std::int64_t);
template void Communicator::all_reduce(double*, std::int64_t);

void Communicator::gather_all_bytes(const void* own, std::size_t bytes, void* all) {
  MPI_CHECK(MPI_Allgather(own, static_cast<int>(bytes), MPI_BYTE, all, static_cast<int>(bytes), MPI_BYTE, all_));
}

void Communicator::broadcast_bytes(void* data, std::size_t bytes, int from) {
  auto* place = static_cast<char*>(data);
  for (std::size_t left = bytes; left > 0;) {
    const std::size_t piece = std::min(left, max_bytes);
    MPI_CHECK(MPI_Bcast(place, static_cast<int>(piece), MPI_BYTE, from, all_));
    place += piece;
    left -= piece;
  }
}

std::string describe_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string whole(text.data(), static_cast<std::size_t>(length));
  int version = 0;
  int subversion = 0;
  MPI_Get_version(&version, &subversion);
  return whole.substr(0, whole.find_first_of(",\n")) + ", MPI " + std::to_string(version) + "." +
         std::to_string(subversion);
}

}  // namespace stagewise::mpi
