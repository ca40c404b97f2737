/// @file
/// What a sentence repeats of a user's text, and suggests instead.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tensor/quote.hpp"

namespace stagewise {
namespace {

TEST(Quote, LeavesWhatIsShortAndPlain) {
  EXPECT_EQ(in_quotes(""), "''");
  EXPECT_EQ(in_quotes("3.5x"), "'3.5x'");
  EXPECT_EQ(in_quotes("gr\xc3\xb6\xc3\x9f\x65, \xe2\x82\xac, \xf0\x9f\x98\x80"),
            "'gr\xc3\xb6\xc3\x9f\x65, \xe2\x82\xac, \xf0\x9f\x98\x80'");
}

TEST(Quote, ShortensByWholeCharacters) {
  const std::string forty(40, '1');
  EXPECT_EQ(excerpt(forty), forty);
  EXPECT_EQ(excerpt(std::string(41, '1')), forty + "...");
  EXPECT_EQ(in_quotes(std::string(10000, '1')), "'" + forty + "...'");
  EXPECT_EQ(excerpt("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 2), "\xe2\x82\xac\xe2\x82\xac...");
}

TEST(Quote, WritesOutWhatATerminalWouldObey) {
  EXPECT_EQ(escaped("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(escaped("\x1b[2J\x7f"), "\\x1b[2J\\x7f");
  EXPECT_EQ(escaped(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(escaped("\xc2\x9b[2J"), "\\xc2\\x9b[2J") << "U+009B begins a command, too";
}

TEST(Quote, WritesOutWhatIsNotUtf8) {
  for (const std::string wrong : {"\xe9", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    EXPECT_FALSE(is_utf8(wrong));
    EXPECT_EQ(escaped("x" + wrong).find("x\\x"), 0U) << wrong;
    EXPECT_TRUE(is_utf8(escaped(wrong))) << wrong;
  }
}

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

TEST(NearMiss, TakesTheNearest) { EXPECT_EQ(suggestion("trains", {"brain", "train", "drains"}), "train"); }

TEST(NearMiss, EndsASentence) {
  EXPECT_EQ(did_you_mean("cn", names), "; did you mean cnn?");
  EXPECT_EQ(did_you_mean("lstm", names), "");
}

}  // namespace
}  // namespace stagewise
