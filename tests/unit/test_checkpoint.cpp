#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/checkpoint.hpp"
#include "support.hpp"
#include "unit/hdf5_file.hpp"
#include "unit/sentence_about.hpp"
#include "unit/temporary_folder.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using hdf5::Handle;

ParameterValues parameter(const std::string& name, const Shape& shape, std::uint64_t seed) {
  return {.name = name, .shape = shape, .values = random_values<double>(shape.elements(), seed)};
}

/// In the order in which load_checkpoint() gives parameters back.
Checkpoint example() {
  return {.model = "mlp",
          .precision = "double",
          .seed = 18446744073709551615U,
          .epoch = 7,
          .step = Index{1} << 40,
          .settings = {{"hidden", "256,128"}, {"learning-rate", "0.1"}, {"label", ""}},
          .parameters = {parameter("conv1/filter", {5, 3, 1, 2}, 1), parameter("fc1/bias", {7}, 2),
                         parameter("fc1/weight", {4, 7}, 3)},
          .workers = {},
          .optimizer = {parameter("velocity/fc1/bias", {7}, 4)}};
}

void expect_equal(const Checkpoint& actual, const Checkpoint& expected) {
  EXPECT_EQ(actual.model, expected.model);
  EXPECT_EQ(actual.precision, expected.precision);
  EXPECT_EQ(actual.seed, expected.seed);
  EXPECT_EQ(actual.epoch, expected.epoch);
  EXPECT_EQ(actual.step, expected.step);
  EXPECT_EQ(actual.settings, expected.settings);
  EXPECT_EQ(actual.parameters, expected.parameters);
  EXPECT_EQ(actual.workers, expected.workers);
  EXPECT_EQ(actual.optimizer, expected.optimizer);
}

class CheckpointFile : public testing::Test {
 protected:
  std::string refusal() const {
    return sentence_of([&] { load_checkpoint(path_); });
  }

  void expect_refused(const std::string& reason) const {
    EXPECT_EQ(refusal(), "the checkpoint " + path_.string() + " cannot be read: " + reason);
  }

  TemporaryFolder folder_;
  fs::path path_ = folder_ / "model.h5";
};

