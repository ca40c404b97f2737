#include "network/program.hpp"

#include <algorithm>
#include <stdexcept>

#include "network/shard.hpp"

namespace stagewise {
namespace {

/// Calls `visit(operand, use)` for each operand of an operation, const or not.
template <typename AnyOperation, typename Visit>
void walk_operands(AnyOperation& operation, const Visit& visit) {
  const auto visit_one = [&](auto& operand) {
    if (operand) visit(operand, operand.use);
  };
  const auto visit_member = [&](auto& member) {
    if constexpr (requires { member.begin(); }) {
      for (auto& operand : member) visit_one(operand);
    } else {
      visit_one(member);
    }
  };
  std::visit([&](auto& op) { std::apply([&](auto&... members) { (visit_member(members), ...); }, op.operands(op)); },
             operation);
}

std::vector<ValueId> operands_of(const Operation& operation, Use except) {
  std::vector<ValueId> ids;
  for_each_operand(operation, [&](ValueId id, Use use) {
    if (use != except) ids.push_back(id);
  });
  return ids;
}

/// Whether a value is there before the first line.
bool is_given(const Value& value) {
  return value.role == Role::data || value.role == Role::total || value.role == Role::state || is_parameter(value.role);
}

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
  return list_of(program, read_by(operation), text_of) + " -> " + list_of(program, written_by(operation), text_of);
}

}  // namespace

Program::Program() = default;
Program::Program(std::vector<Value> known) : values(std::move(known)) {}
Program::~Program() = default;
Program::Program(const Program& other) = default;
Program::Program(Program&& other) noexcept = default;
Program& Program::operator=(const Program& other) = default;
Program& Program::operator=(Program&& other) noexcept = default;

ValueId Program::add(Value value) {
  values.push_back(std::move(value));
  return {static_cast<int>(values.size()) - 1};
}

void Program::append(Operation operation) { lines.push_back({std::move(operation)}); }

ValueId Program::memory_of(ValueId id) const {
  while ((*this)[id].memory_of) id = (*this)[id].memory_of;
  return id;
}

bool Program::overlap(ValueId one, ValueId other) const { return memory_of(one) == memory_of(other); }

void visit_operands(const Operation& operation, const VisitOperand& visit) { walk_operands(operation, visit); }

void replace_operands(Operation& operation, const ReplaceOperand& visit) { walk_operands(operation, visit); }

const char* name_of(const Operation& operation) {
  return std::visit([](const auto& op) { return op.name; }, operation);
}

std::vector<ValueId> read_by(const Operation& operation) { return operands_of(operation, Use::writes); }

std::vector<ValueId> written_by(const Operation& operation) { return operands_of(operation, Use::reads); }

bool is_read(const Program& program, ValueId value, const std::vector<std::size_t>& except) {
  for (std::size_t i = 0; i < program.lines.size(); ++i) {
    if (std::find(except.begin(), except.end(), i) != except.end()) continue;
    const std::vector<ValueId> read = read_by(program.lines[i].operation);
    if (std::find(read.begin(), read.end(), value) != read.end()) return true;
  }
  return false;
}

bool is_backward(const Program& program, const Operation& operation) {
  const std::vector<ValueId> written = written_by(operation);
  return std::all_of(written.begin(), written.end(), [&](ValueId id) {
    const Role role = program[id].role;
    return role == Role::gradient || role == Role::state || is_parameter(role);
  });
}

void expect_valid(const Program& program) {
  std::vector<bool> is_there(program.values.size());
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    // A part of a batch that is there is there.
    const ValueId root = program.memory_of({static_cast<int>(i)});
    is_there[i] = is_given(program.values[i]) || is_given(program[root]);
  }
  const auto fail = [&](const Line& line, ValueId id, const std::string& what) {
    throw std::logic_error(std::string(name_of(line.operation)) + " " + what + " " + program[id].name);
  };
  for (const Line& line : program.lines) {
    for (const ValueId id : read_by(line.operation)) {
      if (!is_there[static_cast<std::size_t>(id.index)]) fail(line, id, "reads, too early or late,");
    }
    for_each_operand(line.operation, [&](ValueId id, Use use) {
      if (use != Use::writes) return;
      if (is_there[static_cast<std::size_t>(id.index)] && !is_given(program[id])) {
        fail(line, id, "writes again");
      }
      // Whatever was there is overwritten.
      const bool leaves_it = std::holds_alternative<Replicate>(line.operation);
      for (int i = 0; i < static_cast<int>(program.values.size()); ++i) {
        if (program.overlap({i}, id) && !leaves_it) is_there[static_cast<std::size_t>(i)] = false;
      }
      is_there[static_cast<std::size_t>(id.index)] = true;
    });
  }
}

std::string operands_text(const Program& program, const Operation& operation) {
  return operands(program, operation, [](const Value& value) { return value.name; });
}

std::string operands_text(const Program& program, const Operation& operation, Index rows) {
  return operands(program, operation, [rows](const Value& value) { return described(value, rows); });
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
