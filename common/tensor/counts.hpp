/// @file
/// Counts, numbers and lists in readable form, for all messages and lines that the programs print.
///
/// Typed values (of options, and their ranges) and numbers of places (a line, a sample) have no
/// commas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stagewise {

/// "60,000".
std::string with_thousands(std::int64_t number);

/// "1 epoch", "1,500 epochs".
/// @param plural if it is not the singular with an s: "classes".
std::string count_of(std::int64_t number, std::string_view singular, std::string_view plural = {});

/// With three significant digits: "0.1", "1e+30".
std::string rounded(double value);

/// The fewest decimal digits that name exactly this double: "0.1".
std::string shortest(double value);

/// "mlp, neuron".
std::string list_of(const std::vector<std::string>& names, const std::string& separator = ", ");

/// "12.3 GB", "640 B".
std::string size_text(double bytes);

/// The same of a size in memory.
inline std::string size_text(std::size_t bytes) { return size_text(static_cast<double>(bytes)); }

}  // namespace stagewise