TEST_F(CheckpointFile, GivesBackWhatWasSaved) {
  Checkpoint checkpoint = example();
  checkpoint.settings.insert({{"umlaut", "größer"}, {"spaces", "  a b  "}});
  checkpoint.parameters.push_back(parameter("fc2/weight", {100, 100}, 5));
  using Limits = std::numeric_limits<double>;
  checkpoint.parameters.push_back({.name = "fc3/extremes",
                                   .shape = {5},
                                   .values = {Limits::max(), Limits::denorm_min(), -0.0, Limits::infinity(), -1e300}});
  checkpoint.parameters.push_back({.name = "scalar", .shape = {}, .values = {0.1}});
  save_checkpoint(path_, checkpoint);
  expect_equal(load_checkpoint(path_), checkpoint);
  const auto size = fs::file_size(path_);
  checkpoint.precision = "float";
  save_checkpoint(path_, checkpoint);
  for (auto* const values : {&checkpoint.parameters, &checkpoint.optimizer}) {
    for (ParameterValues& parameter : *values) {
      for (double& value : parameter.values) value = static_cast<float>(value);
    }
  }
  expect_equal(load_checkpoint(path_), checkpoint);
  EXPECT_LT(fs::file_size(path_), size - 30'000);
}

TEST_F(CheckpointFile, NumbersInNamesCountAsNumbers) {
  Checkpoint checkpoint = example();
  checkpoint.parameters.clear();
  std::vector<std::string> names;
  for (int i = 1; i <= 12; ++i) {
    for (const char* const kind : {"bias", "weight"}) {
      names.push_back("fc" + std::to_string(i) + "/" + kind);
      checkpoint.parameters.push_back(parameter(names.back(), {2}, 1));
    }
  }
  save_checkpoint(path_, checkpoint);
  std::vector<std::string> loaded;
  for (const ParameterValues& p : load_checkpoint(path_).parameters) loaded.push_back(p.name);
  EXPECT_EQ(loaded, names);
}

TEST_F(CheckpointFile, SameContentsGiveTheSameBytesUnderAnyNameAtAnyTime) {
  save_checkpoint(path_, example());
  const Bytes first = read_file(path_);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // HDF5 counts time in seconds
  const fs::path other = folder_ / "a much longer name.hdf5";
  save_checkpoint(other, example());
  EXPECT_EQ(read_file(other), first);
  EXPECT_EQ(folder_.entries(), 2);
}

// --------------------------------------------------------------------------------- damaged files

TEST_F(CheckpointFile, CutAnywhereIsRefused) {
  save_checkpoint(path_, example());
  const Bytes whole = read_file(path_);
  std::vector<std::size_t> lengths = {1, 7, 8, 9, 95, whole.size() - 8, whole.size() - 1};
  for (std::size_t length = 0; length < whole.size(); length += 64) lengths.push_back(length);
  for (const std::size_t length : lengths) {
    write_file(path_, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
    expect_contains(refusal(), "the checkpoint " + path_.string() + " cannot be read: ");
  }
}

/// Works in a process of its own, which may crash or hang without harm to the test.
/// @return whether it ended by itself and `work` was true.
template <typename Work>
bool is_true_in_another_process(const Work& work) {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    alarm(120);  // ends the process
    _exit(work() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(CheckpointFile, WithAFlippedBitIsRefusedOrTheSame) {
  Checkpoint checkpoint = example();
  checkpoint.parameters = {parameter("w", {4, 3}, 2)};  // without groups, which are most of a file
  checkpoint.workers = {{parameter("w", {4, 3}, 4)}};
  checkpoint.optimizer = {parameter("v", {4, 3}, 5)};
  save_checkpoint(path_, checkpoint);
  const Checkpoint original = load_checkpoint(path_);
  const Bytes whole = read_file(path_);
  const auto is_harmless = [&](std::size_t place) {
    Bytes damaged = whole;
    damaged[place] = static_cast<std::uint8_t>(damaged[place] ^ (1U << (place % 8)));
    write_file(path_, damaged);
    Checkpoint loaded;
    const std::string sentence = sentence_of([&] { loaded = load_checkpoint(path_); });
    if (sentence.empty()) expect_equal(loaded, original);
    return !HasFailure() && (sentence.empty() || sentence.find(" cannot be read: ") != std::string::npos);
  };
  EXPECT_GT(whole.size(), 1000U);
  constexpr std::size_t most = 256;  // in a process, which may crash
#ifdef __SANITIZE_ADDRESS__
  constexpr std::size_t step = 3;  // loading takes twenty times as long
#else
  constexpr std::size_t step = 1;
#endif
  for (std::size_t first = 0; first < whole.size(); first += most) {
    EXPECT_TRUE(is_true_in_another_process([&] {
      for (std::size_t i = first; i < std::min(first + most, whole.size()); i += step) {
        if (!is_harmless(i)) return false;
      }
      return true;
    })) << "with a bit of a byte from "
        << first << " on flipped";
  }
}

TEST_F(CheckpointFile, WithoutAChecksumIsReadAllTheSame) {
  save_checkpoint(path_, example());
  const auto remove = [&](const char* attribute) {
    const Handle file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    ASSERT_GE(H5Adelete(file.id(), attribute), 0);
  };
  remove("label");
  expect_refused("its contents do not match its checksum, so it has been damaged or changed");
  remove("checksum");
  Checkpoint expected = example();
  expected.settings.erase("label");
  expect_equal(load_checkpoint(path_), expected);
}

/// Files that another program might have written, made with the HDF5 library itself.
class ForeignFile : public CheckpointFile {
 protected:
  /// Writes a file whose root and group /parameters are handed to `fill`.
  template <typename Fill>
  void make(const Fill& fill) const {
    const Handle file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const Handle group(H5Gcreate2(file.id(), "parameters", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    fill(file.id(), group.id());
  }

  /// Adds a data set of zeros.
  static void add_zeros(hid_t group, const char* name, hid_t type, const Dimensions& dimensions) {
    hsize_t count = 1;
    for (const hsize_t dimension : dimensions) count *= dimension;
    add_data(group, name, type, dimensions, std::vector<double>(count));
  }

  static void add_attribute(hid_t object, const char* name, hid_t type, const void* value, hsize_t count = 1) {
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle attribute(H5Acreate2(object, name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    EXPECT_GE(H5Awrite(attribute.id(), type, value), 0);
  }

  /// A text attribute of fixed length, the way h5py writes bytes.
  static void add_text(hid_t object, const char* name, const std::string& text) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.id(), text.size());
    add_attribute(object, name, type.id(), text.data());
  }
};

TEST_F(ForeignFile, IsReadWithoutAnyAttribute) {
  make([](hid_t, hid_t group) {
    const Handle inner(H5Gcreate2(group, "fc1", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    add_zeros(inner.id(), "weight", H5T_IEEE_F32BE, {2, 3});
  });
  const Checkpoint checkpoint = load_checkpoint(path_);
  EXPECT_EQ(checkpoint.model, "");
  EXPECT_EQ(checkpoint.precision, "float");
  ASSERT_EQ(checkpoint.parameters.size(), 1U);
  EXPECT_EQ(checkpoint.parameters[0].name, "fc1/weight");
  EXPECT_EQ(checkpoint.parameters[0].shape, (Shape{2, 3}));
  EXPECT_EQ(checkpoint.parameters[0].values, std::vector<double>(6, 0));
}

TEST_F(ForeignFile, IsReadWithTextsOfFixedLength) {
  make([](hid_t file, hid_t group) {
    add_text(file, "model", "mlp");
    add_text(file, "hidden", std::string("256\0\0\0", 6));
    add_zeros(group, "w", H5T_IEEE_F64LE, {1});
  });
  const Checkpoint checkpoint = load_checkpoint(path_);
  EXPECT_EQ(checkpoint.model, "mlp");
  EXPECT_EQ(checkpoint.settings.at("hidden"), "256");
}

TEST_F(ForeignFile, OfAnotherProjectIsNamed) {
  const auto complaint = [&] { return sentence_about(path_, [&] { load_checkpoint(path_); }); };
  make([](hid_t file, hid_t) {
    H5Ldelete(file, "parameters", H5P_DEFAULT);
    add_text(file, "layer_names", "dense");
  });
  expect_contains(complaint(), "the checkpoint FILE cannot be read: it is a network of Keras's, not of Stagewise; ");
  const std::string safetensors("\x58\0\0\0\0\0\0\0{\"fc1\":", 15);
  write_file(path_, Bytes(safetensors.begin(), safetensors.end()));
  expect_contains(complaint(), "it is a safetensors file; ./run.sh convert");
}

TEST_F(ForeignFile, WithParametersAtTheRootIsRead) {
  {
    const Handle file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, 0, 0), H5Fclose);
    add_zeros(file.id(), "conv1", H5T_IEEE_F32LE, {5, 5, 1, 2});
    add_zeros(file.id(), "fc1", H5T_IEEE_F32LE, {3, 2});
  }
  const Checkpoint checkpoint = load_checkpoint(path_);
  ASSERT_EQ(checkpoint.parameters.size(), 2U);
  EXPECT_EQ(checkpoint.parameters[0].name, "conv1/filter");
  EXPECT_EQ(checkpoint.parameters[1].name, "fc1/weight");
  EXPECT_EQ(checkpoint.parameters[1].shape, (Shape{3, 2}));
  EXPECT_EQ(checkpoint.model, "");
  EXPECT_EQ(checkpoint.precision, "float");
}

TEST_F(ForeignFile, ThatIsNoCheckpointIsRefused) {
  const double number = 1.5;
  const std::array<std::int64_t, 2> numbers = {-1, 3};
  const auto with = [&](const char* name, hid_t type, const void* value, hsize_t count = 1) {
    return [=](hid_t file, hid_t group) {
      add_attribute(file, name, type, value, count);
      add_zeros(group, "w", H5T_IEEE_F64LE, {1});
    };
  };
  const auto with_precision = [](const char* precision) {
    return [=](hid_t file, hid_t group) {
      add_text(file, "precision", precision);
      add_zeros(group, "w", H5T_IEEE_F64LE, {1});
    };
  };
  const fs::path other = folder_ / "other.h5";
  make([](hid_t, hid_t group) { add_zeros(group, "w", H5T_IEEE_F32LE, {2}); });
  fs::rename(path_, other);
  struct Refused {
    std::function<void(hid_t file, hid_t group)> fill;
    std::string reason;
  };
  const std::vector<Refused> cases = {
      {[](hid_t, hid_t) {}, "it holds no parameters"},
      {[](hid_t file, hid_t) { H5Ldelete(file, "parameters", H5P_DEFAULT); }, "it holds no parameters"},
      {[](hid_t file, hid_t group) {
         add_zeros(group, "w", H5T_IEEE_F32LE, {2});
         H5Lmove(file, "parameters", file, "weights", H5P_DEFAULT, H5P_DEFAULT);
       },
       "it has neither a group /parameters nor its parameters at the root"},
      {[](hid_t, hid_t group) { add_zeros(group, "w", H5T_STD_I32LE, {2}); },
       "/parameters/w does not hold floating-point numbers"},
      {[](hid_t, hid_t group) {
         add_zeros(group, "a", H5T_IEEE_F32LE, {2});
         add_zeros(group, "b", H5T_IEEE_F64LE, {2});
       },
       "some of its parameters are float, others double"},
      {[](hid_t, hid_t group) {
         add_zeros(group, "w", H5T_IEEE_F32LE, {1, 2, 1, 2, 1});
       },
       "/parameters/w has 5 dimensions, but at most 4 are used"},
      {with("epoch", H5T_NATIVE_DOUBLE, &number), "its attribute 'epoch' is not a whole number"},
      {with("step", H5T_NATIVE_INT64, numbers.data(), 2), "its attribute 'step' is not a whole number"},
      {with("epoch", H5T_NATIVE_INT64, numbers.data()), "its epoch or step is negative"},
      {with("model", H5T_NATIVE_INT64, numbers.data()), "its attribute 'model' is not a text"},
      {with("hidden", H5T_NATIVE_DOUBLE, &number), "its attribute 'hidden' is not a text"},
      {with_precision("half"), "its precision is 'half', but must be float or double"},
      {with_precision("float"), "its precision is float, but its parameters are double"},
      {[](hid_t, hid_t group) { H5Lcreate_hard(group, ".", group, "again", H5P_DEFAULT, H5P_DEFAULT); },
       "its groups are nested too deeply"},
      {[](hid_t, hid_t group) { H5Lcreate_soft("/nowhere", group, "link", H5P_DEFAULT, H5P_DEFAULT); },
       "/parameters/link is a link to elsewhere"},
      {[&](hid_t, hid_t group) {
         H5Lcreate_external(other.c_str(), "/parameters/w", group, "w", H5P_DEFAULT, H5P_DEFAULT);
       },
       "/parameters/w is a link to elsewhere"},
      {[&](hid_t file, hid_t) {
         H5Ldelete(file, "parameters", H5P_DEFAULT);
         H5Lcreate_external(other.c_str(), "/parameters", file, "parameters", 0, 0);
       },
       "/parameters is a link to elsewhere"},
      {[](hid_t, hid_t group) {
         const Handle type(H5Tcopy(H5T_NATIVE_INT), H5Tclose);
         H5Tcommit2(group, "type", type.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
       },
       "/parameters/type is neither a group nor a data set"}};
  for (const auto& [fill, reason] : cases) {
    make(fill);
    expect_refused(reason);
  }
}

TEST_F(ForeignFile, ThatClaimsMoreThanItHoldsIsRefused) {
  constexpr hsize_t one = 1;
  // Never written, a data set can claim any size.
  // The last one has no elements, but dimensions that no Shape can have.
  for (const Dimensions& dimensions : std::vector<Dimensions>{{1'000'000'000},
                                                              {one << 31U, one << 29U},
                                                              {one << 20U, one << 20U, one << 20U},
                                                              {0, one << 40U, one << 40U}}) {
    make([&](hid_t, hid_t group) { add_data(group, "w", H5T_IEEE_F32LE, dimensions, {}); });
    EXPECT_TRUE(refusal().ends_with("but the file does not hold so many values")) << refusal();
  }
}

}  // namespace
}  // namespace stagewise
