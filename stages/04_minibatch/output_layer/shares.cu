/// @file
/// Shares of a last layer's gradients, where no other kernel adds them up (shares.cuh).
///
/// Work: the shares are read once.

#include "03_shared_memory/dependent_launch.cuh"
#include "04_minibatch/output_layer/shares.cuh"
#include "cuda/launch.cuh"

namespace stagewise::minibatch {
namespace {

constexpr int threads = 256;

template <typename T>
__global__ void add_shares_kernel(SharesProblem<T> p) {
  shared_memory::wait_and_let_next_start();
  add_up_shares<threads>(p, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
}

}  // namespace

template <typename T>
void add_shares(cudaStream_t stream, const SharesProblem<T>& p) {
  const Index blocks =
      std::min<Index>(cuda::pieces(shares_length(p.in, p.out), 64), cuda::multiprocessors());
  shared_memory::launch<shared_memory::Start::early, add_shares_kernel<T>>(
      "add_shares", {static_cast<unsigned>(blocks), threads}, stream, p);
}

template void add_shares(cudaStream_t, const SharesProblem<float>&);
template void add_shares(cudaStream_t, const SharesProblem<double>&);

}  // namespace stagewise::minibatch
