#include "05_mpi/distribute.hpp"

#include <algorithm>

#include "network/rewriter.hpp"

namespace stagewise::mpi {
namespace {

//! [fuse_updates]
/// Fuses a sum with the updates by all of its values, if each has one.
void fuse_sum(Rewriter& rewriter, std::size_t i) {
  const auto* const sum = rewriter.get<AllReduce>(i);
  if (sum == nullptr || sum->divides || sum->among != Group::data) return;
  AllReduceUpdate fused;
  std::vector<std::size_t> members = {i};
  for (const ValueId gradient : sum->values) {
    const auto line = rewriter.reader_of<SgdUpdate>(gradient);
    if (!line) return;
    const SgdUpdate& update = *rewriter.get<SgdUpdate>(*line);
    fused.gradients.emplace_back(gradient);
    fused.parameters.push_back(update.parameter);
    fused.learning_rate = update.learning_rate;
    fused.l2 = std::max(fused.l2, update.l2);  // that of the weights: a bias has none
    members.push_back(*line);
  }
  rewriter.fuse(members, fused);
}
//! [fuse_updates]

}  // namespace

Program fuse_sums_with_updates(const Program& program) {
  Rewriter rewriter(program);
  for (std::size_t i = 0; i < rewriter.size(); ++i) fuse_sum(rewriter, i);
  return rewriter.finish();
}

TensorPrograms distribute(const Model& model, const Sgd& sgd, Average average,
                          const Distribution& among) {
  TensorPrograms programs =
      among.network.count > 1
          ? distribute_tensor(model, sgd, among.network, among.samples, among.overlaps)
          : TensorPrograms{distribute_data(model, sgd, average, among.samples, among.overlaps)};
  Program& step = programs.step.training.step;
  if (among.sums_update) step = fuse_sums_with_updates(step);
  return programs;
}

}  // namespace stagewise::mpi
