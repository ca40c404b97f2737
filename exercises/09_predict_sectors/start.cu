// How many sectors of 32 bytes does each load take for the 32 threads of a warp?

/// x[i], of floats
constexpr double floats = 0;  // your prediction

/// x[31 - threadIdx.x + 32 * blockIdx.x], of floats, in blocks of 32 threads: neighbours, in
/// reverse order
constexpr double floats_reversed = 0;  // your prediction

/// x[i], of doubles
constexpr double doubles = 0;  // your prediction

/// x[2 * i], of floats: every second one
constexpr double every_second_float = 0;  // your prediction

/// x[i / 2], of floats: two threads each read the same one
constexpr double floats_in_pairs = 0;  // your prediction

/// x[100 * i], of floats: a column of a matrix whose rows have 100 numbers
constexpr double column = 0;  // your prediction

/// x[0], of floats: all threads read the same one
constexpr double same_float = 0;  // your prediction

/// x[i + 1], of floats: neighbours that do not begin with the first number of a sector
constexpr double floats_from_second = 0;  // your prediction
