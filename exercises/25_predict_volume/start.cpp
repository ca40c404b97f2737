/// Parameters of an MLP 784-256-10.
constexpr long parameters = 0;

/// What each of 4 ranks sends in a ring all-reduce of the gradient.
constexpr long ring_messages = 0;
constexpr long ring_bytes = 0;

/// What rank 0 sends if all others send it their gradients, and it sends them the sum.
constexpr long root_messages = 0;
constexpr long root_bytes = 0;

/// What each of the others sends then.
constexpr long other_bytes = 0;
