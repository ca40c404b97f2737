#include "04_minibatch/recorded_step.hpp"

#include <algorithm>
#include <bit>

#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "cuda/memory.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "training/parameters.hpp"

namespace stagewise {
namespace {

/// A recording has at most so many steps.
constexpr Index max_recorded_steps = 32;

/// And where steps are large, about so many samples: enough that launching it costs little beside
/// what it does. CUDA on the CPU takes seconds for so many, and how far it is is only known between
/// recordings.
Index max_recorded_samples() {
  return cuda::runs_on_cpu() ? 4'096 : 65'536;
}

/// If batches are streamed, at least so many steps are recorded together: then nearly all batches
/// arrive during the step before.
constexpr Index min_streamed_steps = 8;

}  // namespace

StepPrograms step_programs(const Model& model, const std::vector<ValueId>& copies,
                           const Part& part) {
  const auto own = [&](ValueId id) { return copies.empty() ? id : pick(copies, id); };
  return {.features = model.features,
          .labels = model.labels,
          .order = own(model.order),
          .batch = own(model.batch),
          .batch_labels = own(model.batch_labels),
          .part = part};
}

template <typename T>
RecordedStep<T>::RecordedStep(const StepSetup<T>& setup, MinibatchExecutor<T>& executor,
                              Index samples, const StepPrograms& programs, const Starts& starts,
                              const RecordedStepOptions& options)
    : setup_(setup),
      executor_(&executor),
      options_(options),
      programs_(programs),
      cursor_({1}, cuda::device_memory()),
      start_({1}, cuda::pinned_memory()),
      rates_(executor, programs.training.optimizer,
             (samples + setup.max_rows - 1) / setup.max_rows),
      chunk_rates_({max_recorded_steps}, cuda::device_memory()),
      progress_({1}, cuda::pinned_memory()) {
  if (options.records && options.repeats) {
    max_steps_ = std::clamp<Index>(max_recorded_samples() / setup.max_rows, 1, max_recorded_steps);
  }
  load(programs.training);
  copy_state_in(executor, programs_.training);
  if (setup.workers.average == Average::weights) {
    start_workers(setup.network, programs_.training, starts);
    executor.execute(programs_.training.mean, {.rows = setup.max_rows});
  } else if (!starts.empty()) {
    copy_parameters_in(setup.network, starts.front(), "the start");
  }
  const bool exchanges = std::ranges::any_of(
      programs_.training.step.lines, [](const Line& line) { return is_exchange(line.operation); });
  if (exchanges && !executor.can_be_recorded()) options_.records = false;
  if (options_.records) record_all(samples);
}

template <typename T>
RecordedStep<T>::~RecordedStep() {
  if (executor_->has_failed()) {  // the device waits for what will not come
    for (auto& [key, recording] : recordings_) recording.abandon();
    static_cast<void>(host_data_.release());  // it would wait, too
    return;
  }
  cudaStreamSynchronize(stream().get());  // what fails here was reported elsewhere
  for (const ValueId id : {programs_.batch, programs_.batch_labels, programs_.features,
                           programs_.labels, programs_.order}) {
    executor_->bind(id, nullptr);
  }
  rates_.use(nullptr);
}

template <typename T>
Program RecordedStep<T>::rewritten(const Program& program, bool streams) const {
  const Program gathering =
      streams ? minibatch::without_gather(program, programs_.batch, programs_.batch_labels)
              : program;
  return minibatch::assign_lanes(minibatch::fuse<T>(gathering, setup_.max_rows, options_.fuse));
}

/// Loads the programs, with the data set on the device if there is room for it.
template <typename T>
void RecordedStep<T>::load(const TrainingPrograms& given) {
  TrainingPrograms& own = programs_.training;
  own.step = rewritten(given.step, options_.streams_batches);
  try {
    executor_->load(own.step, setup_.max_rows, setup_.on_size);
  } catch (const Error& error) {  // too little memory, and what needs less of it
    if (setup_.workers.workers == 1 || programs_.part.count > 1) throw;
    throw Error(std::string(error.what()) + ", and so do fewer --workers");
  }
  if (!options_.streams_batches && has_room()) {
    data_ = std::make_unique<ResidentData<T>>(setup_.training_set);
    executor_->bind(programs_.features, data_->features());
    executor_->bind(programs_.labels, data_->labels());
  } else {
    max_steps_ = std::max(max_steps_, min_streamed_steps);
    own.step = rewritten(given.step, true);
    executor_->load(own.step, setup_.max_rows);
    host_data_ = std::make_unique<minibatch::HostData<T>>(setup_.training_set,
                                                          setup_.training_set.all_samples(),
                                                          own_rows(setup_.max_rows), stream());
  }
  epoch_ = std::make_unique<EpochOrder>(setup_.training_set.size(),
                                        max_steps_ * own_rows(setup_.max_rows));
  for (Program* const average : {&own.mean, &own.take_over}) {  // which have the same values
    *average = rewritten(*average, false);
    executor_->load(*average, setup_.max_rows);
  }
}

template <typename T>
bool RecordedStep<T>::has_room() {
  // Evaluation takes two batches and its values; the rest is the allocator's.
  const Index batches = 2 * setup_.max_rows * setup_.training_set.sample_shape().elements();
  const double evaluation = executor_->missing_bytes(setup_.network.evaluation, setup_.max_rows);
  const std::size_t needed =
      ResidentData<T>::bytes(setup_.training_set) +
      EpochOrder::bytes(setup_.training_set.size(), max_steps_ * own_rows(setup_.max_rows));
  const std::size_t wanted = needed + needed / 64 + static_cast<std::size_t>(batches) * sizeof(T) +
                             static_cast<std::size_t>(evaluation);
  const std::size_t free =  // the other processes want theirs
      cuda::device_memory().room().bytes / static_cast<std::size_t>(options_.processes);
  if (wanted <= free) return true;
  notes_.push_back(size_text(wanted) + " are needed to keep the data, " + size_text(free) +
                   " are free: batches are streamed");
  return false;
}

template <typename T>
void RecordedStep<T>::begin_epoch(std::span<const std::uint32_t> order) {
  order_ = order;
  taken_ = 0;
  pending_ = {};
  epoch_->begin_epoch(order);
  const auto copy = [&](auto* to, const auto* from) {  // which the steps wait for, not the host
    CUDA_CHECK(cudaMemcpyAsync(to, from, sizeof(*from), cudaMemcpyHostToDevice, stream().get()));
  };
  *start_.data() = {.cursor = {.first = epoch_->first()}, .totals = {}};
  copy(cursor_.data(), &start_.data()->cursor);
  for (const ValueId id : programs_.training.totals) {
    copy(executor_->template data<Totals>(id), &start_.data()->totals);
  }
  rates_.begin_epoch(setup_.steps_done);
  *progress_.data() = 0;
}

//! [run]
template <typename T>
void RecordedStep<T>::run(Index first, Index rows) {
  if (rows != pending_.rows) launch_pending();
  last_ = {.first = first, .rows = rows};
  pending_.rows = rows;
  taken_ += own_rows(rows);
  ++pending_.steps;
  const bool are_averaged =
      setup_.workers.average == Average::weights &&
      (setup_.steps_done + pending_.steps) % setup_.workers.average_every == 0;
  if (pending_.steps == max_steps_ || are_averaged) launch_pending();
  if (are_averaged) executor_->execute(programs_.training.take_over, last_);
}

template <typename T>
void RecordedStep<T>::launch_pending() {
  while (pending_.steps > 0) {
    Recording part = pending_;
    if (options_.records && options_.repeats) {
      if (!recordings_.contains(part)) {
        part.steps = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(part.steps)));
      }
      recordings_.at(part).launch(stream());
    } else {
      enqueue(part);
    }
    pending_.steps -= part.steps;
    setup_.steps_done += part.steps;
  }
}
//! [run]

