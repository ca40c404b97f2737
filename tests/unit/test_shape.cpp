#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "support.hpp"
#include "tensor/shape.hpp"
#include "tensor/tensor.hpp"

namespace stagewise {
namespace {

constexpr Index two_to_31 = Index{1} << 31;

/// The sentence with which a shape is refused; empty if it is not.
std::string refusal(std::initializer_list<Index> dimensions) {
  return sentence_of([&] { const Shape shape(dimensions); });
}

TEST(Shape, ScalarHasOneElement) {
  const Shape scalar;
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.elements(), 1);
  EXPECT_EQ(scalar.to_string(), "[]");
}

TEST(Shape, KnowsItsDimensions) {
  const Shape shape{2, 3, 5, 7};
  EXPECT_EQ(shape.rank(), 4);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[3], 7);
  EXPECT_EQ(shape.elements(), 210);
  EXPECT_EQ(shape.to_string(), "[2, 3, 5, 7]");
}

TEST(Shape, MayBeEmpty) {
  EXPECT_EQ((Shape{3, 0, 5}).elements(), 0);
  EXPECT_EQ((Shape{0, std::numeric_limits<Index>::max()}).elements(), 0);
}

TEST(Shape, BatchIsTheOutermostDimension) {
  EXPECT_EQ((Shape{28, 28, 1}).batched(100), (Shape{100, 28, 28, 1}));
  EXPECT_EQ(Shape{}.batched(3), Shape{3});
  EXPECT_THROW((Shape{1, 2, 3, 4}).batched(5), Error);
}

TEST(Shape, ComparesDimensionsAndRank) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2}), (Shape{2, 1}));
  EXPECT_NE(Shape{}, Shape{1});
}

TEST(Shape, RefusesWhatIsNoShape) {
  expect_contains(refusal({3, -1}), "-1");
  expect_contains(refusal({1, 1, 1, 1, 1}), "at most four");
}

TEST(Shape, RefusesMoreElementsThan62BitsCount) {
  EXPECT_EQ(refusal({two_to_31, two_to_31}), "");
  EXPECT_EQ(refusal({two_to_31, two_to_31, 1}), "");
  EXPECT_NE(refusal({two_to_31, two_to_31, 2}), "");
  EXPECT_NE(refusal({two_to_31, two_to_31 + 1}), "");
  EXPECT_NE(refusal({std::numeric_limits<Index>::max()}), "");
}

TEST(Tensor, OwnsMemoryThatMovesWithIt) {
  Tensor<double> first({2, 3});
  first.data()[5] = 7;
  const double* const place = first.data();
  EXPECT_EQ(std::bit_cast<std::uintptr_t>(place) % 64, 0U);
  Tensor<double> second(std::move(first));
  EXPECT_EQ(second.data(), place);
  EXPECT_EQ(second.data()[5], 7);
  EXPECT_EQ(second.shape(), (Shape{2, 3}));
  Tensor<double> third;
  EXPECT_EQ(third.elements(), 0);
  EXPECT_EQ(third.data(), nullptr);
  third = std::move(second);
  EXPECT_EQ(third.data(), place);
}

TEST(Tensor, TooLittleMemoryIsSaidInASentence) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer ends the program instead of refusing the memory";
#endif
  expect_contains(sentence_of([] { const Tensor<char> tensor({Index{1} << 60}); }), ": 1.2 EB more are needed");
}

}  // namespace
}  // namespace stagewise
