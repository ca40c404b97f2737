/// @file
/// What stage 05 makes of a training: programs, looked at on one process without MPI. What they
/// compute is the affair of test_stage05_trainings.cpp.

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "04_minibatch/fuse/fuse.hpp"
#include "05_mpi/distribute.hpp"
#include "05_mpi/strategy.hpp"
#include "05_mpi/transport.hpp"
#include "cross_stage/gpu_test.hpp"
#include "network/split_parameter.hpp"
#include "support.hpp"
#include "unit/programs.hpp"

namespace stagewise {
namespace {

using Texts = std::vector<std::string>;

const Sgd sgd = {.learning_rate = 0.1, .l2 = 0.01};

ModelOptions mlp_of(const std::vector<Index>& hidden) {
  ModelOptions options = mlp;
  options.hidden = hidden;
  return options;
}

/// The training of one of so many ranks, whose programs are valid.
StepPrograms data_of(const ModelOptions& options, const Part& part, Average average = Average::gradients,
                     bool overlaps = true) {
  StepPrograms programs = mpi::distribute_data(build_model(options), sgd, average, part, overlaps);
  for (const Program* const program :
       {&programs.training.step, &programs.training.mean, &programs.training.take_over}) {
    expect_valid(*program);
  }
  return programs;
}

mpi::TensorPrograms tensor_of(const ModelOptions& options, const Part& part) {
  mpi::TensorPrograms programs = mpi::distribute_tensor(build_model(options), sgd, part);
  expect_valid(programs.step.training.step);
  return programs;
}

/// "d fc2/bias d fc2/weight": what each all_reduce adds up, in the order of the lines.
Texts sums_in(const Program& program) {
  Texts sums;
  for (const Line& line : program.lines) {
    const AllReduce* const op = std::get_if<AllReduce>(&line.operation);
    if (op == nullptr) continue;
    sums.emplace_back();
    for (const Updates<Real>& value : op->values) {
      sums.back() += (sums.back().empty() ? "" : " ") + program[value].name;
    }
  }
  return sums;
}

std::size_t line_of(const Program& program, const std::string& text) {
  const Texts texts = texts_of(program);
  const auto place = std::find(texts.begin(), texts.end(), text);
  EXPECT_NE(place, texts.end()) << text << " is not in\n" << testing::PrintToString(texts);
  return static_cast<std::size_t>(place - texts.begin());
}

// ------------------------------------------------------------------------------ data parallelism

TEST(DistributeData, AddsOneLineToAStepOfSmallLayers) {
  const Program step = data_of(mlp, {1, 3}).training.step;
  EXPECT_EQ(sums_in(step), Texts{"d fc2/bias@1 d fc1/bias@1 d fc2/weight@1 d fc1/weight@1"});
  Texts texts = texts_of(step);
  const std::size_t sum = texts.size() - 5;  // behind it are the updates
  EXPECT_TRUE(texts[sum].starts_with("all_reduce  ")) << testing::PrintToString(texts);
  EXPECT_EQ(texts.back(), "sgd_update  d fc2/bias@1, fc2/bias -> fc2/bias");
  texts.erase(texts.begin() + static_cast<std::ptrdiff_t>(sum));
  // The rest is what one process does, on values of the rank.
  Texts whole = texts_of(step_of(mlp));
  for (std::string& text : texts) {
    for (std::size_t i = text.find("@1"); i != std::string::npos; i = text.find("@1")) {
      text.erase(i, 2);
    }
  }
  EXPECT_EQ(texts, whole);
}

TEST(DistributeData, SendsABucketWhenItIsCompleteAndLargeEnough) {
  const ModelOptions wide = mlp_of({1024, 1024, 1024});
  const Program step = data_of(wide, {0, 2}).training.step;
  EXPECT_EQ(sums_in(step), (Texts{"d fc4/bias@0 d fc3/bias@0 d fc4/weight@0 d fc3/weight@0",
                                  "d fc2/bias@0 d fc2/weight@0", "d fc1/bias@0 d fc1/weight@0"}));
  const std::size_t first = line_of(step,
                                    "all_reduce  d fc4/bias@0, d fc3/bias@0, d fc4/weight@0, d fc3/weight@0 -> "
                                    "d fc4/bias@0, d fc3/bias@0, d fc4/weight@0, d fc3/weight@0");
  EXPECT_GT(first, line_of(step, "gemm  fc2/output@0, d fc3/sum@0 -> d fc3/weight@0"));
  EXPECT_LT(first, line_of(step, "gemm  fc1/output@0, d fc2/sum@0 -> d fc2/weight@0"));
  EXPECT_LT(line_of(step, "all_reduce  d fc2/bias@0, d fc2/weight@0 -> d fc2/bias@0, d fc2/weight@0"),
            line_of(step, "gemm  batch@0, d fc1/sum@0 -> d fc1/weight@0"));
}

TEST(DistributeData, SendsAllTogetherWhereNothingIsToOverlap) {
  const Program step = data_of(mlp_of({1024, 1024}), {0, 2}, Average::gradients, false).training.step;
  ASSERT_EQ(sums_in(step).size(), 1U);
  const auto is_sum = [](const Line& line) { return std::holds_alternative<AllReduce>(line.operation); };
  const auto sum = std::find_if(step.lines.begin(), step.lines.end(), is_sum);
  EXPECT_TRUE(std::all_of(sum + 1, step.lines.end(),
                          [](const Line& line) { return std::holds_alternative<SgdUpdate>(line.operation); }));
}

TEST(DistributeData, ExchangesNothingAlone) {
  EXPECT_EQ(sums_in(data_of(mlp, {0, 1}).training.step), Texts());
  const StepPrograms own = data_of(mlp, {0, 1}, Average::weights);
  EXPECT_EQ(sums_in(own.training.mean), Texts());
}

TEST(DistributeData, AveragesWeightsInProgramsOfTheirOwn) {
  const StepPrograms programs = data_of(mlp_of({}), {2, 3}, Average::weights);
  const TrainingPrograms& training = programs.training;
  EXPECT_EQ(sums_in(training.step), Texts());
  EXPECT_EQ(texts_of(training.step).back(), "sgd_update  d fc1/bias@2, fc1/bias@2 -> fc1/bias@2");
  EXPECT_TRUE(training.step[programs.batch].part.is_alone) << "the mean loss is the rank's own";
  Texts mean = {"copy  fc1/weight@2 -> fc1/weight", "copy  fc1/bias@2 -> fc1/bias",
                "all_reduce  fc1/weight, fc1/bias -> fc1/weight, fc1/bias"};
  EXPECT_EQ(texts_of(training.mean), mean);
  EXPECT_TRUE(std::get<AllReduce>(training.mean.lines.back().operation).divides);
  mean.emplace_back("copy  fc1/weight -> fc1/weight@2");
  mean.emplace_back("copy  fc1/bias -> fc1/bias@2");
  EXPECT_EQ(texts_of(training.take_over), mean);
}

TEST(DistributeData, KnowsWhichSamplesAreTheRanks) {
  const StepPrograms programs = data_of(mlp, {1, 3});
  for (const ValueId id : {programs.order, programs.batch, programs.batch_labels}) {
    EXPECT_EQ(programs.training.step[id].part, (Part{1, 3}));
    EXPECT_FALSE(programs.training.step[id].memory_of) << "the rank's samples are all it has";
  }
  EXPECT_EQ(programs.part, (Part{1, 3}));
}

/// The sums are in a lane of their own, so that other lines need not wait for them.
TEST(DistributeData, SumsTravelBesideTheRestOfAFusedStep) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  const Program step =
      minibatch::assign_lanes(minibatch::fuse<float>(data_of(mlp_of({1024, 1024}), {0, 2}).training.step, 100));
  expect_valid(step);
  ASSERT_EQ(sums_in(step).size(), 2U);
  std::set<int> of_sums;
  std::set<int> of_others;
  for (const Line& line : step.lines) {
    const bool is_sum = std::holds_alternative<AllReduce>(line.operation);
    (is_sum ? of_sums : of_others).insert(line.lane);
    if (!std::holds_alternative<UpdateBySum>(line.operation)) continue;
    for (std::size_t i = 0; i < step.lines.size(); ++i) {
      if (!std::holds_alternative<AllReduce>(step.lines[i].operation)) continue;
      EXPECT_NE(std::find(line.waits_for.begin(), line.waits_for.end(), i), line.waits_for.end())
          << "the update does not wait for line " << i;
    }
  }
  EXPECT_EQ(of_sums.size(), 1U);
  EXPECT_FALSE(of_others.contains(*of_sums.begin()));
}

/// Each bucket updates its own parameters, and not before the backward pass has read them.
TEST(FuseSumsWithUpdates, UpdatesWhereTheSumsAre) {
  const StepPrograms programs = data_of(mlp_of({1024, 1024}), {0, 2});
  const Program step = mpi::fuse_sums_with_updates(programs.training.step);
  expect_valid(step);
  EXPECT_EQ(sums_in(step), Texts());
  std::vector<std::size_t> updates;
  for (std::size_t i = 0; i < step.lines.size(); ++i) {
    EXPECT_FALSE(std::holds_alternative<SgdUpdate>(step.lines[i].operation));
    if (const auto* const op = std::get_if<AllReduceUpdate>(&step.lines[i].operation)) {
      updates.push_back(i);
      EXPECT_EQ(op->learning_rate, sgd.learning_rate);
      EXPECT_EQ(op->l2, sgd.l2);
      EXPECT_EQ(step.lines[i].replaces.size(), 1 + op->parameters.size());
    }
  }
  ASSERT_EQ(updates.size(), 2U);
  const Texts texts = texts_of(step);
  EXPECT_EQ(texts[updates[0]],
            "all_reduce_update  d fc3/bias@0, d fc2/bias@0, ..., fc2/weight -> fc3/bias, "
            "fc2/bias, fc3/weight, fc2/weight");
  EXPECT_GT(updates[0], line_of(step, "gemm  d fc2/sum@0, fc2/weight -> d fc1/output@0"));
}

TEST(FuseSumsWithUpdates, LeavesUpdatesThatNeedMore) {
  const Sgd momentum = {.learning_rate = 0.1, .rule = Rule::momentum};
  const Program step = mpi::distribute_data(build_model(mlp), momentum, Average::gradients, {0, 2}, true).training.step;
  EXPECT_EQ(texts_of(mpi::fuse_sums_with_updates(step)), texts_of(step));
}

// ---------------------------------------------------------------------------- tensor parallelism

/// Weight and bias of each layer: "c" for columns, "r" for rows, "-" for the whole.
std::string splits_of(const mpi::TensorPrograms& programs) {
  std::string text;
  for (const SplitParameter& one : programs.parameters) {
    text += one.along == SplitAlong::columns ? 'c' : one.along == SplitAlong::rows ? 'r' : '-';
  }
  return text;
}

TEST(DistributeTensor, SplitsEveryOtherLayer) {
  const Part part = {0, 2};
  EXPECT_EQ(splits_of(tensor_of(mlp_of({8}), part)), "ccr-");
  EXPECT_EQ(splits_of(tensor_of(mlp_of({8, 7}), part)), "ccr---");
  EXPECT_EQ(splits_of(tensor_of(mlp_of({8, 7, 6}), part)), "ccr-ccr-");
  EXPECT_EQ(splits_of(tensor_of(mlp_of({8, 7, 6, 5}), part)), "ccr-ccr---");
  EXPECT_EQ(splits_of(tensor_of(mlp_of({8, 7, 6}), {0, 1})), "--------") << "alone";
  ModelOptions without = mlp_of({8, 7, 6});
  without.biases = false;
  EXPECT_EQ(splits_of(tensor_of(without, part)), "crcr");
}

TEST(DistributeTensor, AddsUpWhatTheNextLayerGets) {
  const auto sums = [](const std::vector<Index>& hidden) {
    return sums_in(tensor_of(mlp_of(hidden), {1, 2}).step.training.step);
  };
  EXPECT_EQ(sums({8}), Texts{"fc2/product@1"});
  EXPECT_EQ(sums({8, 7}), Texts{"fc2/product@1"});
  // On the way back, the input of the second split layer gets a part of its gradient per rank.
  EXPECT_EQ(sums({8, 7, 6}), (Texts{"fc2/product@1", "fc4/product@1", "d each rank's fc2/output@1"}));
  EXPECT_EQ(sums({8, 7, 6, 5}).size(), 3U);
}

/// After the sum of the last product, one output_layer does the rest of the layer, its loss and its
/// backward pass.
TEST(DistributeTensor, FusesWhatFollowsTheLastSum) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  for (const bool biases : {true, false}) {
    for (const Activation activation : {Activation::relu, Activation::sigmoid}) {
      ModelOptions options = mlp_of({20});
      options.biases = biases;
      options.activation = activation;
      if (activation == Activation::sigmoid) options.loss = LossKind::squared_error;
      const Program step = minibatch::fuse<float>(tensor_of(options, {1, 2}).step.training.step, 100);
      expect_valid(step);
      Texts names;
      for (const Line& line : step.lines) names.emplace_back(name_of(line.operation));
      EXPECT_EQ(names, (Texts{"linear", "linear", "all_reduce", "output_layer", "linear_gradients"}));
    }
  }
}

