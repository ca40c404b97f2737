#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <set>

#include "finders.hpp"

namespace cuda_on_cpu {
namespace {

/// A declaration in no class and no function of something with parentheses.
struct Declaration {
  std::string space;  ///< the namespaces around it, "a::b::"
  std::size_t name_at;
  Range parameters;
  Range body;               ///< empty if there is none
  bool is_simple;           ///< a function, neither a template nor constexpr nor a member
  bool is_device, is_host;  ///< what it runs on
};

/// Looks for wrong calls.
class Checker {
 public:
  explicit Checker(const Tokens& tokens) {
    std::copy_if(tokens.begin(), tokens.end(), std::back_inserter(tokens_),
                 [](const Token& token) { return token.kind != TokenKind::space; });
    functions_ = find_device_functions(tokens_);
    find_declarations(0, tokens_.size(), "");
  }

  void check() const {
    for (const DeviceFunction& function : functions_) {
      if (function.is_kernel) check_kernel(function);
      if (!function.is_host && !function.is_template) check_streams(function);
      if (!function.is_host) check_variables(function);
    }
    for (std::size_t i = 2; i < tokens_.size(); ++i) {
      if (is_any(i, {"__device__", "__host__"}) && is(i - 1, "]")) check_captures(i - 1);
    }
    for (const auto& [place, caller] : declarations_) {
      if (!caller.is_simple || caller.is_device == caller.is_host) continue;
      for (std::size_t i = caller.body.first; i < caller.body.end; ++i) {
        if (caller.is_host && is(i, "__device__")) break;  // a lambda for a kernel
        if (tokens_.is_word(i) && is(i + 1, "(")) check_call(i, caller);
        if (caller.is_host && is_launch(i)) check_launch(i);
      }
    }
  }

 private:
  bool is(std::size_t place, std::string_view wanted) const { return tokens_.is(place, wanted); }
  bool is_any(std::size_t place, std::initializer_list<std::string_view> wanted) const {
    return tokens_.is_any(place, wanted);
  }

  /// Behind the bracket that closes the one here.
  std::size_t behind(std::size_t open) const { return std::min(tokens_.close_of(open) + 1, tokens_.size()); }

  /// The innermost bracket that is open here; the first token if there is none.
  std::size_t open_around(std::size_t i) const {
    std::size_t depth = 0;
    while (i-- > 0) {
      if (tokens_.closes(i)) ++depth;
      if (tokens_.opens(i) && depth-- == 0) return i;
    }
    return 0;
  }

  /// The words and symbols of the statement up to this one.
  std::set<std::string_view> words_before(std::size_t i) const {
    std::set<std::string_view> words;
    while (i-- > 0 && !is_any(i, {";", "{", "}"}) && tokens_.at(i).kind != TokenKind::directive)
      words.insert(tokens_.at(i).text);
    return words;
  }

  static bool contains_any(const std::set<std::string_view>& words, std::initializer_list<std::string_view> wanted) {
    return std::any_of(wanted.begin(), wanted.end(), [&](std::string_view word) { return words.contains(word); });
  }

  void find_declarations(std::size_t first, std::size_t end, const std::string& space) {
    for (std::size_t i = first; i < end; ++i) {
      if (is(i, "{")) {
        const std::size_t close = behind(i) - 1;
        const auto words = words_before(i);
        if (contains_any(words, {"namespace", "extern"}) && !contains_any(words, {"(", "="}))
          find_declarations(i + 1, close, space + name_of_space(i));
        i = close;
      } else if (is_any(i, {"(", "["})) {
        i = behind(i) - 1;
      } else if (tokens_.is_word(i) && is(i + 1, "(")) {
        declarations_.insert({i, declaration(i, space)});
      } else if (tokens_.is_word(i) && is_any(i + 1, {"=", ";", "[", "{"})) {
        find_variable(i);
      }
    }
  }

  /// Of the host, unless kernels may name it: what is const, and no array, has its value there, too.
  void find_variable(std::size_t name) {
    const auto words = words_before(name);
    if (!(tokens_.is_word(name - 1) || is_any(name - 1, {"*", ">"})) ||
        contains_any(words, {"=", "using", "namespace", "struct", "class", "union", "enum", "typedef", "template",
                             "operator", "(", "&", ",", "concept", "friend", "asm"}))
      return;
    const bool is_constant =
        words.contains("const") && (is(name - 1, "const") || !words.contains("*")) && !is(name + 1, "[");
    const bool is_of_host =
        !is_constant && !contains_any(words, {"__device__", "__constant__", "__managed__", "__shared__", "constexpr"});
    const auto known = variables_.try_emplace(tokens_.at(name).text, is_of_host).first;
    known->second = known->second && is_of_host;
  }

