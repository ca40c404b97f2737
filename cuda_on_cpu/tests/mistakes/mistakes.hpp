/// @file
/// The mistakes: each is a function that makes it or, cured, does the same work in the right way.
/// Kernel and launch stand in the file of the function's name, what is reported in NAME.txt.
#pragma once

namespace mistakes {

// Barriers
void barrier_divergence(bool cured);
void different_barriers(bool cured);
void missing_lanes(bool cured);
void shuffle_outside_mask(bool cured);

// Memory
void beyond_allocation(bool cured);
void row_above(bool cured);
void misaligned(bool cured);
void null_pointer(bool cured);
void wild_index(bool cured);
void use_after_free(bool cured);
void double_free(bool cured);
void copy_beyond(bool cured);
void wrong_direction(bool cured);
void host_access(bool cured);
void uninitialized(bool cured);
void beyond_dynamic_shared(bool cured);
void beyond_shared(bool cured);
void stack_overflow(bool cured);

// Order
void missing_barrier(bool cured);
void missing_wait(bool cured);
void missing_event(bool cured);

// Launches and errors
void too_many_threads(bool cured);
void beyond_launch_bounds(bool cured);
void too_much_shared(bool cured);
void unchecked_launch(bool cured);
void late_error(bool cured);
void failed_assertion(bool cured);

}  // namespace mistakes