TEST(DistributeTensor, DividesUnitsInGroupsWhereThereAreEnough) {
  const auto units = [](Index all, int ranks) {
    std::vector<Index> found;
    for (int rank = 0; rank < ranks; ++rank) {
      const Shard own = units_of(all, {rank, ranks});
      EXPECT_EQ(own.first, std::accumulate(found.begin(), found.end(), Index{0}));
      found.push_back(own.rows);
    }
    return found;
  };
  EXPECT_EQ(units(1000, 3), std::vector<Index>({336, 332, 332}));
  EXPECT_EQ(units(1000, 4), std::vector<Index>({252, 252, 248, 248}));
  EXPECT_EQ(units(100, 4), std::vector<Index>({28, 24, 24, 24}));
  EXPECT_EQ(units(50, 4), std::vector<Index>({14, 12, 12, 12}));
  EXPECT_EQ(units(48, 4), std::vector<Index>({12, 12, 12, 12}));
  EXPECT_EQ(units(46, 4), std::vector<Index>({12, 12, 11, 11}));
  EXPECT_EQ(units(7, 3), std::vector<Index>({3, 2, 2}));
  EXPECT_EQ(units(4, 4), std::vector<Index>({1, 1, 1, 1}));
  EXPECT_EQ(units(1000, 1), std::vector<Index>({1000}));
}

