#include <gtest/gtest.h>

#include "tensor/quote.hpp"

namespace stagewise {
namespace {

const std::vector<std::string> names = {"mlp", "cnn", "neuron", "--epochs", "--learning-rate"};

TEST(NearMiss, ForgivesASlip) {
  EXPECT_EQ(suggestion("--epoch", names), "--epochs");
  EXPECT_EQ(suggestion("--epocsh", names), "--epochs");
  EXPECT_EQ(suggestion("--learning-raet", names), "--learning-rate");
  EXPECT_EQ(suggestion("--lerning_rate", names), "--learning-rate");
  EXPECT_EQ(suggestion("mpl", names), "mlp");
  EXPECT_EQ(suggestion("neurons", names), "neuron");
}

TEST(NearMiss, GuessesNothingElse) {
  for (const char* const text : {"", "x", "transformer", "--frobnicate", "nn-", "--e"}) {
    EXPECT_EQ(suggestion(text, names), "") << text;
  }
  EXPECT_EQ(suggestion(std::string(100000, 'x'), names), "");
}

TEST(NearMiss, TakesTheNearest) {
  EXPECT_EQ(suggestion("trains", {"brain", "train", "drains"}), "train");
}

TEST(NearMiss, EndsASentence) {
  EXPECT_EQ(did_you_mean("cn", names), "; did you mean cnn?");
  EXPECT_EQ(did_you_mean("lstm", names), "");
}

}  // namespace
}  // namespace stagewise
