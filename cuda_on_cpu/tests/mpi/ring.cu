/// @file
/// Several processes, each with a GPU, in a ring: each computes on its own GPU, and then reads what
/// its neighbour has computed straight from the neighbour's memory (IPC).
///
/// Run it: `STAGEWISE_CPU_DEVICES=2 mpirun -n 4 test_mpi_ring`. Exit code 0: everything was right.

#include <cstdio>
#include <vector>

#include <cuda_runtime.h>
#include <mpi.h>

namespace {

/// An odd number of elements, so that no block is full.
constexpr int elements = 10'007;

/// Ends the whole job: the other ranks would wait for ever.
void check(bool good, const char* what, int rank) {
  if (good) return;
  std::fprintf(stderr, "rank %d: %s: %s\n", rank, what, cudaGetErrorString(cudaPeekAtLastError()));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

__global__ void fill(int n, int rank, int* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1000 * rank + i;
}

__global__ void add(int n, const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int next = (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  const auto good = [&](cudaError_t status, const char* what) {
    check(status == cudaSuccess, what, rank);
  };

  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    if (rank == 0) std::printf("Skipped: no GPU can be used here.\n");
    MPI_Finalize();
    return 0;
  }
  const int device = rank % devices;
  good(cudaSetDevice(device), "choosing the device");

  // Compute on the own device.
  const int blocks = (elements + 255) / 256;
  int* mine = nullptr;
  int* sum = nullptr;
  good(cudaMalloc(&mine, elements * sizeof(int)), "allocating");
  good(cudaMalloc(&sum, elements * sizeof(int)), "allocating");
  fill<<<blocks, 256>>>(elements, rank, mine);
  fill<<<blocks, 256>>>(elements, 0, sum);
  good(cudaDeviceSynchronize(), "computing");

  // Tell the one before in the ring where it is, and look at the memory of the next.
  cudaIpcMemHandle_t handle;
  cudaIpcMemHandle_t handle_of_next;
  good(cudaIpcGetMemHandle(&handle, mine), "making a handle");
  MPI_Sendrecv(&handle, sizeof(handle), MPI_BYTE, before, 0, &handle_of_next,
               sizeof(handle_of_next), MPI_BYTE, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::vector<int> result(elements);
  if (ranks > 1) {
    void* theirs = nullptr;
    good(cudaIpcOpenMemHandle(&theirs, handle_of_next, cudaIpcMemLazyEnablePeerAccess),
         "opening the neighbour's memory");
    add<<<blocks, 256>>>(elements, static_cast<const int*>(theirs), sum);
    good(cudaMemcpy(result.data(), sum, elements * sizeof(int), cudaMemcpyDeviceToHost),
         "reading the sum");
    for (int i = 0; i < elements; ++i) {
      check(result[i] == i + 1000 * next + i, "the sum with the neighbour's numbers is wrong",
            rank);
    }

    // What one process writes, the other sees.
    MPI_Barrier(MPI_COMM_WORLD);
    good(cudaMemset(theirs, 0, elements * sizeof(int)), "writing to the neighbour's memory");
    good(cudaDeviceSynchronize(), "writing to the neighbour's memory");
    MPI_Barrier(MPI_COMM_WORLD);
    good(cudaMemcpy(result.data(), mine, elements * sizeof(int), cudaMemcpyDeviceToHost),
         "reading what the neighbour wrote");
    for (const int value : result) check(value == 0, "the neighbour's zeros did not arrive", rank);
    good(cudaIpcCloseMemHandle(theirs), "closing the neighbour's memory");
    MPI_Barrier(MPI_COMM_WORLD);  // nobody frees what another still has open
  }

  // Between the devices of one process.
  const int other = (device + 1) % devices;
  int can = 0;
  if (other != device) good(cudaDeviceCanAccessPeer(&can, device, other), "asking for peer access");
  if (can != 0) {
    good(cudaSetDevice(other), "choosing the other device");
    int* there = nullptr;
    good(cudaMalloc(&there, elements * sizeof(int)), "allocating on the other device");
    fill<<<blocks, 256>>>(elements, 7, there);
    good(cudaDeviceSynchronize(), "computing on the other device");
    good(cudaSetDevice(device), "choosing the device again");
    good(cudaDeviceEnablePeerAccess(other, 0), "enabling peer access");
    good(cudaMemcpyPeer(mine, device, there, other, elements * sizeof(int)), "copying from there");
    good(cudaMemcpy(result.data(), mine, elements * sizeof(int), cudaMemcpyDeviceToHost),
         "reading");
    for (int i = 0; i < elements; ++i) {
      check(result[i] == 7000 + i, "the copy from the other device is wrong", rank);
    }
    good(cudaFree(there), "freeing on the other device");
  }

  good(cudaFree(mine), "freeing");
  good(cudaFree(sum), "freeing");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::printf("processes: %d, devices of each: %d, all right\n", ranks, devices);
  MPI_Finalize();
  return 0;
}
