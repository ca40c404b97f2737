#include <array>
#include <cctype>
#include <optional>
#include <regex>
#include <utility>

#include "finders.hpp"

namespace cuda_on_cpu {
namespace {

/// What an asm statement consists of.
struct Statement {
  std::string instructions;
  std::vector<std::string> operands;  ///< `(lane)` of `"=r"(lane)`, as %0, %1, ... number them
  std::size_t end;
};

/// Reads the asm statement that begins at a token.
class Reader {
 public:
  Reader(const Tokens& tokens, std::size_t place) : tokens_(tokens), i_(place) {}

  std::optional<Statement> read() {
    advance();
    while (is("volatile") || is("__volatile__")) advance();
    if (!is("(")) return std::nullopt;
    advance();
    Statement statement;
    for (; i_ < tokens_.size() && tokens_[i_].kind == TokenKind::literal; advance()) {
      statement.instructions += unquoted(tokens_[i_].text);
    }
    // Results, operands and what is overwritten, each behind a colon.
    for (int section = 0; i_ < tokens_.size() && !is(")");) {
      if (is(":") || is("::")) {
        section += is("::") ? 2 : 1;
        advance();
      } else if (section < 3 && !is(",")) {
        const std::optional<std::string> operand = read_operand();
        if (!operand) return std::nullopt;
        statement.operands.push_back(*operand);
      } else {
        advance();
      }
    }
    if (i_ == none) return std::nullopt;
    statement.end = i_ + 1;
    return statement;
  }

 private:
  bool is(std::string_view wanted) const { return tokens_.is(i_, wanted); }
  void advance() { i_ = tokens_.next(i_); }

  std::optional<std::string> read_operand() {
    if (tokens_[i_].kind != TokenKind::literal) return std::nullopt;  // a name in brackets
    advance();
    if (!is("(")) return std::nullopt;
    std::string expression;
    for (int depth = 0; i_ < tokens_.size(); ++i_) {
      if (tokens_.opens(i_)) ++depth;
      if (tokens_.closes(i_)) --depth;
      expression += tokens_[i_].kind == TokenKind::space ? " " : tokens_[i_].text;
      if (depth == 0) break;
    }
    advance();
    return expression;
  }

  /// With a blank for each escape: \n and \t separate instructions.
  static std::string unquoted(std::string_view literal) {
    std::string text;
    for (std::size_t i = literal.find('"') + 1; i + 1 < literal.size(); ++i) {
      const bool escapes = literal[i] == '\\';
      if (escapes) ++i;
      text += escapes ? ' ' : literal[i];
    }
    return text;
  }

  const Tokens& tokens_;
  std::size_t i_;
};

/// Without blanks and semicolons at its ends, and one blank within for several.
std::string tidy(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool is_blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!is_blank) result += c;
    if (is_blank && !result.empty() && result.back() != ' ') result += ' ';
  }
  while (!result.empty() && (result.back() == ' ' || result.back() == ';')) result.pop_back();
  return result;
}

/// The operands of `{%0, %1}` or `%0`, joined by commas.
std::optional<std::string> list(const std::string& group, const Statement& statement) {
  static const std::regex number(R"(%(\d+))");
  std::string result;
  for (std::sregex_iterator found(group.begin(), group.end(), number), end; found != end; ++found) {
    const std::size_t operand = std::stoul((*found)[1]);
    if (operand >= statement.operands.size()) return std::nullopt;
    result += (result.empty() ? "" : ", ") + statement.operands[operand];
  }
  return result;
}

/// `mov.u32 %0, %laneid`: what a thread can ask about itself and its surroundings.
std::optional<std::string> special_register(const Statement& statement) {
  static const std::regex move(R"(mov\.[us](?:32|64) %0, ?%%?([a-z_0-9.]+))");
  static const std::map<std::string, std::string> registers = {
      {"laneid", "::cuda_on_cpu::own_lane()"},
      {"warpid", "::cuda_on_cpu::thread_in_block() / 32"},
      {"nwarpid", "(blockDim.x * blockDim.y * blockDim.z + 31) / 32"},
      {"smid", "0U"},
      {"lanemask_eq", "1U << ::cuda_on_cpu::own_lane()"},
      {"lanemask_lt", "(1U << ::cuda_on_cpu::own_lane()) - 1U"},
      {"lanemask_le", "(2U << ::cuda_on_cpu::own_lane()) - 1U"},
      {"lanemask_gt", "~((2U << ::cuda_on_cpu::own_lane()) - 1U)"},
      {"lanemask_ge", "~((1U << ::cuda_on_cpu::own_lane()) - 1U)"},
      {"clock", "static_cast<unsigned>(clock64())"},
      {"clock64", "clock64()"},
      {"globaltimer", "clock64()"},
      {"tid.x", "threadIdx.x"},
      {"tid.y", "threadIdx.y"},
      {"tid.z", "threadIdx.z"},
      {"ntid.x", "blockDim.x"},
      {"ntid.y", "blockDim.y"},
      {"ntid.z", "blockDim.z"},
      {"ctaid.x", "blockIdx.x"},
      {"ctaid.y", "blockIdx.y"},
      {"ctaid.z", "blockIdx.z"},
      {"nctaid.x", "gridDim.x"},
      {"nctaid.y", "gridDim.y"},
      {"nctaid.z", "gridDim.z"}};
  std::smatch match;
  const std::string text = tidy(statement.instructions);
  if (statement.operands.size() != 1 || !std::regex_match(text, match, move)) return std::nullopt;
  const auto found = registers.find(match[1]);
  if (found == registers.end()) return std::nullopt;
  return statement.operands[0] + " = " + found->second;
}

