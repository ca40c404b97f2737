/// @file
/// For checks of several processes: which one this is, and what it has sent.
#pragma once

#include <mpi.h>

#include "check.hpp"

namespace exercise {

int rank();
int ranks();

/// What is right so far with so many ranks; the first one says it.
void pass_on_all(const std::string& what);

/// What this rank has sent by itself, and the collective operations that it has taken part in.
struct Messages {
  double sent = 0;        ///< messages from one rank to another
  double sent_bytes = 0;  ///< in these
  double collectives = 0;
  double given_bytes = 0;  ///< that this rank has passed to collective operations
  double got_bytes = 0;    ///< that it has got from them
  int elsewhere = -1;      ///< where the first message went that was not for the next rank
};
extern Messages messages;

/// "For 12 numbers, rank 1 of 3".
std::string who();

/// Says what the learner's function is called for: "For 12 numbers". From now on, `messages` are
/// those of this case. Ends the check if it has not got to the next case after some seconds.
/// @param advice what may be wrong then
void begin_case(const std::string& what, const std::string& advice);

/// Ends the check unless this rank has taken part in a single collective operation, and has sent
/// nothing by itself.
/// @param advice why that is enough
void expect_one_collective(const std::string& advice);

}  // namespace exercise
