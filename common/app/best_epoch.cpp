#include "app/best_epoch.hpp"

#include "app/text.hpp"
#include "app/values.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

constexpr auto epoch_name = "best-epoch";
constexpr auto loss_name = "best-validation-loss";
constexpr auto accuracy_name = "best-validation-accuracy";

}  // namespace

bool BestEpoch::is_beaten_by(const EpochReport& report) const {
  if (*report.validation_accuracy != accuracy) return *report.validation_accuracy > accuracy;
  return *report.validation_loss < loss;
}

void add_best(const BestEpoch& best, std::map<std::string, std::string>& settings) {
  settings[epoch_name] = std::to_string(best.epoch);
  settings[loss_name] = shortest(best.loss);
  settings[accuracy_name] = shortest(best.accuracy);
}

std::optional<BestEpoch> read_best(const Checkpoint& checkpoint,
                                   const std::filesystem::path& file) {
  if (!checkpoint.settings.contains(epoch_name)) return std::nullopt;
  const auto stored = [&](const char* name) {
    const auto found = checkpoint.settings.find(name);
    return found == checkpoint.settings.end() ? "" : found->second;
  };
  try {
    return BestEpoch{parse_count(stored(epoch_name), 1, checkpoint.epoch),
                     parse_real(stored(loss_name), true), parse_real(stored(accuracy_name), true)};
  } catch (const UsageError& error) {
    throw Error("the checkpoint " + file.string() + " is of no use: of its best epoch, " +
                error.what());
  }
}

}  // namespace stagewise
