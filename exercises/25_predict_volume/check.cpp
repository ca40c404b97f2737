#include "check.hpp"

#include <algorithm>
#include <deque>

#include EXERCISE_FILE

namespace exercise {
namespace {

constexpr int p = 4;
constexpr int widths[] = {784, 256, 10};

/// Four ranks in one process, whose messages are counted.
struct Network {
  std::deque<std::vector<float>> on_their_way[p][p];
  long messages[p] = {};
  long bytes[p] = {};

  void send(int from, int to, const float* begin, long count) {
    on_their_way[from][to].emplace_back(begin, begin + count);
    messages[from] += 1;
    bytes[from] += count * static_cast<long>(sizeof(float));
  }
  std::vector<float> receive(int from, int to) {
    std::vector<float> message = std::move(on_their_way[from][to].front());
    on_their_way[from][to].pop_front();
    return message;
  }
};

using Gradients = std::vector<std::vector<float>>;

/// The gradients of the ranks: as many numbers as the layers have weights and biases.
Gradients gradients() {
  std::vector<std::vector<float>> layers;
  for (int i = 0; i + 1 < static_cast<int>(std::size(widths)); ++i) {
    layers.emplace_back(widths[i] * widths[i + 1]);
    layers.emplace_back(widths[i + 1]);
  }
  std::size_t size = 0;
  for (const std::vector<float>& layer : layers) size += layer.size();
  Gradients result;
  for (int r = 0; r < p; ++r) result.push_back(numbers(size, 1 + r));
  return result;
}

void all_reduce_in_ring(Network& network, Gradients& data) {
  for (std::vector<float>& one : data) one.resize((one.size() + p - 1) / p * p);
  const long size = static_cast<long>(data[0].size()) / p;
  const auto chunk = [&](int r, int number) { return &data[r][(number + 2 * p) % p * size]; };
  for (int step = 0; step < p - 1; ++step) {
    for (int r = 0; r < p; ++r) network.send(r, (r + 1) % p, chunk(r, r - step), size);
    for (int r = 0; r < p; ++r) {
      const std::vector<float> part = network.receive((r + p - 1) % p, r);
      for (long i = 0; i < size; ++i) chunk(r, r - step - 1)[i] += part[i];
    }
  }
  for (int step = 0; step < p - 1; ++step) {
    for (int r = 0; r < p; ++r) network.send(r, (r + 1) % p, chunk(r, r + 1 - step), size);
    for (int r = 0; r < p; ++r) {
      const std::vector<float> part = network.receive((r + p - 1) % p, r);
      std::copy(part.begin(), part.end(), chunk(r, r - step));
    }
  }
}

void all_reduce_at_root(Network& network, Gradients& data) {
  const long size = static_cast<long>(data[0].size());
  for (int r = 1; r < p; ++r) {
    network.send(r, 0, data[r].data(), size);
    const std::vector<float> part = network.receive(r, 0);
    for (long i = 0; i < size; ++i) data[0][i] += part[i];
  }
  for (int r = 1; r < p; ++r) {
    network.send(0, r, data[0].data(), size);
    data[r] = network.receive(0, r);
  }
}

}  // namespace

void check() {
  Gradients sum = gradients();
  const long parameters = static_cast<long>(sum[0].size());
  Network ring;
  all_reduce_in_ring(ring, sum);
  Gradients other_sum = gradients();
  Network star;
  all_reduce_at_root(star, other_sum);
  for (int r = 0; r < p; ++r) {
    sum[r].resize(parameters);
    expect_equal(sum[r], other_sum[0], "The check is wrong");
    expect(ring.bytes[r] == ring.bytes[0] && ring.messages[r] == ring.messages[0],
           "The check is wrong: the ranks of the ring do not send the same.");
  }

  expect_predicted("parameters", ::parameters, parameters,
                   "each layer has a weight for each pair of an input and an output, and a bias "
                   "for each output.");
  pass("the number of parameters");
  expect_predicted("ring_messages", ::ring_messages, ring.messages[0],
                   "a rank of the ring sends one message in each step, and both rounds have p - 1 "
                   "steps.");
  expect_predicted("ring_bytes", ::ring_bytes, ring.bytes[0],
                   "each message of the ring is one chunk, a p-th of the gradient that has been "
                   "filled up to a multiple of 4 numbers.");
  pass("what a rank of the ring sends");
  expect_predicted(
      "root_messages", ::root_messages, star.messages[0],
      "rank 0 sends one message to each of the others; what it receives, others send.");
  expect_predicted("root_bytes", ::root_bytes, star.bytes[0],
                   "each message of rank 0 is the whole sum, as large as a gradient.");
  expect_predicted("other_bytes", ::other_bytes, star.bytes[1],
                   "each of the other ranks sends its whole gradient once.");
  pass("what is sent if rank 0 does the sum");
}

}  // namespace exercise