/// A product that tensor cores compute: types of the result, of both factors and of the summand.
struct Product {
  std::string_view types;
  std::string_view factor;  ///< what the runtime calls it
  std::string_view sum;
  std::array<std::string_view, 4> shapes;
};

constexpr std::array products = {
    Product{"f64.f64.f64.f64", "Binary64", "double", {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"}},
    Product{"f32.tf32.tf32.f32", "Tensor32", "float", {"m16n8k4", "m16n8k8"}},
    Product{"f32.bf16.bf16.f32", "Brain16", "float", {"m16n8k8", "m16n8k16"}},
    Product{"f32.f16.f16.f32", "Binary16", "float", {"m16n8k8", "m16n8k16"}},
    Product{"f16.f16.f16.f16", "Binary16", "::cuda_on_cpu::Binary16", {"m16n8k8", "m16n8k16"}},
    Product{"s32.s8.s8.s32", "Signed8", "int", {"m8n8k16", "m16n8k16", "m16n8k32"}},
    Product{"s32.u8.u8.s32", "Unsigned8", "int", {"m8n8k16", "m16n8k16", "m16n8k32"}}};

std::optional<std::string> product(const Statement& statement) {
  static const std::regex form(R"(mma\.sync\.aligned\.(m(\d+)n(\d+)k(\d+))\.row\.col\.)"
                               R"(([a-z]+\d+\.[a-z]+\d+\.[a-z]+\d+\.[a-z]+\d+) ?(.*))");
  static const std::regex group(R"(\{[^}]*\}|%\d+)");
  std::smatch match;
  const std::string text = tidy(statement.instructions);
  if (!std::regex_match(text, match, form)) return std::nullopt;
  const std::string shape = match[1];
  const std::string types = match[5];
  const std::string rest = match[6];
  std::vector<std::string> groups;
  for (std::sregex_iterator found(rest.begin(), rest.end(), group), end; found != end; ++found) {
    const std::optional<std::string> operands = list(found->str(), statement);
    if (!operands) return std::nullopt;
    groups.push_back(*operands);
  }
  for (const Product& known : products) {
    if (types != known.types || groups.size() != 4) continue;
    for (const std::string_view possible : known.shapes) {
      if (shape != possible) continue;
      return "::cuda_on_cpu::multiply_matrices<" + match[2].str() + ", " + match[3].str() + ", " + match[4].str() +
             ", ::cuda_on_cpu::" + std::string(known.factor) + ", " + std::string(known.sum) +
             ">(::cuda_on_cpu::results(" + groups[0] + "), ::cuda_on_cpu::registers(" + groups[1] +
             "), ::cuda_on_cpu::registers(" + groups[2] + "), ::cuda_on_cpu::registers(" + groups[3] + "))";
    }
  }
  return std::nullopt;
}

}  // namespace

std::map<std::size_t, InlinePtx> find_inline_ptx(const Tokens& tokens, const std::vector<DeviceFunction>& functions) {
  std::map<std::size_t, InlinePtx> found;
  for (const DeviceFunction& function : functions) {
    for (std::size_t i = function.body.first; i < function.body.end; ++i) {
      if (!tokens.is_any(i, {"asm", "__asm__", "__asm"})) continue;
      const std::optional<Statement> statement = Reader(tokens, i).read();
      if (!statement) continue;
      std::optional<std::string> replacement = special_register(*statement);
      if (!replacement) replacement = product(*statement);
      if (replacement) found[i] = {statement->end, *std::move(replacement)};
    }
  }
  return found;
}

}  // namespace cuda_on_cpu
