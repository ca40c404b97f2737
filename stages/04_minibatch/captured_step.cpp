#include "04_minibatch/captured_step.hpp"

#include <algorithm>
#include <bit>

#include "cuda/check.hpp"
#include "cuda/memory.hpp"
#include "cuda/range.hpp"
#include "tensor/counts.hpp"

namespace stagewise {
namespace {

/// A recording has at most so many steps, and about so many samples where steps are large: enough
/// that launching it costs little beside what it does.
constexpr Index most_recorded_steps = 32;
constexpr Index most_recorded_samples = 16'384;

}  // namespace

template <typename T>
CapturedStep<T>::CapturedStep(Network<T>& network, MinibatchBackend<T>& backend,
                              const ModelOptions& model, const Dataset& training_set,
                              const Sgd& sgd, const WorkerOptions& workers,
                              const std::vector<std::vector<ParameterValues>>& starts,
                              std::int64_t steps_done, const CapturedStepOptions& options,
                              GradientExchange<T>* exchange)
    : network_(&network),
      backend_(&backend),
      training_set_(&training_set),
      worker_options_(workers),
      options_(options),
      samples_(options.samples > 0 ? options.samples : training_set.size()),
      workers_(network, backend, model, sgd, workers, starts, options.fuses, exchange),
      cursor_(backend.template allocate<minibatch::Cursor>({1})),
      progress_({1}, cuda::pinned_memory()),
      steps_done_(steps_done) {
  const Index rows = network.graph.max_rows();
  if (options.captures && options.repeats) {
    most_steps_ = std::clamp<Index>(most_recorded_samples / rows, 1, most_recorded_steps);
    most_steps_ = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(most_steps_)));
  }
  decide_on_residence(options.streams_batches);
  if (feeder_ != nullptr) most_steps_ = 1;  // each batch has to arrive first
  selects_ = data_ != nullptr && options.gather != GatherForm::kernel && workers_.selects_rows();
  if (data_ != nullptr && !selects_) {
    batch_ = backend.template allocate<T>(network.input->value_shape(rows));
    batch_labels_ = backend.template allocate<std::int32_t>({rows});
  }
  if (options.captures) record_all();
}

template <typename T>
CapturedStep<T>::~CapturedStep() {
  cudaStreamSynchronize(stream().get());  // what fails here was reported elsewhere
  network_->input->use_own();
}

template <typename T>
void CapturedStep<T>::decide_on_residence(bool streams_batches) {
  if (!streams_batches) {
    // What gathers takes a batch, and evaluation two; the rest is the allocator's.
    const Index rows = network_->graph.max_rows();
    const Index evaluated = options_.evaluated_rows > 0 ? options_.evaluated_rows : rows;
    const std::size_t others =
        static_cast<std::size_t>(network_->input->value_shape(rows + 2 * evaluated).elements()) *
        sizeof(T);
    const std::size_t needed = ResidentData<T>::bytes(*training_set_, most_steps_ * rows);
    std::size_t free = 0;
    std::size_t total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    free /= static_cast<std::size_t>(options_.processes);  // the others want theirs
    const std::size_t wanted = needed + others + needed / 64;
    if (wanted <= free) {
      data_ = std::make_unique<ResidentData<T>>(*training_set_, most_steps_ * rows);
      return;
    }
    notes_.push_back(size_text(wanted) + " are needed to keep the data, " + size_text(free) +
                     " are free: batches are streamed");
  }
  feeder_ = std::make_unique<StreamedFeeder<T>>(*network_, *backend_, *training_set_);
}

//! [begin_epoch]
template <typename T>
void CapturedStep<T>::begin_epoch(std::span<const std::uint32_t> order) {
  order_ = order;
  pending_ = {};
  if (data_ != nullptr) data_->begin_epoch(stream().get(), order);
  const minibatch::Cursor beginning;
  backend_->copy_in(cursor_.data(), &beginning, sizeof(beginning));
  workers_.reset_totals();
  *progress_.data() = 0;
}
//! [begin_epoch]

//! [run]
template <typename T>
void CapturedStep<T>::run(Index first, Index rows) {
  if (rows != pending_.rows) launch_pending();
  last_rows_ = rows;
  pending_.rows = rows;
  if (feeder_ != nullptr) {
    pending_.place = feeder_->bring(
        order_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows)));
  }
  ++pending_.steps;
  const bool are_averaged = worker_options_.average == Average::weights &&
                            (steps_done_ + pending_.steps) % worker_options_.average_every == 0;
  if (pending_.steps == most_steps_ || are_averaged) launch_pending();
  if (are_averaged) workers_.average_weights(true);
}

