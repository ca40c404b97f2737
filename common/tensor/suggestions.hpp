/// @file
/// Suggestions for misspelled names.
#pragma once

#include <string>
#include <vector>

namespace stagewise {

/// The name closest to the text, if the text may be a typo: a letter missing, added, wrong or
/// swapped with its neighbour, or two of these in a long name.
/// @return empty if there is none.
std::string suggestion(const std::string& text, const std::vector<std::string>& names);

/// The same as the end of a sentence: "; did you mean mnist?", or empty.
std::string did_you_mean(const std::string& text, const std::vector<std::string>& names);

}  // namespace stagewise
