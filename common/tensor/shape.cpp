#include "tensor/shape.hpp"

#include "tensor/error.hpp"

namespace stagewise {

Shape::Shape(std::initializer_list<Index> dimensions) {
  for (const Index dimension : dimensions) append(dimension);
}

void Shape::append(Index dimension) {
  // 62 bits leave room for the size in bytes of any element type the project has.
  constexpr Index limit = Index{1} << 62;
  if (rank_ == max_rank) {
    throw Error("a tensor has at most four dimensions, but a fifth was asked for");
  }
  if (dimension < 0) {
    throw Error("a tensor's dimension is " + std::to_string(dimension) + ", but must not be negative");
  }
  if (dimension != 0 && elements_ > limit / dimension) {
    throw Error("the dimensions of a tensor multiply to more elements than a computer can address");
  }
  dimensions_[static_cast<std::size_t>(rank_)] = dimension;
  ++rank_;
  elements_ *= dimension;
}

Shape Shape::batched(Index rows) const {
  Shape result{rows};
  for (int i = 0; i < rank_; ++i) result.append((*this)[i]);
  return result;
}

std::string Shape::to_string() const {
  std::string text = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) text += ", ";
    text += std::to_string((*this)[i]);
  }
  return text + "]";
}

}  // namespace stagewise