TEST(DistributeTensor, RefusesWhatItCannotSplit) {
  const std::string none =
      "--strategy tensor splits the hidden layers of --model mlp, and there is none; --strategy "
      "data trains every network";
  const auto refusal = [](const ModelOptions& options, int ranks) {
    return sentence_of([&] { mpi::check_splittable(options, ranks); });
  };
  EXPECT_EQ(refusal(mlp_of({}), 2), none);
  EXPECT_EQ(refusal({.name = "cnn"}, 2), none);
  EXPECT_EQ(refusal({.name = "neuron"}, 2), none);
  EXPECT_EQ(refusal(mlp_of({2}), 3), "--strategy tensor cannot split 2 hidden units among 3 processes");
  EXPECT_EQ(refusal(mlp_of({8, 1, 1}), 2), "--strategy tensor cannot split 1 hidden unit among 2 processes");
  EXPECT_EQ(refusal(mlp_of({8, 1}), 2), "") << "the second layer stays whole";
  EXPECT_EQ(refusal(mlp_of({3}), 3), "");
}

TEST(Strategy, IsTensorWhereItCertainlySumsFewerNumbers) {
  const auto chosen = [](int processes, Index batch_size, const ModelOptions& model, const WorkerOptions& workers = {},
                         const std::string& overlap = "auto") {
    StageOptions values = {{"strategy", "auto"}, {"overlap", overlap}, {"gather", "auto"}};
    mpi::choose_strategy(values, model, workers, batch_size, processes);
    return values.at("strategy");
  };
  EXPECT_EQ(chosen(2, 8, mlp_of({8})), "tensor");
  EXPECT_EQ(chosen(2, 9, mlp_of({8})), "data");
  EXPECT_EQ(chosen(3, 8, mlp_of({20, 3, 8})), "tensor") << "the second is whole";
  EXPECT_EQ(chosen(3, 8, mlp_of({20, 9, 7})), "data") << "the third is narrow";
  EXPECT_EQ(chosen(2, 8, mlp_of({})), "data");
  EXPECT_EQ(chosen(1, 8, mlp_of({8})), "data");
  EXPECT_EQ(chosen(2, 8, mlp_of({8}), {.workers = 2}), "data");
  EXPECT_EQ(chosen(2, 8, mlp_of({8}), {.average = Average::weights}), "data");
  EXPECT_EQ(chosen(2, 8, mlp_of({8}), {}, "off"), "data");
}

