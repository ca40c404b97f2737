#include "network/print.hpp"

namespace stagewise {
namespace {

/// The names; of many, the first two and the last.
std::string list_of(const Program& program, const std::vector<ValueId>& ids) {
  constexpr std::size_t many = 6;
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) text += ", ";
    if (ids.size() > many && i == 2) {
      text += "..., ";
      i = ids.size() - 1;
    }
    text += program[ids[i]].name;
  }
  return text;
}

}  // namespace

std::string operands_text(const Program& program, const Operation& operation) {
  return list_of(program, read_by(operation)) + " -> " + list_of(program, written_by(operation));
}

std::string replaced_text(const Line& line) {
  std::string text;
  for (std::size_t i = 0; i < line.replaces.size();) {
    const std::string name = name_of(line.replaces[i]);
    std::size_t end = i + 1;
    while (end < line.replaces.size() && name_of(line.replaces[end]) == name) ++end;
    if (!text.empty()) text += ' ';
    text += name;
    if (end - i > 1) text += " x" + std::to_string(end - i);
    i = end;
  }
  return text;
}

}  // namespace stagewise
