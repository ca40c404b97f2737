#include "05_mpi/strategy.hpp"

#include <algorithm>

#include "tensor/counts.hpp"

namespace stagewise::mpi {

bool has_strategy(const StageOptions& values, const std::string& name) {
  return values.at("strategy") == name;
}

bool is_split(const StageOptions& values) {
  return has_strategy(values, "tensor") || has_strategy(values, "hybrid");
}

//! [strategy]
void choose_strategy(StageOptions& values, const ModelOptions& model, const WorkerOptions& workers,
                     Index batch_size, int processes) {
  if (!has_strategy(values, "auto")) return;
  const bool asks_for_data = workers.workers > 1 || workers.average == Average::weights ||
                             values.at("overlap") != "auto" || values.at("gather") != "auto";
  bool splits = model.name == "mlp" && !model.hidden.empty() && processes > 1 && !asks_for_data;
  for (std::size_t k = 0; k < model.hidden.size(); k += 2) {  // the layers that would be split
    splits = splits && model.hidden[k] >= std::max<Index>(batch_size, processes);
  }
  values["strategy"] = splits ? "tensor" : "data";
}
//! [strategy]

int tensor_ranks_of(const StageOptions& values, int processes) {
  if (has_strategy(values, "hybrid")) return std::stoi(values.at("tensor-ranks"));
  return has_strategy(values, "tensor") ? processes : 1;
}

std::string describe_strategy(const StageOptions& values, int processes) {
  std::string text = "strategy " + values.at("strategy");
  if (has_strategy(values, "hybrid")) {
    text += " with " + count_of(tensor_ranks_of(values, processes), "rank") + " to a network";
  }
  return text;
}

}  // namespace stagewise::mpi