  /// Refuses variables of the host in device code, unless something there may have the same name.
  void check_variables(const DeviceFunction& function) const {
    const std::size_t brace = open_around(function.name_at);
    const auto around = words_before(function.name_at);
    if (is(function.name_at - 1, "::") || contains_any(words_before(brace), {"class", "struct", "union"}) ||
        around.contains("operator") || tokens_.contains(function.body, "enum"))
      return;
    for (std::size_t i = function.body.first; i < function.body.end; ++i) {
      const auto found = variables_.find(tokens_.at(i).text);
      if (found == variables_.end() || !found->second || !is_used(i)) continue;
      bool is_other = around.contains(found->first) || tokens_.contains(function.parameters, found->first);
      for (std::size_t j = function.body.first; j < function.body.end; ++j)
        is_other = is_other || (is(j, found->first) && is_declared(j));
      if (is_other) continue;
      refuse(tokens_.at(i), described(function.name, function.is_kernel) + " uses '" + std::string(found->first) +
                                "', a variable of the host; hand it over as an argument, or declare it __device__ or "
                                "__constant__");
    }
  }

  /// Is the name certainly a variable's value here?
  bool is_used(std::size_t i) const {
    return tokens_.is_word(i) && !is_any(i + 1, {"::", "("}) && !is_any(i - 2, {"sizeof", "decltype"}) &&
           is_any(i - 1, {"+", "-", "*", "/", "%", "=", "<", ">", "[", "(",
                          "{", "!", "|", "?", ":", ",", ";", "}", ")", "return"});
  }

  /// May the name be declared here?
  bool is_declared(std::size_t i) const {
    if (tokens_.is_word(i - 1)) return !is_any(i - 1, {"return", "else", "case"});
    if (is_any(i - 1, {"*", "&"})) {  // a product, or a pointer
      return is_any(i - 2, {"int", "float", "double", "char", "bool", "auto", "unsigned", "long", "short", "const", ",",
                            "&", "*", ">"}) ||
             (tokens_.is_word(i - 2) && is_any(i - 3, {";", "{", "}", "const", "::", ","}));
    }
    if (is(i - 1, ",")) {
      const std::size_t open = open_around(i);
      return is(open, "{") || is_any(open - 1, {"for", "auto", "&"});
    }
    return is(i - 1, "[") ? is_any(i - 2, {"auto", "&"}) || is(i + 1, "=")
                          : is(i - 1, ">") && is_any(i + 1, {"=", ";", ",", "[", "{", "("});
  }

  std::string name_of_space(std::size_t brace) const {
    std::string name;
    for (std::size_t i = brace; i-- > 0 && !is(i, "namespace");) {
      if (is_any(i, {";", "{", "}"}) || tokens_.at(i).kind == TokenKind::literal) return "";  // extern "C"
      name.insert(0, tokens_.at(i).text);
    }
    return name + "::";
  }

  Declaration declaration(std::size_t i, const std::string& space) const {
    const auto words = words_before(i);
    const std::size_t close = behind(i + 1);
    const bool is_behind_type = i > 0 && (tokens_.is_word(i - 1) || is_any(i - 1, {"*", "&", ">", ")"}));
    const bool is_simple = is_behind_type && !contains_any(words, {"template", "constexpr", "consteval", "operator",
                                                                   "friend", "using", "typedef", "=", ":"});
    const bool is_device = contains_any(words, {"__device__", "__global__"});
    const bool is_host = !is_device || words.contains("__host__");
    const Range parameters = {i + 2, close - 1};
    const Range body = {close + 1, is(close, "{") ? behind(close) - 1 : close + 1};
    return {space, i, parameters, body, is_simple, is_device, is_host};
  }

  /// How many there are between these parentheses; -1 if that is not certain.
  int count_arguments(Range range) const {
    if (range.first == range.end || (range.end == range.first + 1 && is(range.first, "void"))) return 0;
    int count = 1;
    bool has_templates = false;
    for (std::size_t i = range.first; i < range.end; ++i) {
      if (is(i, "=") || (is(i, ".") && is(i + 1, "."))) return -1;
      if (tokens_.opens(i)) i = behind(i) - 1;
      if (is(i, "<")) has_templates = true;
      if (is(i, ",")) ++count;
    }
    return has_templates && count > 1 ? -1 : count;
  }