//! [record]
template <typename T>
void RecordedStep<T>::record_all(Index samples) {
  const Index full_steps = samples / setup_.max_rows;
  const Index rest = samples % setup_.max_rows;
  const auto record = [&](const Recording& what) {
    recordings_.try_emplace(what, stream(), [&] { enqueue(what); });
  };
  if (full_steps >= max_steps_) record({setup_.max_rows, max_steps_});
  if (full_steps % max_steps_ > 0) record({setup_.max_rows, full_steps % max_steps_});
  // Any other number of steps is put together from powers of two.
  for (Index steps = 1; steps <= std::min(max_steps_, full_steps); steps *= 2) {
    record({setup_.max_rows, steps});
  }
  if (rest > 0) record({rest, 1});
}
//! [record]

//! [enqueue]
template <typename T>
void RecordedStep<T>::enqueue(const Recording& what) {
  const cuda::Range range("step");
  minibatch::Cursor* const cursor = cursor_.data();
  const Index rows = own_rows(what.rows);
  executor_->count_steps_from(&cursor->chunk_step);
  executor_->run_timed("take_chunk  order -> samples of the next steps", [&] {
    minibatch::take_chunk(stream().get(), epoch_->orders(), cursor, what.steps, rows,
                          epoch_->chunk(), progress_.data(), rates_.data(), chunk_rates_.data());
  });
  const auto execute = [&](Index step) {
    rates_.use(chunk_rates_.data() + step);
    executor_->execute(programs_.training.step, {.rows = what.rows, .step = step + 1});
  };
  if (host_data_ != nullptr) {
    host_data_->for_each_batch(epoch_->chunk(), rows, what.steps, [&](Index step, auto batch) {
      executor_->bind(programs_.batch, batch.features);
      executor_->bind(programs_.batch_labels, batch.labels);
      execute(step);
    });
    return;
  }
  executor_->read_from_device();
  for (Index step = 0; step < what.steps; ++step) {
    executor_->bind(programs_.order, epoch_->chunk() + step * rows);
    execute(step);
  }
}
//! [enqueue]

template <typename T>
Index RecordedStep<T>::samples_done(Index asked) const {
  const std::int64_t steps = *static_cast<const volatile std::int64_t*>(progress_.data());
  return std::min<Index>(asked, steps * setup_.max_rows);
}

template <typename T>
bool RecordedStep<T>::is_done() {
  launch_pending();
  executor_->check();
  return stream().is_done();
}

template <typename T>
Totals RecordedStep<T>::totals() {
  launch_pending();
  return totals_of(*executor_, programs_.training.totals);
}

template <typename T>
void RecordedStep<T>::end_epoch() {
  launch_pending();
  executor_->execute(programs_.training.mean, last_);
}

template <typename T>
Samples RecordedStep<T>::last_batch() const {
  const Index rows = own_rows(last_.rows);
  return {&setup_.training_set,
          order_.subspan(static_cast<std::size_t>(taken_ - rows), static_cast<std::size_t>(rows))};
}

template <typename T>
std::vector<std::vector<ParameterValues>> RecordedStep<T>::worker_parameters() const {
  std::vector<std::vector<ParameterValues>> all;
  for (const std::vector<ValueId>& own : programs_.training.workers) {
    all.push_back(copy_parameters_out(setup_.network, own));
  }
  return all;
}

template class RecordedStep<float>;
template class RecordedStep<double>;

}  // namespace stagewise