// ------------------------------------------------------------------------------------- transports

TEST(Transports, SayWhyTheyCannotWork) {
  const mpi::Placement alone;
  EXPECT_EQ(mpi::reason_against("host", alone), "");
  EXPECT_EQ(sentence_of([&] { mpi::check_transport("auto", alone); }), "");
  const mpi::Placement shared = {.processes_on_device = 2, .max_processes_on_device = 2};
  const std::string reason = mpi::reason_against("nccl", shared);
  EXPECT_NE(reason, "");
  EXPECT_EQ(sentence_of([&] { mpi::check_transport("nccl", shared); }),
            "--transport nccl cannot work here: " + reason + "; --transport host works everywhere");
  EXPECT_EQ(mpi::reason_against("peer", alone), "");
  EXPECT_EQ(mpi::reason_against("peer", {.devices = 9, .processes = 9}),
            "it adds up over at most 8 processes, and there are 9");
  EXPECT_EQ(mpi::reason_against("peer", {.devices = 4, .processes = 4, .hosts = 2}),
            "a GPU accesses the memory of others on its own host only, and the processes are on 2 "
            "hosts");
#ifndef CUDA_ON_CPU
  EXPECT_EQ(mpi::reason_against("peer", shared),
            "kernels that wait for each other take a GPU for each process, and 2 share one");
#endif
#ifdef CUDA_ON_CPU
  EXPECT_EQ(mpi::reason_against("peer", shared), "") << "processes share an emulated GPU's memory";
  EXPECT_EQ(mpi::reason_against("nccl", alone), "NCCL needs GPUs, and kernels run on the CPU here");
  EXPECT_EQ(mpi::reason_against("cuda-aware", alone), "");
#endif
}

TEST(Transports, AutoIsThatOfTheLinks) {
  mpi::Placement two = {.devices = 2, .processes = 2, .are_linked = true};
  EXPECT_EQ(mpi::choose_transport("auto", two), "peer");
  EXPECT_EQ(mpi::choose_transport("host", two), "host");
  const std::string otherwise = mpi::reason_against("nccl", two).empty() ? "nccl" : "host";
  two.are_linked = false;
  EXPECT_EQ(mpi::choose_transport("auto", two), otherwise);
  EXPECT_EQ(mpi::choose_transport("auto", {.devices = 9, .processes = 9, .are_linked = true}), otherwise)
      << "more than peer can";
  EXPECT_EQ(mpi::choose_transport("auto", {.are_linked = true}), "host") << "one has no sums";
}

}  // namespace
}  // namespace stagewise
