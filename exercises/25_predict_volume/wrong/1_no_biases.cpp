// expect: parameters is 203264, .*bias
constexpr long ranks = 4;

/// Parameters of an MLP 784-256-10.
constexpr long parameters = 784 * 256 + 256 * 10;

/// What each of 4 ranks sends in a ring all-reduce of the gradient: in each step a chunk.
constexpr long chunk = (parameters + ranks - 1) / ranks;
constexpr long ring_messages = 2 * (ranks - 1);
constexpr long ring_bytes = 4 * ring_messages * chunk;

/// What rank 0 sends if all others send it their gradients, and it sends them the sum.
constexpr long root_messages = ranks - 1;
constexpr long root_bytes = 4 * root_messages * parameters;

/// What each of the others sends then.
constexpr long other_bytes = 4 * parameters;
