/// @file
/// The mistakes, by name: each is a function that makes it or, cured, does the same work in the
/// right way. What is reported is in NAME.txt.
#pragma once

#include <map>
#include <string>

namespace mistakes {

using Mistakes = std::map<std::string, void (*)(bool cured)>;

Mistakes of_barriers();
Mistakes of_memory();
Mistakes of_order();
Mistakes of_launches();

}  // namespace mistakes
