/// @file
/// What stage 05's program offers.
#pragma once

#include "04_minibatch/offers.hpp"

namespace stagewise {

/// The program adds the choices of `--transport` and the default of `--timeout`, which the stage
/// knows. Stage 04's options come last.
inline Offers stage05_offers() {
  Offers own = {
      .program = "stage05_mpi",
      .has_workers = true,
      .options = {
          {.name = "strategy",
           .description = "share the batch, the hidden layers, or both",
           .choices = {"auto", "data", "tensor", "hybrid"},
           .default_choice = "auto",
           .only_trains = true,
           .changes_program = true},
          {.name = "tensor-ranks",
           .description = "with hybrid: how many processes have a network together",
           .default_choice = "2",
           .only_trains = true,
           .changes_program = true,
           .largest = 1'000'000},
          {.name = "transport",
           .description =
               "how sums travel: auto is peer over NVLink, else nccl if each has a GPU, else host",
           .default_choice = "auto",
           .only_trains = true,
           .changes_no_number = true,
           .changes_program = true},
          {.name = "timeout",
           .description = "seconds that a rank waits for another that has stopped",
           .only_trains = true,
           .changes_no_number = true,
           .largest = 1'000'000},
          {.name = "overlap",
           .description =
               "exchange gradients while others are computed: auto does so through the host",
           .choices = {"auto", "on", "off"},
           .default_choice = "auto",
           .only_trains = true,
           .changes_no_number = true,
           .changes_program = true},
          {.name = "data-from",
           .description =
               "who reads the data: all ranks, rank 0 for the others, or auto: all that can",
           .choices = {"auto", "root", "all"},
           .default_choice = "auto",
           .changes_no_number = true}}};
  return with_options_of(std::move(own), stage04_offers());
}

}  // namespace stagewise
