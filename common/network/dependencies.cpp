#include "network/dependencies.hpp"

#include <algorithm>
#include <map>

namespace stagewise {

Dependencies::Dependencies(const Program& program) : of_(program.lines.size()), follows_(program.lines.size()) {
  struct Accesses {
    std::vector<std::size_t> writers;
    std::vector<std::size_t> readers;  ///< since the last writer
  };
  std::map<ValueId, Accesses> accesses;  // by memory
  for (std::size_t i = 0; i < program.lines.size(); ++i) {
    std::vector<std::size_t>& of = of_[i];
    const auto wait_for = [&](const std::vector<std::size_t>& lines) {
      of.insert(of.end(), lines.begin(), lines.end());
    };
    for_each_operand(program.lines[i].operation, [&](ValueId id, Use use) {
      const Accesses& there = accesses[program.memory_of(id)];
      wait_for(there.writers);
      if (use != Use::reads) wait_for(there.readers);
    });
    for_each_operand(program.lines[i].operation, [&](ValueId id, Use use) {
      Accesses& there = accesses[program.memory_of(id)];
      if (use == Use::reads) {
        there.readers.push_back(i);
      } else {
        there = {.writers = {i}, .readers = {}};
      }
    });
    std::sort(of.begin(), of.end());
    of.erase(std::unique(of.begin(), of.end()), of.end());
    std::erase(of, i);

    follows_[i].resize(program.lines.size());
    for (const std::size_t before : of) {
      follows_[i][before] = true;
      for (std::size_t k = 0; k < before; ++k) {
        if (follows_[before][k]) follows_[i][k] = true;
      }
    }
  }
}

}  // namespace stagewise
