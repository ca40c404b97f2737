/// @file
/// Stage 05's step trains what stage 04's workers and stage 01 train, on as many ranks as mpirun
/// has started. Every rank computes what it compares with by itself.

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "05_mpi/distributed_step.hpp"
#include "cross_stage/recorded_trainings.hpp"
#include "cuda/check.hpp"
#include "mpi/ranks/ranks.hpp"
#include "support.hpp"
#include "unit/temporary_folder.hpp"
#ifdef CUDA_ON_CPU
#include "cuda_on_cpu/settings.hpp"
#endif

namespace stagewise {
namespace {

using namespace cross_stage;
using mpi::DataFrom;
using mpi::DistributedStepOptions;

/// How a training is spread over the ranks.
struct Spread {
  WorkerOptions workers = {};  ///< as many as there are ranks
  DistributedStepOptions step = {};
  std::string transport = "host";
  int tensor_ranks = 1;
};

/// --strategy tensor, and of an even number of ranks, --strategy hybrid.
std::vector<Spread> splits() {
  const int ranks = test_world().size();
  std::vector<Spread> spreads = {{.tensor_ranks = ranks}};
  if (ranks % 2 == 0 && ranks > 2) {
    for (int tensor_ranks = 2; tensor_ranks < ranks; tensor_ranks += 2) {
      if (ranks % tensor_ranks != 0) continue;
      spreads.push_back({.tensor_ranks = tensor_ranks});
    }
  }
  return spreads;
}

/// The transports that work here, by name.
std::vector<std::string> transports() {
  std::vector<std::string> names;
  for (const std::string& name : mpi::transport_names()) {
    if (name != "auto" && mpi::reason_against(name, test_placement()).empty()) {
      names.push_back(name);
    }
  }
  return names;
}

/// Expects every rank to have the same values, to the last bit.
void expect_same_on_all_ranks(const std::vector<ParameterValues>& values, const std::string& name) {
  ASSERT_FALSE(values.empty()) << name;
  for (const ParameterValues& parameter : values) {
    std::vector<double> of_rank_0 = parameter.values;
    test_world().broadcast(of_rank_0);
    EXPECT_EQ(parameter.values, of_rank_0) << name << ", " << parameter.name;
  }
}

/// Expects those parameters of a split network that every rank has as a whole to be the same ones,
/// before any are put together.
template <typename T>
void expect_same_whole_parameters(Network<T>& network, const mpi::Mesh& mesh, const Sgd& sgd, const std::string& name) {
  const mpi::TensorPrograms split =
      mpi::distribute_tensor(network.model, sgd, mesh.part(Group::tensor), mesh.part(Group::data));
  std::vector<ValueId> whole;
  for (const SplitParameter& parameter : split.parameters) {
    if (parameter.along == SplitAlong::none) whole.push_back(parameter.own);
  }
  if (whole.empty()) return;  // without biases
  for (const ValueId id : whole) {
    std::vector<T> own(static_cast<std::size_t>(split.step.training.step[id].shape.elements()));
    network.executor->copy_out(own.data(), network.executor->data(id), own.size() * sizeof(T));
    std::vector<T> of_rank_0 = own;
    test_world().broadcast(of_rank_0);
    EXPECT_EQ(own, of_rank_0) << name << ", " << split.step.training.step[id].name;
  }
}

template <typename T>
Outcome train_spread(const TrainingCase& one, Spread spread) {
  spread.workers.workers = test_world().size();
  mpi::MpiRanks ranks(test_world());
  const Dataset whole_validation = one.data.slice(0, 9);
  Dataset storage;
  const Dataset& validation = ranks.shard(whole_validation, storage);

  auto executor = std::make_unique<DistributedExecutor<T>>(spread.transport, test_world(), spread.tensor_ranks);
  DistributedExecutor<T>& known = *executor;
  Network<T> network(build_model(one.model), std::move(executor), fusing<T>(one, spread.step.step.fuse.layers));
  mpi::DistributedStep<T> step({network, one.data, spread.workers, one.options.batch_size}, known, one.options.sgd,
                               starts_of(network.model, one, spread.workers), test_world(), ranks, spread.step);
  network.load(one.options.batch_size);
  OutcomeRecorder recorder;
  train(network, step, one.data, validation, one.options, 1, recorder, &ranks);
  if (spread.tensor_ranks > 1) {
    expect_same_whole_parameters(network, known.mesh(), one.options.sgd, one.name);
  }
  recorder.outcome.workers = step.worker_parameters();
  recorder.outcome.optimizer = step.optimizer_state();
  return recorder.outcome;
}

/// A case whose last batch has fewer samples than there are ranks: two.
TrainingCase with_short_last_batch(TrainingCase one) {
  const Index full = (one.data.size() - 2) / one.options.batch_size;
  one.data = one.data.slice(0, full * one.options.batch_size + 2);
  return one;
}

WorkerOptions workers_of_ranks(Average average = Average::gradients, std::int64_t every = 1) {
  return {.workers = test_world().size(), .average = average, .average_every = every};
}

template <typename T>
class Stage05Trainings : public testing::Test {
 protected:
  /// Expects a training on the ranks, in each of these forms, to arrive where stage 04's workers
  /// do; a split network, where one worker does.
  static void expect_stage_04(const TrainingCase& one, const WorkerOptions& workers,
                              const std::vector<Spread>& forms = {{}}) {
    Outcome expected = train_recorded<T>(one, workers);
    if (test_world().rank() > 0) expected.workers.clear();  // they are on rank 0, and nowhere else
    for (Spread form : forms) {
      form.workers = workers;
      const std::string name = one.name + ", " + name_of(workers) + ", " + std::to_string(form.tensor_ranks) +
                               " tensor ranks, " + form.transport;
      const Outcome spread = train_spread<T>(one, form);
      expect_same_outcome<T>(spread, expected, name);
      expect_same_on_all_ranks(spread.parameters, name);
    }
  }

