#include "network/print.hpp"

#include "network/shard.hpp"

namespace stagewise {
namespace {

/// With the shape behind the name, if it has one.
std::string described(const Value& value, Index rows) {
  if (value.type == Type::totals || (value.role == Role::data && !value.is_batched)) {
    return value.name;
  }
  const Index own_rows = shard_of(rows, value.part.count, value.part.index).rows;
  const Shape shape = value.is_batched ? value.shape.batched(own_rows) : value.shape;
  std::string text = value.name + " [";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += 'x';
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

/// Of many, the first two and the last.
template <typename Text>
std::string list_of(const Program& program, const std::vector<ValueId>& ids, const Text& text_of) {
  constexpr std::size_t many = 6;
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) text += ", ";
    if (ids.size() > many && i == 2) {
      text += "..., ";
      i = ids.size() - 1;
    }
    text += text_of(program[ids[i]]);
  }
  return text;
}

template <typename Text>
std::string operands(const Program& program, const Operation& operation, const Text& text_of) {
  return list_of(program, read_by(operation), text_of) + " -> " +
         list_of(program, written_by(operation), text_of);
}

}  // namespace

std::string operands_text(const Program& program, const Operation& operation) {
  return operands(program, operation, [](const Value& value) { return value.name; });
}

std::string operands_text(const Program& program, const Operation& operation, Index rows) {
  return operands(program, operation,
                  [rows](const Value& value) { return described(value, rows); });
}

std::string line_text(const Program& program, const Line& line) {
  return std::string(name_of(line.operation)) + "  " + operands_text(program, line.operation);
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
