#include "check_mpi.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace exercise {

Messages messages;

int rank() {
  int number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  return number;
}

int ranks() {
  int count = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}

void pass_on_all(const std::string& what) {
  if (rank() == 0) pass(say("with ", several(ranks(), "rank"), ", ", what));
}

std::string who() {
  return say(current_case.empty() ? "R" : current_case + ", r", "ank ", rank(), " of ", ranks());
}

void expect_one_collective(const std::string& advice) {
  expect(messages.sent == 0, who(), " sends ", several(messages.sent, "message"),
         " by itself; a collective operation does all that is needed.");
  expect(messages.collectives == 1, who(), " takes part in ",
         several(messages.collectives, "collective operation"), "; one is enough", advice, ".");
}

namespace {

/// What the handlers of signals say; they must not allocate memory.
char too_late[600] = "";
char crashed[400] = "";

void write_and_exit(const char* sentence) {
  if (write(STDOUT_FILENO, sentence, std::strlen(sentence)) < 0) _exit(2);
  _exit(1);
}

double bytes_of(double count, MPI_Datatype type) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  return count * bytes;
}

/// The sum of all ranks' counts.
double total(const int counts[]) {
  double sum = 0;
  for (int i = 0; i < ranks(); ++i) sum += counts[i];
  return sum;
}

void note_sent(int count, MPI_Datatype type, int to) {
  if (to == MPI_PROC_NULL) return;
  messages.sent += 1;
  if (to != (rank() + 1) % ranks() && messages.elsewhere < 0) messages.elsewhere = to;
  messages.sent_bytes += bytes_of(count, type);
}

/// Notes a collective operation to which this rank gives some bytes, and gets some.
void note_collective(double given, double got) {
  messages.collectives += 1;
  messages.given_bytes += given;
  messages.got_bytes += got;
}

/// What a rank passes to an operation or gets from it, if it takes part in that.
double bytes_if(bool takes_part, double count, MPI_Datatype type) {
  return takes_part ? bytes_of(count, type) : 0;
}

/// Says what MPI refuses.
void explain_error(MPI_Comm* /*comm*/, int* error, ...) {
  int kind = 0;
  MPI_Error_class(*error, &kind);
  expect(kind != MPI_ERR_TRUNCATE, who(),
         " was sent more than it has asked for: sender and receiver disagree about how many "
         "numbers the message has.");
  char reason[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(*error, reason, &length);
  fail(who(), " calls a function of MPI with arguments that it refuses (", reason, ")",
       kind == MPI_ERR_RANK    ? say("; ranks are 0 to ", ranks() - 1, ".")
       : kind == MPI_ERR_COUNT ? "; has a count of elements become negative?"
                               : ".");
}

bool is_done = false;

/// Says that a rank has crashed, or ended itself.
void explain_crashes() {
  std::atexit([] {
    if (!is_done) fail(who(), " has ended the program; its caller is to decide what to do.");
  });
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) {
    std::signal(number, [](int reason) {
      if (write(STDOUT_FILENO, crashed, std::strlen(crashed)) < 0) _exit(2);
      write_and_exit(reason == SIGFPE ? "it has divided an integer by zero.\n"
                     : reason == SIGABRT
                         ? "it has used an index that its vector does not have, or a check of the "
                           "C++ library has failed otherwise.\n"
                         : "it has used memory that it does not have, such as what is behind the "
                           "end of a vector.\n");
    });
  }
}

}  // namespace

void begin_case(const std::string& what, const std::string& advice) {
  constexpr unsigned seconds = 5;
  current_case = what;
  messages = {};
  std::snprintf(too_late, sizeof too_late,
                "fail  %s, %s have not come to an end within %u seconds, so that one waits for "
                "what never comes: %s\n",
                what.c_str(), several(ranks(), "rank").c_str(), seconds, advice.c_str());
  std::snprintf(crashed, sizeof crashed, "fail  %s has crashed: ", who().c_str());
  std::signal(SIGALRM, [](int) { write_and_exit(too_late); });
  alarm(seconds);
}

}  // namespace exercise

// MPI lets a program put functions of its own before the library's, for profilers.

using namespace exercise;