  /// Trainings that can be split: with layers behind each other that are split and whole, and
  /// either of them as the last one.
  static std::vector<TrainingCase> splittable() {
    std::vector<TrainingCase> cases;
    const auto add = [&](const std::string& name, const std::vector<Index>& hidden) {
      cases.push_back(cases_named(name).front());
      cases.back().model.hidden = hidden;
      cases.back().name += ", " + std::to_string(hidden.size()) + " hidden layers";
    };
    for (const std::vector<Index>& hidden : std::vector<std::vector<Index>>{{20}, {9, 7}, {8, 13, 7}, {13, 6, 5, 11}}) {
      add("mlp_relu", hidden);
    }
    // Layers that stay whole may have fewer units than there are ranks.
    for (const std::vector<Index>& hidden : std::vector<std::vector<Index>>{{17}, {9, 3}, {8, 2, 7}, {13, 2, 5, 1}}) {
      add("mlp_squared_error", hidden);
    }
    add("mlp_sigmoid", {33});
    add("mlp_sigmoid", {6, 17, 4});
    add("mlp_relu", {20});
    cases.back().model.biases = false;
    return cases;
  }
};
TYPED_TEST_SUITE(Stage05Trainings, Precisions, PrecisionNames);

TYPED_TEST(Stage05Trainings, AveragedGradientsEqualStage04s) {
  for (const TrainingCase& one : cases_named("mlp")) {
    this->expect_stage_04(one, workers_of_ranks());
    this->expect_stage_04(with_short_last_batch(one), workers_of_ranks());
  }
  this->expect_stage_04(cases_named("neuron").front(), workers_of_ranks());
}

TYPED_TEST(Stage05Trainings, AveragedWeightsEqualStage04s) {
  const TrainingCase relu = cases_named("mlp_relu").front();
  for (const std::int64_t every : {1, 3, 7}) {  // 10 steps an epoch
    const WorkerOptions workers = workers_of_ranks(Average::weights, every);
    this->expect_stage_04(relu, workers);
    this->expect_stage_04(with_short_last_batch(relu), workers);
  }
  this->expect_stage_04(cases_named("mlp_sigmoid").front(), workers_of_ranks(Average::weights, 3));
  this->expect_stage_04(cases_named("neuron").front(), workers_of_ranks(Average::weights, 7));
}

TYPED_TEST(Stage05Trainings, ConvolutionalNetworksEqualStage04s) {
  const TrainingCase with_biases = cases_named("cnn").front();
  const TrainingCase without = cases_named("cnn_without").front();
  this->expect_stage_04(with_biases, workers_of_ranks());
  this->expect_stage_04(without, workers_of_ranks(Average::weights, 3));
}

TYPED_TEST(Stage05Trainings, SplitNetworksEqualWholeOnes) {
  for (const TrainingCase& one : this->splittable()) {
    this->expect_stage_04(one, {}, splits());
    this->expect_stage_04(with_short_last_batch(one), {}, splits());
  }
}

/// How sums travel changes no number but by rounding.
TYPED_TEST(Stage05Trainings, EveryFormEqualsStage04) {
  std::vector<Spread> forms(5);
  forms[0].step.overlaps = false;
  forms[1].step.step.streams_batches = true;
  forms[2].step.step.fuse.gathers = false;
  forms[3].step.step.fuse.layers = false;
  forms[4].step.step.records = false;
  for (const std::string& transport : transports()) {
    for (const bool overlaps : {true, false}) {
      forms.push_back({.step = {.overlaps = overlaps}, .transport = transport});
    }
  }
  const TrainingCase one = with_short_last_batch(cases_named("mlp_relu").front());
  this->expect_stage_04(one, workers_of_ranks(), forms);
  this->expect_stage_04(one, workers_of_ranks(Average::weights, 3), forms);
  std::vector<Spread> split_forms;
  for (Spread form : forms) {
    for (const Spread& split : splits()) {
      form.tensor_ranks = split.tensor_ranks;
      split_forms.push_back(form);
    }
  }
  this->expect_stage_04(one, {}, split_forms);
}

/// Layers large enough for two buckets.
TYPED_TEST(Stage05Trainings, SumsThatTravelInBucketsEqualStage04s) {
  TrainingCase one = cases_named("mlp_relu").front();
  one.model.hidden = {520, 512};
  one.data = one.data.slice(0, 32);
  one.options.epochs = 1;
  std::vector<Spread> forms = {{.step = {.overlaps = false}}};
  for (const std::string& transport : transports()) {
    forms.push_back({.step = {.overlaps = true}, .transport = transport});
  }
  this->expect_stage_04(one, workers_of_ranks(), forms);
}

TYPED_TEST(Stage05Trainings, RepeatThemselvesBitForBit) {
  using T = TypeParam;
  std::vector<Spread> spreads = splits();
  spreads.push_back({.workers = workers_of_ranks()});
  spreads.push_back({.workers = workers_of_ranks(Average::weights, 3)});
  const TrainingCase one = cases_named("mlp_relu").front();
  for (const Spread& spread : spreads) {
    const Outcome first = train_spread<T>(one, spread);
    expect_same_bits(train_spread<T>(one, spread), first, "again");
    Spread other = spread;
    other.step.step.streams_batches = true;
    other.step.step.fuse.gathers = false;
    Spread copied = spread;
    copied.step.step.fuse.gathers = false;
    expect_same_bits(train_spread<T>(one, other), train_spread<T>(one, copied), "streamed");
  }
}

/// With the batch or the network shared out.
TYPED_TEST(Stage05Trainings, EveryOptimizerEqualsStage04s) {
  for (const std::string name : {"momentum", "adam"}) {
    const TrainingCase one = cases_named(name).front();
    std::vector<Spread> forms;
    for (const std::string& transport : transports()) forms.push_back({.transport = transport});
    this->expect_stage_04(one, workers_of_ranks(), forms);
    this->expect_stage_04(one, {}, splits());
  }
}

TYPED_TEST(Stage05Trainings, UnshuffledOnesEqualStage04s) {
  TrainingCase one = cases_named("mlp_relu").front();
  one.options.shuffle = false;
  this->expect_stage_04(one, workers_of_ranks());
  this->expect_stage_04(one, {}, splits());
}

class Stage05 : public testing::Test {};

TEST_F(Stage05, FindsTheRankOfTheFirstBadStep) {
  mpi::MpiRanks ranks(test_world());
  const int last = test_world().size() - 1;
  Sums own = {.totals = {.loss = 0.5, .correct = 1}, .samples = 2};
  EXPECT_EQ(ranks.sum(own).totals.first_bad_step, -1);
  EXPECT_EQ(ranks.rank_of_bad_step(), -1);
  own.totals.first_bad_step = test_world().rank() == last ? 5 : 6;
  EXPECT_EQ(ranks.sum(own).totals.first_bad_step, 5);
  EXPECT_EQ(ranks.rank_of_bad_step(), last);
}

/// Whoever reads the data, all ranks have the same; the files lie on rank 0's host only, or on all.
TEST_F(Stage05, AllRanksHaveTheDataThatSomeCanRead) {
  const int rank = test_world().rank();
  const int last = test_world().size() - 1;
  const TemporaryFolder folder;
  const Bytes images = {0, 0, 8, 3, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  const std::string table = "a,b,class\n0.5,1,x\n-2,3,y\n4,0.25,x\n7,6,y\n1,1,x\n";
  for (const bool are_images : {true, false}) {
    for (const bool on_all : {true, false}) {
      const auto file = folder / (are_images ? "some-images-idx3-ubyte" : "table.csv");
      if (rank != 0 && !(on_all && rank == last)) {  // not even all others have them
        std::filesystem::remove(file);
      } else if (are_images) {
        write_file(file, images);
        write_file(folder / "some-labels-idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, 5, 0, 1, 2, 1, 0});
      } else {
        write_file(file, Bytes(table.begin(), table.end()));
      }
      const DatasetOptions options = {.name = file.string(),
                                      .format = are_images ? "idx" : "csv",
                                      .validation = 1,
                                      .label = are_images ? "" : "class"};
      for (const DataFrom source : {DataFrom::automatic, DataFrom::root}) {
        mpi::MpiRanks ranks(test_world());
        ranks.take_data_from(source);
        std::uint64_t sent = 0;
        std::uint64_t all = 1;
        ranks.on_sending([&](std::uint64_t now, std::uint64_t goal) { sent = now, all = goal; });
        const Split split = ranks.load_for_training(options);
        const Dataset test = ranks.load_for_evaluation(options, split.encoding);
        EXPECT_EQ(split.train.size(), 3);
        EXPECT_EQ(split.validation.size(), 1);
        EXPECT_EQ(split.test.size(), 1);
        EXPECT_EQ(test.size(), 5);
        const bool is_sent = last > 0 && (source == DataFrom::root || !(on_all && last == 1));
        EXPECT_EQ(ranks.what_was_sent().empty(), !is_sent);
        EXPECT_EQ(rank == 0 && is_sent, sent == all);
        for (const Dataset* const part : {&split.train, &split.validation, &split.test, &test}) {
          EXPECT_EQ(part->pixels() != nullptr, are_images);
          std::vector<std::uint32_t> samples(static_cast<std::size_t>(part->size()));
          std::iota(samples.begin(), samples.end(), 0U);
          std::vector<double> own(samples.size() * 2);
          part->gather(samples, own.data());
          std::vector<double> of_first = own;
          std::vector<std::int32_t> labels = part->labels();
          test_world().broadcast(of_first);
          test_world().broadcast(labels);
          EXPECT_EQ(own, of_first);
          EXPECT_EQ(part->labels(), labels);
        }
      }
    }
  }
}

/// Weights with an l2 and biases without one, too, if the latter come first.
TEST_F(Stage05, SendsNeighboursAsOneMessage) {
  if (!mpi::reason_against("peer", test_placement()).empty()) {
    GTEST_SKIP() << "the transport peer cannot work here";
  }
  constexpr Index count = 5;
  const auto transport = mpi::make_transport<float>("peer", test_world());
  const std::vector<float*> gradients = transport->memory_for(std::vector<Index>(4, count));
  const std::vector<float*> parameters = transport->memory_for(std::vector<Index>(4, count));
  const auto launches = [&](const std::vector<float>& l2) {
    std::vector<mpi::Piece<float>> bucket;
    for (std::size_t i = 0; i < l2.size(); ++i) {
      bucket.push_back({gradients[i], count, {parameters[i], 0.5F, l2[i]}});
    }
    const cuda::Stream stream;
    CUDA_CHECK(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    transport->begin(bucket, stream);
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamEndCapture(stream.get(), &graph));
    std::size_t nodes = 0;
    CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CUDA_CHECK(cudaGraphDestroy(graph));
    return nodes;
  };
  EXPECT_EQ(launches({0, 0, 0, 0}), 1U);
  EXPECT_EQ(launches({0, 0, 0.25F, 0.25F}), 1U);
  EXPECT_EQ(launches({0.25F, 0.25F, 0.25F, 0.25F}), 1U);
  EXPECT_EQ(launches({0.25F, 0, 0.25F, 0}), 3U);
}

#ifdef CUDA_ON_CPU

/// Work that is done only when somebody waits for it: a wait that is missing between a step, the
/// copies of its gradients and the sums that come back would show.
TEST_F(Stage05, EqualsItselfWhateverTheOrderOfWork) {
  const cuda_on_cpu::Settings before = cuda_on_cpu::settings();
  const TrainingCase one = cases_named("mlp_relu").front();
  std::vector<Spread> spreads = splits();
  spreads.push_back({.workers = workers_of_ranks()});
  spreads.push_back({.workers = workers_of_ranks(Average::weights, 3)});
  spreads.push_back({.workers = workers_of_ranks(), .transport = "cuda-aware"});
  for (const Spread& spread : spreads) {
    const Outcome expected = train_spread<float>(one, spread);
    cuda_on_cpu::settings().lazy_streams = true;
    cuda_on_cpu::settings().thread_order = cuda_on_cpu::ThreadOrder::random;
    expect_same_bits(train_spread<float>(one, spread), expected, "lazy");
    cuda_on_cpu::settings() = before;
  }
}

#endif

}  // namespace
}  // namespace stagewise
