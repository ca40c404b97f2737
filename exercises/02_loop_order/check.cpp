#include "check.hpp"

#include <algorithm>
#include <array>

#include EXERCISE_FILE

namespace exercise {
namespace {

/// A cache that drops the line that has not been used for longest. It is told the numbers of lines.
class Cache {
 public:
  static constexpr std::size_t lines = 64;
  static constexpr int floats_per_line = 16;

  /// Whether the access misses.
  bool access(int line) {
    const auto found = std::find(recent_.begin(), recent_.end(), line);
    const bool is_miss = found == recent_.end();
    if (is_miss && recent_.size() < lines) recent_.push_back(line);
    const auto last = is_miss ? recent_.end() - 1 : found;
    std::move_backward(recent_.begin(), last, last + 1);
    recent_.front() = line;
    return is_miss;
  }

 private:
  std::vector<int> recent_;  ///< the last one used comes first
};

/// A row-major matrix whose elements are accessed through a cache, if there is one.
class Matrix {
 public:
  Matrix(std::string name, int rows, int columns, std::vector<float> elements, Cache* cache,
         int first_line)
      : name_(std::move(name)),
        rows_(rows),
        columns_(columns),
        elements_(std::move(elements)),
        cache_(cache),
        first_line_(first_line) {}
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  float& operator()(int row, int column) { return elements_[index(row, column)]; }
  float operator()(int row, int column) const { return elements_[index(row, column)]; }

  const std::vector<float>& elements() const { return elements_; }
  double misses() const { return misses_; }
  const std::string& name() const { return name_; }

 private:
  int index(int row, int column) const {
    expect(row >= 0 && row < rows_ && column >= 0 && column < columns_, "An access to row ", row,
           ", column ", column, " is outside of ", name_, ", which is ", rows_, " x ", columns_,
           ".");
    const int place = row * columns_ + column;
    if (cache_ != nullptr) misses_ += cache_->access(first_line_ + place / Cache::floats_per_line);
    return place;
  }

  std::string name_;
  int rows_, columns_;
  std::vector<float> elements_;
  Cache* cache_;
  int first_line_;
  mutable double misses_ = 0;
};

/// Multiplies two matrices, and ends the check if the result is wrong or misses too often.
void check_product(int m, int n, int k, Cache* cache) {
  const int far = 1 << 20;
  const std::vector<float> nothing(m * n, NAN);
  const Matrix a("A", m, k, numbers(m * k, 1), cache, 0);
  const Matrix b("B", k, n, numbers(k * n, 2), cache, far);
  Matrix c("C", m, n, nothing, cache, 2 * far);
  multiply(m, n, k, a, b, c);

  const std::string what = say("For a product of ", m, " x ", k, " and ", k, " x ", n);
  expect_set(c.elements(), what, n, ", or something was added to what was there before");
  expect_equal(c.elements(), product_of(m, n, k, a.elements(), b.elements()), what, n);
  if (cache == nullptr) return;

  const double all = a.misses() + b.misses() + c.misses();
  const double ratio = all / (static_cast<double>(m) * n * k);
  if (ratio <= 0.1) return;
  const Matrix* worst = &a;
  for (const Matrix* const other : {&b, static_cast<const Matrix*>(&c)}) {
    if (other->misses() > worst->misses()) worst = other;
  }
  const double share = worst->misses() / all;
  const std::string most =
      say(share > 0.9 ? ", nearly all" : ", most", " of them for ", worst->name());
  fail(what, ", there are ", ratio, " misses per multiplication", share > 0.45 ? most : "",
       "; at most 0.1 if the innermost loop goes along rows.");
}

}  // namespace

void check() {
  const int sizes[][3] = {{3, 5, 4}, {1, 1, 1}, {1, 7, 33}, {31, 1, 2}, {17, 40, 1}, {33, 20, 70}};
  for (const auto& [m, n, k] : sizes) check_product(m, n, k, nullptr);
  pass("the products are right, for six sizes");

  for (const auto& [m, n, k] : {std::array{90, 112, 80}, std::array{75, 127, 101}}) {
    Cache cache;
    check_product(m, n, k, &cache);
  }
  pass("at most every tenth multiplication waits for memory");
}

}  // namespace exercise
