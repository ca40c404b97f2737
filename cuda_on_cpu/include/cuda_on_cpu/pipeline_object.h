/// @file
/// Behind <cuda/pipeline>: a thread's own pipeline, and one that the threads of a group share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "cuda_on_cpu/barrier_object.h"

namespace cuda {

/// Not a class of CUDA's: a stage has a barrier for what is produced and one for what is consumed.
template <thread_scope scope>
struct PipelineStage {
  barrier<scope> produced;
  barrier<scope> consumed;
};

/// What the threads of a group share.
template <thread_scope scope, ::std::uint8_t stages>
class pipeline_shared_state {
 public:
  pipeline_shared_state() = default;
  pipeline_shared_state(const pipeline_shared_state&) = delete;
  pipeline_shared_state& operator=(const pipeline_shared_state&) = delete;

  /// Not a member of CUDA's.
  PipelineStage<scope> stage[stages];
};

/// Stages of copies: they are produced, then consumed, in turn.
template <thread_scope scope>
class pipeline {
 public:
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  /// Waits for a stage that has been consumed.
  void producer_acquire(CUDA_ON_CPU_HERE) {
    if (stages_ == nullptr || acquired_ < count_) return;
    stages_[acquired_ % count_].consumed.wait_parity(acquired_ / count_ % 2 == 0, place);
  }
  void producer_commit() {
    if (stages_ == nullptr) {
      cuda_on_cpu::commit_async_copies();
    } else {
      (void)stages_[acquired_ % count_].produced.arrive();
    }
    ++acquired_;
  }
  /// Waits for the oldest stage that has not been released.
  void consumer_wait(CUDA_ON_CPU_HERE) {
    if (stages_ == nullptr) {
      const ::std::size_t later = acquired_ - released_ - (acquired_ > released_ ? 1 : 0);
      cuda_on_cpu::finish_async_copies(later);
    } else {
      stages_[released_ % count_].produced.wait_parity(released_ / count_ % 2 != 0, place);
    }
  }
  void consumer_release() {
    if (stages_ != nullptr) (void)stages_[released_ % count_].consumed.arrive();
    ++released_;
  }
  /// The calling thread takes no part any more.
  bool quit() { return true; }

  /// Not functions of CUDA's.
  pipeline() = default;
  pipeline(PipelineStage<scope>* stages, ::std::size_t count) : stages_(stages), count_(count) {}
  barrier<scope>* next_barrier() { return stages_ == nullptr ? nullptr : &stages_[acquired_ % count_].produced; }

 private:
  PipelineStage<scope>* stages_ = nullptr;
  ::std::size_t count_ = 0;
  ::std::size_t acquired_ = 0;  ///< stages that this thread has produced
  ::std::size_t released_ = 0;  ///< stages that it has consumed
};

/// A thread's own.
inline pipeline<thread_scope_thread> make_pipeline() { return {}; }
/// All threads of the group produce and consume.
template <class Group, thread_scope scope, ::std::uint8_t stages>
pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state) {
  const auto threads = static_cast<unsigned>(group.size());
  if (group.thread_rank() == 0) {
    for (auto& stage : state->stage) {
      init(&stage.produced, threads);
      init(&stage.consumed, threads);
    }
  }
  group.sync();
  return {state->stage, stages};
}
/// One thread's copy, in the stage that it produces.
template <thread_scope scope>
void memcpy_async(void* to, const void* from, ::std::size_t bytes, pipeline<scope>& pipeline, CUDA_ON_CPU_HERE) {
  if (pipeline.next_barrier() != nullptr) {
    memcpy_async(to, from, bytes, *pipeline.next_barrier());
  } else {
    cuda_on_cpu::begin_any_copy(to, from, bytes, place);
  }
}
/// The copy of a group, of which each thread calls this.
template <class Group, thread_scope scope>
void memcpy_async(const Group& group, void* to, const void* from, ::std::size_t bytes, pipeline<scope>& pipeline,
                  CUDA_ON_CPU_HERE) {
  if (pipeline.next_barrier() != nullptr) {
    memcpy_async(group, to, from, bytes, *pipeline.next_barrier());
  } else {
    cuda_on_cpu::begin_group_copy(group, to, from, bytes, place);
  }
}

}  // namespace cuda
