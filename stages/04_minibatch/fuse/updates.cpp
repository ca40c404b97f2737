#include "04_minibatch/fuse/patterns.hpp"

namespace stagewise::minibatch {

void fuse_updates(Fusion& fusion) {
  Rewriter& rewriter = fusion.rewriter;
  UpdateBySum all;
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < rewriter.size(); ++i) {
    const auto* const update = rewriter.get<SgdUpdate>(i);
    if (update == nullptr || fusion.value(update->parameter).part.count > 1) continue;
    const auto writer = rewriter.writer_of(update->gradient);
    const Sum* const sum = writer ? rewriter.get<Sum>(*writer) : nullptr;
    const std::vector<Reads<Real>> terms =
        sum != nullptr ? sum->terms : std::vector{update->gradient};
    // The kernel adds up the same number of gradients for each parameter.
    if (!all.parameters.empty() && terms.size() * all.parameters.size() != all.gradients.size()) {
      continue;
    }
    if (sum != nullptr) members.push_back(*writer);
    members.push_back(i);
    all.gradients.insert(all.gradients.end(), terms.begin(), terms.end());
    all.parameters.push_back(update->parameter);
    all.learning_rate = update->learning_rate;
    all.l2 = std::max(all.l2, update->l2);
  }
  if (!members.empty()) rewriter.fuse(members, all);
}

void fuse_averages(Fusion& fusion) {
  AverageWeights all;
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < fusion.rewriter.size(); ++i) {
    if (const auto* const mean = fusion.rewriter.get<Mean>(i)) {
      for (const Reads<Real>& term : mean->terms) all.workers.emplace_back(term);
      all.means.emplace_back(mean->mean);
      members.push_back(i);
    } else if (fusion.rewriter.get<Copy>(i) != nullptr) {
      all.is_taken_over = true;
      members.push_back(i);
    }
  }
  if (!all.means.empty()) fusion.rewriter.fuse(members, all);
}

}  // namespace stagewise::minibatch
