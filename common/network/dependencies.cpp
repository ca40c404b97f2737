#include "network/dependencies.hpp"

#include <algorithm>
#include <map>

namespace stagewise {

Dependencies::Dependencies(const Program& program)
    : of_(program.lines.size()), follows_(program.lines.size()) {
  struct Accesses {
    std::vector<std::size_t> writers;
    std::vector<std::size_t> readers;  ///< since the last writer
  };
  // By memory, then by the slice's first row; a negative row stands for the whole value.
  std::map<ValueId, std::map<Index, Accesses>> accesses;
  for (std::size_t i = 0; i < program.lines.size(); ++i) {
    std::vector<std::size_t>& of = of_[i];
    const auto wait_for = [&](const std::vector<std::size_t>& lines) {
      of.insert(of.end(), lines.begin(), lines.end());
    };
    for_each_operand(program.lines[i].operation, [&](ValueId id, Use use) {
      const Index own = program[id].first_row;
      for (const auto& [row, there] : accesses[program.memory_of(id)]) {
        if (row >= 0 && own >= 0 && row != own) continue;  // another slice
        wait_for(there.writers);
        if (use != Use::reads) wait_for(there.readers);
      }
    });
    for_each_operand(program.lines[i].operation, [&](ValueId id, Use use) {
      auto& of_memory = accesses[program.memory_of(id)];
      const Index own = program[id].first_row;
      if (use == Use::reads) {
        of_memory[own].readers.push_back(i);
        return;
      }
      if (own < 0) of_memory.clear();  // all slices are written, too
      of_memory[own] = {.writers = {i}, .readers = {}};
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
