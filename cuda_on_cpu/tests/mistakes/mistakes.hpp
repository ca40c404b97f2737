/// @file
/// The mistakes, by name.
#pragma once

#include <map>
#include <string>

namespace mistakes {

/// What the program knows by this name: a function that makes a mistake or, cured, does the same
/// work in the right way. What is reported is in NAME.txt.
class Mistake {
 public:
  using Function = void (*)(bool cured);

  Mistake(const char* name, Function make) { all()[name] = make; }

  static std::map<std::string, Function>& all() {
    static std::map<std::string, Function> mistakes;
    return mistakes;
  }
};

}  // namespace mistakes
