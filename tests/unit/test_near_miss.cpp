#include <gtest/gtest.h>

#include "tensor/near_miss.hpp"

namespace stagewise {
namespace {

const std::vector<std::string> names = {"mlp", "cnn", "neuron", "--epochs", "--learning-rate"};

TEST(NearMiss, ForgivesASlip) {
  EXPECT_EQ(near_miss("--epoch", names), "--epochs");
  EXPECT_EQ(near_miss("--epocsh", names), "--epochs");
  EXPECT_EQ(near_miss("--learning-raet", names), "--learning-rate");
  EXPECT_EQ(near_miss("--lerning_rate", names), "--learning-rate");
  EXPECT_EQ(near_miss("mpl", names), "mlp");
  EXPECT_EQ(near_miss("neurons", names), "neuron");
}

TEST(NearMiss, GuessesNothingElse) {
  for (const char* const text : {"", "x", "transformer", "--frobnicate", "nn-", "--e"}) {
    EXPECT_EQ(near_miss(text, names), "") << text;
  }
  EXPECT_EQ(near_miss(std::string(100000, 'x'), names), "");
}

TEST(NearMiss, TakesTheNearest) {
  EXPECT_EQ(near_miss("trains", {"brain", "train", "drains"}), "train");
}

TEST(NearMiss, EndsASentence) {
  EXPECT_EQ(did_you_mean("cn", names), "; did you mean cnn?");
  EXPECT_EQ(did_you_mean("lstm", names), "");
}

}  // namespace
}  // namespace stagewise