extern "C" {
int MPI_Abort(MPI_Comm /*comm*/, int /*code*/) {
  fail("MPI_Abort() ends the program on rank ", rank(), " of ", ranks(),
       "; its caller is to decide what to do.");
}
int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  note_sent(count, type, to);
  return PMPI_Send(data, count, type, to, tag, comm);
}
int MPI_Ssend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  note_sent(count, type, to);
  return PMPI_Ssend(data, count, type, to, tag, comm);
}
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  note_sent(count, type, to);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}
int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* received,
                 int received_count, MPI_Datatype received_type, int from, int received_tag,
                 MPI_Comm comm, MPI_Status* status) {
  note_sent(count, type, to);
  return PMPI_Sendrecv(data, count, type, to, tag, received, received_count, received_type, from,
                       received_tag, comm, status);
}
int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int to, int tag, int from,
                         int received_tag, MPI_Comm comm, MPI_Status* status) {
  note_sent(count, type, to);
  return PMPI_Sendrecv_replace(data, count, type, to, tag, from, received_tag, comm, status);
}
int MPI_Allreduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  note_collective(bytes_of(count, type), bytes_of(count, type));
  return PMPI_Allreduce(data, result, count, type, op, comm);
}
int MPI_Iallreduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request) {
  note_collective(bytes_of(count, type), bytes_of(count, type));
  return PMPI_Iallreduce(data, result, count, type, op, comm, request);
}
int MPI_Reduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  note_collective(bytes_of(count, type), bytes_if(rank() == root, count, type));
  return PMPI_Reduce(data, result, count, type, op, root, comm);
}
int MPI_Reduce_scatter(const void* data, void* result, const int counts[], MPI_Datatype type,
                       MPI_Op op, MPI_Comm comm) {
  note_collective(bytes_of(total(counts), type), bytes_of(counts[rank()], type));
  return PMPI_Reduce_scatter(data, result, counts, type, op, comm);
}
int MPI_Reduce_scatter_block(const void* data, void* result, int count, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm) {
  const double bytes = bytes_of(count, type);
  note_collective(bytes * ranks(), bytes);
  return PMPI_Reduce_scatter_block(data, result, count, type, op, comm);
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const bool is_root = rank() == root;
  note_collective(bytes_if(is_root, count, type), bytes_if(!is_root, count, type));
  return PMPI_Bcast(data, count, type, root, comm);
}
int MPI_Scatter(const void* data, int count, MPI_Datatype type, void* received, int received_count,
                MPI_Datatype received_type, int root, MPI_Comm comm) {
  note_collective(ranks() * bytes_if(rank() == root, count, type),
                  bytes_if(received != MPI_IN_PLACE, received_count, received_type));
  return PMPI_Scatter(data, count, type, received, received_count, received_type, root, comm);
}
int MPI_Scatterv(const void* data, const int counts[], const int places[], MPI_Datatype type,
                 void* received, int received_count, MPI_Datatype received_type, int root,
                 MPI_Comm comm) {
  note_collective(rank() == root ? bytes_of(total(counts), type) : 0,
                  bytes_if(received != MPI_IN_PLACE, received_count, received_type));
  return PMPI_Scatterv(data, counts, places, type, received, received_count, received_type, root,
                       comm);
}
int MPI_Gather(const void* data, int count, MPI_Datatype type, void* received, int received_count,
               MPI_Datatype received_type, int root, MPI_Comm comm) {
  note_collective(bytes_if(data != MPI_IN_PLACE, count, type),
                  ranks() * bytes_if(rank() == root, received_count, received_type));
  return PMPI_Gather(data, count, type, received, received_count, received_type, root, comm);
}
int MPI_Gatherv(const void* data, int count, MPI_Datatype type, void* received, const int counts[],
                const int places[], MPI_Datatype received_type, int root, MPI_Comm comm) {
  note_collective(bytes_if(data != MPI_IN_PLACE, count, type),
                  rank() == root ? bytes_of(total(counts), received_type) : 0);
  return PMPI_Gatherv(data, count, type, received, counts, places, received_type, root, comm);
}
int MPI_Allgather(const void* data, int count, MPI_Datatype type, void* received,
                  int received_count, MPI_Datatype received_type, MPI_Comm comm) {
  const double bytes = bytes_of(received_count, received_type);
  note_collective(bytes, bytes * ranks());
  return PMPI_Allgather(data, count, type, received, received_count, received_type, comm);
}
int MPI_Allgatherv(const void* data, int count, MPI_Datatype type, void* received,
                   const int counts[], const int places[], MPI_Datatype received_type,
                   MPI_Comm comm) {
  note_collective(bytes_of(counts[rank()], received_type), bytes_of(total(counts), received_type));
  return PMPI_Allgatherv(data, count, type, received, counts, places, received_type, comm);
}
int MPI_Alltoall(const void* data, int count, MPI_Datatype type, void* received, int received_count,
                 MPI_Datatype received_type, MPI_Comm comm) {
  const double bytes = bytes_of(received_count, received_type) * ranks();
  note_collective(bytes, bytes);
  return PMPI_Alltoall(data, count, type, received, received_count, received_type, comm);
}
int MPI_Alltoallv(const void* data, const int counts[], const int places[], MPI_Datatype type,
                  void* received, const int received_counts[], const int received_places[],
                  MPI_Datatype received_type, MPI_Comm comm) {
  const double got = bytes_of(total(received_counts), received_type);
  note_collective(data == MPI_IN_PLACE ? got : bytes_of(total(counts), type), got);
  return PMPI_Alltoallv(data, counts, places, type, received, received_counts, received_places,
                        received_type, comm);
}
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(explain_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  explain_crashes();
  check();
  is_done = true;
  alarm(0);
  if (rank() == 0) std::puts("done");
  MPI_Finalize();
  return 0;
}