  /// Does a call begin with this name for sure, and not a declaration?
  bool is_called(std::size_t i) const {
    if (i == 0 || !is(i + 1, "(")) return false;
    const auto words = words_before(i);
    if (contains_any(words, {"decltype", "sizeof", "noexcept", "typeid", "static_assert", "using", "typedef", "friend",
                             "template", "concept", "requires"})) {
      return false;
    }
    const std::size_t before = i - 1;
    if (is_any(before, {";", "{", "}", "(", "=", "+", "-", "/", "%", "!", "|", "^", "~", "?", "return", "else", "do",
                        "throw"})) {
      return true;
    }
    if (is(before, ":")) return contains_any(words, {"?", "case"});
    if (is(before, ",")) return is_argument(i);
    if (is_any(before, {"*", "&"})) return before > 0 && is_operand(before - 1);
    if (!is(before, ")")) return false;
    return is_any(open_around(before) - 1, {"if", "for", "while"});
  }

  /// Is what stands here between the parentheses of a call?
  bool is_argument(std::size_t i) const {
    const std::size_t open = open_around(i);
    return open > 0 && is(open, "(") && tokens_.is_word(open - 1) &&
           !is_any(open - 1, {"for", "if", "while", "switch", "catch"});
  }

  /// Can no type end here?
  bool is_operand(std::size_t i) const { return tokens_.at(i).kind == TokenKind::number || is(i, "]"); }

  /// Does a launch begin with this name?
  bool is_launch(std::size_t i) const {
    return tokens_.is_word(i) && is(i + 1, "<") && is(i + 2, "<") && is(i + 3, "<");
  }

  /// Is the name, wherever the program has it, that of calls and launches?
  bool is_of_calls_only(std::string_view name) const {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!is(i, name) || declarations_.contains(i) || is_called(i)) continue;
      const bool is_in_std = i > 1 && is(i - 1, "::") && is(i - 2, "std") && is(i + 1, "(");
      if (!is_launch(i) && !is_in_std) return false;
    }
    return true;
  }

  /// The function that the name certainly stands for in a call by this caller; else null.
  const Declaration* callee_of(std::size_t call, const Declaration& caller) const {
    const Declaration* found = nullptr;
    const int count = count_arguments({call + 2, behind(call + 1) - 1});
    for (const auto& [place, declared] : declarations_) {
      if (tokens_.at(place).text != tokens_.at(call).text) continue;
      const bool is_other = found != nullptr && (declared.is_device != found->is_device ||
                                                 declared.is_host != found->is_host || declared.space != found->space);
      if (is_other || !declared.is_simple || !caller.space.starts_with(declared.space) || count < 0 ||
          count_arguments(declared.parameters) != count) {
        return nullptr;
      }
      found = &declared;
    }
    if (found == nullptr || !is_of_calls_only(tokens_.at(call).text) ||
        has_function_in_headers(tokens_, tokens_.at(call).text))
      return nullptr;
    return found;
  }

  void check_kernel(const DeviceFunction& kernel) const {
    const std::string sentence = "the kernel '" + std::string(kernel.name) + "' ";
    const std::size_t brace = open_around(kernel.name_at);
    if (is(brace, "{") && contains_any(words_before(brace), {"class", "struct"}) &&
        !words_before(kernel.name_at).contains("friend"))
      refuse(tokens_[kernel.name_at], sentence + "is a member of a class, which none may be; declare it outside");
    for (std::size_t i = kernel.parameters.first; i < kernel.parameters.end; ++i) {
      if (is(i, "&") && is(i + 1, "&"))
        refuse(tokens_[i], sentence + "takes an argument by &&, which none may; take it by value");
    }
    const auto words = words_before(kernel.name_at);
    if (!contains_any(words, {"void", "auto", "template"}) &&
        contains_any(words, {"int", "float", "double", "bool", "char", "unsigned", "long", "short"})) {
      refuse(tokens_[kernel.name_at], sentence + "returns something, but a kernel must be void");
    }
  }

  /// A lambda of the host for a kernel, whose captures end here.
  void check_captures(std::size_t close) const {
    const bool is_in_kernel = std::any_of(functions_.begin(), functions_.end(), [&](const DeviceFunction& function) {
      return !function.is_host && function.body.first <= close && close < function.body.end;
    });
    if (is_in_kernel) return;
    for (std::size_t i = close - 1; i > 0 && !is_any(i, {"]", ";", "{", "}"}); --i) {
      if (is(i, "&") && is_any(i - 1, {"[", ","}))
        refuse(tokens_.at(i),
               "a __device__ lambda cannot capture by reference: a GPU has none of the host's variables; "
               "capture by value, [=]");
      if (is(i, "[")) return;
    }
  }

