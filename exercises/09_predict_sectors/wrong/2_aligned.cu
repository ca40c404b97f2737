// expect: x\[i \+ 1\].*4 sectors are too low

/// x[i], of floats
constexpr double floats = 4;

/// x[31 - threadIdx.x + 32 * blockIdx.x], of floats, in blocks of 32 threads: neighbours, in
/// reverse order
constexpr double floats_reversed = 4;

/// x[i], of doubles
constexpr double doubles = 8;

/// x[2 * i], of floats: every second one
constexpr double every_second_float = 8;

/// x[i / 2], of floats: two threads each read the same one
constexpr double floats_in_pairs = 2;

/// x[100 * i], of floats: a column of a matrix whose rows have 100 numbers
constexpr double column = 32;

/// x[0], of floats: all threads read the same one
constexpr double same_float = 1;

/// x[i + 1], of floats: neighbours that do not begin with the first number of a sector
constexpr double floats_from_second = 4;
