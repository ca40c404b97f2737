/// @file
/// Casts of kernels to pointers, and functions of the runtime as values.
#include <algorithm>
#include <array>
#include <set>

#include "finders.hpp"

namespace cuda_on_cpu {
namespace {

/// Walks over tokens without looking at spaces.
class Walk {
 public:
  Walk(const Tokens& tokens, std::size_t place) : tokens_(&tokens), place_(place) {}

  std::size_t place() const { return place_; }
  bool at_end() const { return place_ == none; }
  bool is(std::string_view wanted) const { return tokens_->is(place_, wanted); }
  bool is_any(std::initializer_list<std::string_view> wanted) const { return tokens_->is_any(place_, wanted); }
  bool is_word() const { return tokens_->is_word(place_); }
  std::string_view text() const { return (*tokens_)[place_].text; }

  void go_on() { place_ = tokens_->next(place_); }
  /// Goes on if the token is this one.
  bool skip(std::string_view wanted) {
    if (!is(wanted)) return false;
    go_on();
    return true;
  }
  /// Goes behind the bracket that closes the one here.
  void skip_brackets(std::string_view open, std::string_view close) {
    std::size_t depth = 0;
    for (; !at_end() && !is_any({";", "{"}); go_on()) {
      if (is(open)) ++depth;
      if (is(close) && --depth == 0) return go_on();
    }
  }

 private:
  const Tokens* tokens_;
  std::size_t place_;
};

/// The names behind __global__: the last word before the parameters.
std::set<std::string_view> kernel_names(const Tokens& tokens) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__global__")) continue;
    std::string_view name;
    Walk walk(tokens, i);
    for (walk.go_on(); !walk.at_end() && !walk.is_any({";", "{"}); walk.go_on()) {
      if (walk.skip("__launch_bounds__")) walk.skip_brackets("(", ")");
      if (walk.is("(")) break;
      if (walk.is_word()) name = walk.text();
    }
    if (!name.empty()) names.insert(name);
  }
  return names;
}

/// Goes over `&space::kernel<float>`. @return whether it is a kernel, and an expression ends behind
/// it.
bool skip_kernel(Walk& walk, const std::set<std::string_view>& kernels) {
  std::string_view name;
  walk.skip("&");
  walk.skip("::");
  while (walk.is_word()) {
    name = walk.text();
    walk.go_on();
    if (walk.is("<")) walk.skip_brackets("<", ">");  // nobody compares a cast kernel
    if (!walk.skip("::")) break;
  }
  return walk.is_any({",", ")", ";", "}"}) && kernels.contains(name);
}

constexpr std::array<std::string_view, 24> with_place = {
    "cudaMalloc",      "cudaMallocAsync",   "cudaMallocManaged", "cudaMallocPitch",   "cudaMallocHost",
    "cudaHostAlloc",   "cudaFree",          "cudaFreeAsync",     "cudaFreeHost",      "cudaMemcpy",
    "cudaMemcpyAsync", "cudaMemcpy2D",      "cudaMemcpy2DAsync", "cudaMemcpyPeer",    "cudaMemcpyPeerAsync",
    "cudaMemset",      "cudaMemsetAsync",   "cudaMemset2D",      "cudaMemset2DAsync", "cudaMalloc3D",
    "cudaMemset3D",    "cudaMemset3DAsync", "cudaMemcpy3D",      "cudaMemcpy3DAsync"};

/// Of the function that has two forms, the one without a pool.
constexpr std::string_view malloc_async =
    "static_cast<cudaError_t (*)(::cuda_on_cpu::PointerTo, std::size_t, cudaStream_t, "
    "::cuda_on_cpu::Place)>(&::cudaMallocAsync)";

}  // namespace

std::map<std::size_t, Cast> find_casts(const Tokens& tokens) {
  std::map<std::size_t, Cast> casts;
  const std::set<std::string_view> kernels = kernel_names(tokens);
  if (kernels.empty()) return casts;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Walk walk(tokens, i);
    const bool is_word = walk.skip("reinterpret_cast");
    if (!walk.skip(is_word ? "<" : "(")) continue;
    const bool is_const = walk.skip("const");
    if (!walk.skip("void") || !walk.skip("*") || !walk.skip(is_word ? ">" : ")")) continue;
    if (is_word && !walk.skip("(")) continue;
    const std::size_t first = walk.place();
    if (!skip_kernel(walk, kernels) || (is_word && !walk.is(")"))) continue;
    const std::size_t last = walk.place();
    casts[i] = {first, last, is_word ? last + 1 : last, is_const};
  }
  return casts;
}

std::string function_value(std::string_view name) {
  if (std::find(with_place.begin(), with_place.end(), name) == with_place.end()) return "";
  const std::string function = name == "cudaMallocAsync" ? std::string(malloc_async) : "&::" + std::string(name);
  return "cuda_on_cpu::WithoutPlace<" + function + ">::call";
}

}  // namespace cuda_on_cpu