  static std::string described(std::string_view name, bool is_kernel) {
    return (is_kernel ? "the kernel '" : "the device function '") + std::string(name) + "'";
  }

  void check_streams(const DeviceFunction& function) const {
    for (std::size_t i = function.body.first; i < function.body.end; ++i) {
      if (is(i, "cout") && is(i - 1, "::") && is(i - 2, "std"))
        refuse(tokens_.at(i), described(function.name, function.is_kernel) +
                                  " uses std::cout, which is the host's; in a kernel, write printf()");
    }
  }

  /// A function of the standard library, which the program has none of its own of.
  bool is_of_library(std::size_t call) const {
    static const std::set<std::string_view> names = {"rand",
                                                     "srand",
                                                     "fprintf",
                                                     "sprintf",
                                                     "puts",
                                                     "snprintf",
                                                     "system",
                                                     "getenv",
                                                     "cudaMemcpy",
                                                     "cudaMemset",
                                                     "cudaMallocManaged",
                                                     "cudaMallocHost",
                                                     "cudaFreeHost",
                                                     "cudaSetDevice",
                                                     "cudaDeviceReset",
                                                     "cudaStreamCreate",
                                                     "cudaEventCreate",
                                                     "cudaMemcpyToSymbol",
                                                     "cudaMemcpyFromSymbol",
                                                     "cudaEventElapsedTime"};
    const std::string_view name = tokens_.at(call).text;
    return names.contains(name) && is_of_calls_only(name) &&
           std::none_of(declarations_.begin(), declarations_.end(),
                        [&](const auto& declared) { return tokens_.at(declared.first).text == name; });
  }

  void check_call(std::size_t call, const Declaration& caller) const {
    const std::string name(tokens_.at(call).text);
    const std::string caller_name(tokens_.at(caller.name_at).text);
    const std::string device_caller = described(caller_name, words_before(caller.name_at).contains("__global__"));
    if (caller.is_device && is_of_library(call))
      refuse(tokens_.at(call), device_caller + " calls '" + name + "', a function of the host, which no GPU has");
    if (caller.is_device && tokens_.is_any(call, {"cudaDeviceSynchronize", "cudaThreadSynchronize",
                                                  "cudaStreamSynchronize", "cudaEventSynchronize"}))
      refuse(tokens_.at(call), device_caller + " calls '" + name +
                                   "', but since CUDA 12 a kernel cannot wait for what it launches; leave it out: "
                                   "its grid ends when all that has");
    const Declaration* const callee = callee_of(call, caller);
    if (callee == nullptr) return;
    if (caller.is_device && !callee->is_device)
      refuse(tokens_.at(call),
             device_caller + " calls '" + name + "', a function of the host; write __device__ before that one");
    if (caller.is_device || callee->is_host) return;
    if (words_before(callee->name_at).contains("__global__"))
      refuse(tokens_.at(call),
             "the kernel '" + name + "' is called like a function; launch it: " + name + "<<<blocks, threads>>>(...)");
    refuse(tokens_.at(call), "'" + caller_name + "' calls '" + name +
                                 "' on the host, but that is __device__; write __host__ __device__ before "
                                 "it");
  }

  /// A launch of a function of which no declaration is one of a kernel.
  void check_launch(std::size_t launch) const {
    const std::string_view name = tokens_.at(launch).text;
    bool is_declared = false;
    for (const auto& [place, declared] : declarations_) {
      if (tokens_.at(place).text != name) continue;
      if (!declared.is_simple || words_before(place).contains("__global__")) return;
      is_declared = true;
    }
    if (!is_declared || is_any(launch - 1, {"::", ".", ">"}) || !is_of_calls_only(name)) return;
    refuse(tokens_.at(launch),
           "'" + std::string(name) + "' is launched, but is no kernel; declare it as __global__ void");
  }

  Tokens tokens_;  ///< without the spaces
  std::vector<DeviceFunction> functions_;
  std::map<std::size_t, Declaration> declarations_;  ///< by the names' places
  std::map<std::string_view, bool> variables_;       ///< of namespaces: is it the host's?
};

}  // namespace

void refuse_wrong_calls(const Tokens& tokens) { Checker(tokens).check(); }

}  // namespace cuda_on_cpu
