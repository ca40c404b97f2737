#include "io/data_sets/load.hpp"

#include <algorithm>
#include <utility>

#include "data/dataset.hpp"
#include "io/data_sets/catalog.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "tensor/option_error.hpp"

namespace stagewise {
namespace {

Limit limit_for(Subset subset, const DatasetOptions& options) {
  const bool training = subset == Subset::training;
  return {training ? options.train_limit : options.test_limit, training ? "train-limit" : "test-limit",
          training ? "training sample" : "test sample", options.name};
}

/// What a file has to be said about it.
std::vector<std::string> notes_on(const SingleFile& all) {
  std::vector<std::string> notes;
  if (!all.note.empty()) notes.push_back(all.note);
  std::vector<bool> is_used(static_cast<std::size_t>(all.dataset.classes()));
  for (const std::int32_t label : all.dataset.labels()) is_used[static_cast<std::size_t>(label)] = true;
  const std::ptrdiff_t empty = std::ranges::count(is_used, false);
  if (empty == 0) return notes;
  constexpr std::size_t most = 5;
  std::vector<std::string> some;
  for (std::size_t i = 0; i < is_used.size() && some.size() < most; ++i) {
    if (!is_used[i]) some.push_back(std::to_string(i));
  }
  notes.push_back("the classes are 0 to " + std::to_string(is_used.size() - 1) + ", but no sample is of class " +
                  list_of(some) +
                  (std::cmp_greater(empty, most) ? ", ... (" + with_thousands(empty) + " in all)" : "") +
                  ": what the network answers there is never right");
  return notes;
}

/// Training and test set out of one file.
Split split_file(const SingleFile& all, const DatasetOptions& options, const Limit& train_limit,
                 const Limit& test_limit) {
  const Index size = all.dataset.size();
  if (size < 2) {
    throw Error(options.name + " holds a single sample, which cannot be split into training and test set");
  }
  const std::vector<std::int32_t>& labels = all.dataset.labels();
  if (std::all_of(labels.begin(), labels.end(), [&](auto label) { return label == labels[0]; })) {
    throw Error(options.name + " holds one class only, " + std::to_string(labels[0]) +
                ": there is nothing to tell apart");
  }
  const Index test = std::max<Index>(1, size / 5);
  const Index train = size - test;
  return {all.dataset.slice(0, train_limit.of(train)),
          {},
          all.dataset.slice(train, test_limit.of(test)),
          all.encoding,
          train,
          {},
          notes_on(all)};
}

/// @param sample what one is called where it is no row of a table.
Origin origin_of(const DatasetOptions& options, const std::optional<TableEncoding>& encoding, const std::string& sample,
                 Index first_row = 0) {
  return {.name = options.name,
          .columns = encoding ? encoding->features : std::vector<std::string>(),
          .first_row = first_row,
          .sample = sample};
}

void expect_to_hold_all(const Split& split, const DatasetOptions& options) {
  const auto check = [&](const Dataset& part, const std::string& sample, Index first_row) {
    expect_to_hold(options.precision, part, origin_of(options, split.encoding, sample, first_row));
  };
  check(split.train, "training sample", 0);
  check(split.validation, "validation sample", split.train.size());
  check(split.test, "test sample", split.first_test_row);
}

/// With mean and deviation of the training samples only: test and validation samples stand for data
/// that are not known during training.
void standardize_all(Split& split, const DatasetOptions& options) {
  const Standardization standardization =
      standardization_of(split.train, origin_of(options, split.encoding, "training sample"));
  split.train = standardize(split.train, standardization);
  split.test = standardize(split.test, standardization);
  if (split.validation.size() > 0) {
    split.validation = standardize(split.validation, standardization);
  }
  split.encoding->standardization = standardization;
}

void hold_out(Split& split, Index count) {
  const Index rest = split.train.size() - count;
  if (rest < 1) {
    throw OptionError("--validation " + std::to_string(count) + " leaves nothing to train on: there " +
                          (split.train.size() == 1 ? "is " : "are ") + count_of(split.train.size(), "training sample"),
                      {"validation"});
  }
  split.validation = split.train.slice(rest, count);
  split.train = split.train.slice(0, rest);
}

}  // namespace

Index Limit::of(Index available) const {
  if (count && *count > available) {
    throw OptionError("--" + option + " " + std::to_string(*count) + " asks for more than the " +
                          count_of(available, samples) + " of " + set,
                      {option});
  }
  return count.value_or(available);
}

Dataset Limit::of(Dataset all) const {
  const Index used = of(all.size());
  return used == all.size() ? std::move(all) : all.slice(0, used);
}

Split load_for_training(const DatasetOptions& options) {
  const Limit train_limit = limit_for(Subset::training, options);
  const Limit test_limit = limit_for(Subset::test, options);
  Split split;
  if (const auto file = read_single_file(options, nullptr)) {
    split = split_file(*file, options, train_limit, test_limit);
  } else {
    split.train = load_subset(options, Subset::training, train_limit);
    split.test = load_subset(options, Subset::test, test_limit);
  }
  if (split.train.sample_shape() != split.test.sample_shape()) {
    throw Error("the training samples of " + options.name + " have the shape " +
                split.train.sample_shape().to_string() + ", but its test samples " +
                split.test.sample_shape().to_string());
  }
  if (options.validation > 0) hold_out(split, options.validation);
  split.fingerprint = fingerprint_of(split.train, split.encoding.has_value());
  if (split.encoding) standardize_all(split, options);
  expect_to_hold_all(split, options);
  return split;
}

Unseen load_unseen(const DatasetOptions& options, const std::optional<TableEncoding>& encoding) {
  Limit limit = limit_for(Subset::test, options);
  std::optional<SingleFile> all = read_single_file(options, encoding ? &*encoding : nullptr);
  if (!all) {
    Dataset set = load_subset(options, Subset::test, limit);
    expect_to_hold(options.precision, set, origin_of(options, {}, "test sample"));
    return {std::move(set)};
  }
  limit.samples = "sample";
  const Origin origin = origin_of(options, all->encoding, "sample");
  if (all->encoding) {
    all->dataset =
        standardize(all->dataset, encoding ? encoding->standardization : standardization_of(all->dataset, origin));
  }
  Dataset used = limit.of(std::move(all->dataset));
  expect_to_hold(options.precision, used, origin);
  return {std::move(used), all->has_labels};
}

}  // namespace stagewise
