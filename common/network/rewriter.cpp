#include "network/rewriter.hpp"

#include <algorithm>
#include <type_traits>

namespace stagewise {
namespace {

/// Whether one of these values, or lines, is this one.
template <typename T>
bool contains(const std::vector<T>& all, const std::type_identity_t<T>& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

std::optional<std::size_t> Rewriter::writer_of(ValueId value) const {
  for (std::size_t i = 0; i < size(); ++i) {
    bool writes = false;
    for_each_operand(program_.lines[i].operation,
                     [&](ValueId id, Use use) { writes = writes || (id == value && use == Use::writes); });
    if (writes) return i;
  }
  return std::nullopt;
}

std::vector<std::size_t> Rewriter::readers_of(ValueId value) const {
  std::vector<std::size_t> readers;
  for (std::size_t i = 0; i < size(); ++i) {
    if (contains(read_by(program_.lines[i].operation), value)) readers.push_back(i);
  }
  return readers;
}

/// Whether one of the two writes where the other reads or writes.
bool Rewriter::must_follow(std::size_t later, std::size_t earlier) const {
  bool conflicts = false;
  for_each_operand(program_.lines[earlier].operation, [&](ValueId one, Use use) {
    for_each_operand(program_.lines[later].operation, [&](ValueId other, Use other_use) {
      const bool only_read = use == Use::reads && other_use == Use::reads;
      conflicts = conflicts || (!only_read && program_.overlap(one, other));
    });
  });
  return conflicts;
}

bool Rewriter::hides_a_value(const std::vector<std::size_t>& members, const std::vector<ValueId>& still_written) const {
  for (const std::size_t member : members) {
    for (const ValueId id : written_by(program_.lines[member].operation)) {
      if (!contains(still_written, id) && is_read(program_, id, members)) return true;
    }
  }
  return false;
}

//! [fuse]
std::optional<std::size_t> Rewriter::fuse(std::vector<std::size_t> members, Operation fused,
                                          const std::vector<ValueId>& split_off) {
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  std::vector<ValueId> still_written = written_by(fused);
  still_written.insert(still_written.end(), split_off.begin(), split_off.end());
  if (hides_a_value(members, still_written)) return std::nullopt;

  // What comes right after a member, and what, by way of others or not, before one: nothing may be
  // both. All that need not come before may come after.
  const auto is_any = [&](const std::vector<std::size_t>& lines, const auto& test) {
    return std::any_of(lines.begin(), lines.end(), test);
  };
  std::vector<std::size_t> following;
  std::vector<std::size_t> needed;
  for (std::size_t i = members.front(); i <= members.back(); ++i) {
    if (contains(members, i)) continue;
    const auto follows = [&](std::size_t earlier) { return earlier < i && must_follow(i, earlier); };
    if (is_any(members, follows)) following.push_back(i);
  }
  for (std::size_t i = members.back() + 1; i-- > members.front();) {
    if (contains(members, i)) continue;
    const auto needs = [&](std::size_t later) { return later > i && must_follow(later, i); };
    if (!is_any(members, needs) && !is_any(needed, needs)) continue;
    if (contains(following, i)) return std::nullopt;
    needed.push_back(i);
  }
  std::vector<std::size_t> before;
  std::vector<std::size_t> after;
  for (std::size_t i = members.front(); i <= members.back(); ++i) {
    (contains(needed, i) ? before : after).push_back(i);
  }

  Line line{.operation = std::move(fused)};
  std::vector<Line> lines;
  for (const std::size_t i : before) lines.push_back(std::move(program_.lines[i]));
  const std::size_t place = lines.size();
  lines.emplace_back();
  for (const std::size_t i : after) {
    Line& old = program_.lines[i];
    if (!contains(members, i)) {
      lines.push_back(std::move(old));
    } else if (old.replaces.empty()) {
      line.replaces.push_back(std::move(old.operation));
    } else {
      line.replaces.insert(line.replaces.end(), old.replaces.begin(), old.replaces.end());
    }
  }
  lines[place] = std::move(line);
  const auto begin = program_.lines.begin() + static_cast<std::ptrdiff_t>(members.front());
  const auto end = program_.lines.begin() + static_cast<std::ptrdiff_t>(members.back()) + 1;
  const auto rest = program_.lines.erase(begin, end);
  program_.lines.insert(rest, std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
  return members.front() + place;
}
//! [fuse]

void Rewriter::replace(std::size_t line, Operation operation, const std::vector<Operation>& also) {
  Line& old = program_.lines[line];
  old.operation = std::move(operation);
  old.replaces.insert(old.replaces.begin(), also.begin(), also.end());
}

}  // namespace stagewise
