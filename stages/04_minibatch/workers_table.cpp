#include "04_minibatch/workers_table.hpp"

#include <iterator>

namespace stagewise::minibatch {

template <typename T>
WorkersTable<T>::WorkersTable(Executor<T>& executor, std::vector<MeanParameter<T>> means,
                              const std::vector<WorkersPart<T>>& parts)
    : means_({std::ssize(means)}, executor.memory()),
      parts_({std::ssize(parts)}, executor.memory()) {
  Index blocks = 0;
  for (MeanParameter<T>& mean : means) {
    mean.first_block = blocks;
    blocks += blocks_for(mean.elements);
  }
  executor.copy_in(means_.data(), means.data(), means.size() * sizeof(means.front()));
  executor.copy_in(parts_.data(), parts.data(), parts.size() * sizeof(parts.front()));
  parameters_ = {.workers = static_cast<int>(parts.size() / means.size()),
                 .parameters = static_cast<int>(means.size()),
                 .blocks = blocks,
                 .mean = means_.data(),
                 .parts = parts_.data()};
}

template class WorkersTable<float>;
template class WorkersTable<double>;

}  // namespace stagewise::minibatch
