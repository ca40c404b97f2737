#include "05_mpi/distribute.hpp"

namespace stagewise::mpi {

//! [distribute]
TensorPrograms distribute(const Model& model, const Sgd& sgd, Average average,
                          const Distribution& among) {
  TensorPrograms programs =
      among.network.count > 1
          ? distribute_tensor(model, sgd, among.network, among.samples, among.overlaps)
          : TensorPrograms{
                .step = distribute_data(model, sgd, average, among.samples, among.overlaps),
                .parameters = {}};
  Program& step = programs.step.training.step;
  if (among.sums_update) step = fuse_sums_with_updates(step);
  return programs;
}
//! [distribute]

}  // namespace stagewise::mpi