template <typename T>
void CapturedStep<T>::launch_pending() {
  while (pending_.steps > 0) {
    Recording part = pending_;  // recordings come in powers of two
    part.steps = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(pending_.steps)));
    launch(part);
    pending_.steps -= part.steps;
    steps_done_ += part.steps;
  }
}

template <typename T>
void CapturedStep<T>::reload() {
  if (data_ == nullptr) return;
  stream().synchronize();  // steps that still read the old ones
  data_->load(*training_set_);
}

template <typename T>
void CapturedStep<T>::launch(const Recording& what) {
  if (options_.captures && options_.repeats) {
    recordings_.at(what.key()).launch(stream());
  } else {
    enqueue(what);
  }
}
//! [run]

//! [record]
template <typename T>
void CapturedStep<T>::record_all() {
  const Index full = network_->graph.max_rows();
  const Index full_steps = samples_ / full;
  const Index rest = samples_ % full;
  const auto record = [&](const Recording& what) {
    recordings_.try_emplace(what.key(), stream(), [&] { enqueue(what); });
  };
  for (int place = 0; place < (feeder_ != nullptr ? 2 : 1); ++place) {
    for (Index steps = 1; steps <= std::min(most_steps_, full_steps); steps *= 2) {
      record({full, steps, place});
    }
    if (rest > 0) record({rest, 1, place});
  }
}
//! [record]

//! [enqueue]
template <typename T>
void CapturedStep<T>::enqueue(const Recording& what) {
  const cuda::Range range("step");
  Graph<T>& graph = network_->graph;
  minibatch::Cursor* const cursor = cursor_.data();
  const auto gather = [&](const auto& work) { run_timed(graph, gather_, work); };
  if (feeder_ != nullptr) {
    gather([&] {  // the batch has been brought; the cursor counts the step
      minibatch::take_chunk(stream().get(), nullptr, cursor, 1, 0, nullptr, progress_.data());
    });
    workers_.enqueue_step({.features = feeder_->features(what.place),
                           .labels = feeder_->labels(what.place),
                           .rows = what.rows},
                          &cursor->chunk_step, 1);
    return;
  }
  gather(
      [&] { data_->take_chunk(stream().get(), cursor, what.steps, what.rows, progress_.data()); });
  for (Index step = 0; step < what.steps; ++step) {
    const std::uint32_t* const order = data_->chunk() + step * what.rows;
    DeviceBatch<T> batch = {data_->features(), data_->labels(), {order}, what.rows};
    if (!selects_) {
      gather([&] {
        data_->gather(stream().get(), order, what.rows, batch_.data(), batch_labels_.data());
      });
      batch = {.features = batch_.data(), .labels = batch_labels_.data(), .rows = what.rows};
    }
    workers_.enqueue_step(batch, &cursor->chunk_step, step + 1);
  }
}
//! [enqueue]

template <typename T>
Index CapturedStep<T>::samples_done(Index asked) const {
  const std::int64_t steps = *static_cast<const volatile std::int64_t*>(progress_.data());
  return std::min<Index>(asked, steps * network_->graph.max_rows());
}

template <typename T>
bool CapturedStep<T>::is_done() {
  launch_pending();
  return stream().is_done();
}

template <typename T>
Totals CapturedStep<T>::totals() {
  launch_pending();
  return workers_.totals();
}

template <typename T>
void CapturedStep<T>::end_epoch() {
  launch_pending();
  if (worker_options_.average == Average::weights) workers_.average_weights(false);
  network_->input->use_own();
  const std::span<const std::uint32_t> batch = order_.last(static_cast<std::size_t>(last_rows_));
  if (data_ == nullptr) return PlainFeeder<T>(*network_, *training_set_).feed(batch);
  network_->graph.set_rows(last_rows_);
  data_->gather(stream().get(), data_->order() + (std::ssize(order_) - last_rows_), last_rows_,
                network_->input->value(), network_->labels.data());
}

template <typename T>
std::vector<std::vector<ParameterValues>> CapturedStep<T>::worker_parameters() const {
  return workers_.parameters();
}

template <typename T>
std::vector<Timing> CapturedStep<T>::timings() const {
  if (network_->graph.timings().empty()) return {};
  std::vector<Timing> rows = {gather_};
  for (const Timing& timing : workers_.timings()) {
    if (timing.calls > 0) rows.push_back(timing);
  }
  return rows;
}

template class CapturedStep<float>;
template class CapturedStep<double>;

}  // namespace stagewise
