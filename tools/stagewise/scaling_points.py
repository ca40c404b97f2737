"""What was measured on H200s, beside the scaling model. All of it is in files that have the commands."""

from __future__ import annotations

import math
from typing import Iterator, NamedTuple

from stagewise.scaling_model import Cluster, Group, Link, Network, host, nccl, one_shot, step_of, two_shot

IN_A_MACHINE = Cluster(8, Link(0, math.inf))

# Microseconds of a sum over two GPUs by its bytes: benchmarks/results/h200_stage05_two.md, section 7; NCCL 2.28 in a
# CUDA graph. The constants of a sum are chosen for these.
SUMS = {"one-shot": {1024: 2.79, 33792: 3.19, 65536: 3.33, 524288: 5.97, 6400000: 59.1},
        "two-shot": {1024: 5.47, 33792: 6.10, 65536: 5.96, 524288: 7.28, 6400000: 24.4},
        "NCCL": {1024: 6.17, 33792: 7.52, 65536: 7.12, 524288: 9.69, 6400000: 39.7},
        "host": {1024: 13.8, 33792: 37.1, 65536: 46.1, 524288: 178, 6400000: 2040}}
SUM_SECONDS = {"one-shot": lambda size: one_shot(2, size),
               "two-shot": lambda size: two_shot(2, size),
               "NCCL": lambda size: nccl(Group(1, 2, IN_A_MACHINE.network), size),
               "host": lambda size: host(Group(1, 2, IN_A_MACHINE.network), size)}

# Microseconds of a step by network and batch, on one of the two H200s, minutes later: section 10 of the same file.
# The constants of a step are chosen for these.
STEPS = {((784, 200, 10), "float"): {128: 13.3},
         ((784, 256, 10), "float"): {100: 13.2, 250: 18.7, 1000: 35.5, 2500: 71.5, 10000: 225.8},
         ((784, 300, 10), "float"): {640: 32.3},
         ((784, 512, 256, 10), "float"): {512: 57.5},
         ((784, 1000, 10), "float"): {800: 87.4},
         ((784, 250, 10), "double"): {200: 23.2, 800: 40.7, 3200: 85.4, 8000: 183.6},
         ((784, 500, 10), "double"): {200: 27.7, 800: 51.5, 3200: 151.0, 8000: 330.3},
         ((784, 1000, 10), "double"): {200: 37.5, 800: 81.0, 3200: 287.9, 8000: 668.3}}

# Microseconds of a step in double by hidden layers, GPUs, tensor ranks, transport and batch. No constant is chosen for
# these. Two GPUs: sections 5 and 11 of the same file. Three and four: the fastest of up to three runs of earlier
# versions, each on a different machine; h200_stage05_four.md, section 1, and h200_layer_tiles.md, its last table. Of
# these, only trainings with 37 steps an epoch and more: of longer steps, an epoch had four to seven, and some had
# bands, which they no longer have.
STEPS_OF_SEVERAL = {
    ((1000,), 2, 1, "peer"): {800: 78.2, 1600: 107.4, 8000: 382.1, 16000: 718.6},
    ((1000,), 2, 1, "nccl"): {800: 105.6, 1600: 144.5, 8000: 419.6, 16000: 729.3},
    ((1000,), 2, 2, "peer"): {800: 59.1, 1600: 93.7, 8000: 352.2, 16000: 680.6},
    ((1000,), 2, 2, "nccl"): {800: 64.9, 1600: 100.0, 8000: 375.6, 16000: 686.4},
    ((1000,), 3, 1, "peer"): {800: 78.1, 2400: 118.7},
    ((1000,), 3, 1, "nccl"): {800: 107.8, 2400: 156.0},
    ((1000,), 3, 3, "peer"): {800: 51.0, 2400: 123.8},
    ((1000,), 3, 3, "nccl"): {800: 58.3, 2400: 115.6},
    ((1000,), 4, 1, "peer"): {800: 74.7, 3200: 122.6},
    ((1000,), 4, 1, "nccl"): {800: 100.6, 3200: 153.5},
    ((1000,), 4, 2, "peer"): {800: 60.5, 3200: 130.1},
    ((1000,), 4, 2, "nccl"): {800: 90.3, 3200: 153.1},
    ((1000,), 4, 4, "peer"): {800: 43.0, 3200: 105.8},
    ((1000,), 4, 4, "nccl"): {800: 51.8, 3200: 112.9},
    ((1000, 1000), 2, 1, "peer"): {800: 181.4, 1600: 253.8, 8000: 871.5},
    ((1000, 1000), 2, 1, "nccl"): {800: 236.2, 1600: 310.1, 8000: 961.3}}


class Checked(NamedTuple):
    """A measurement beside the model, in seconds."""

    kind: str
    what: str
    measured: float
    predicted: float

    @property
    def error(self) -> float:
        return self.predicted / self.measured - 1


def checked() -> Iterator[Checked]:
    for way, points in SUMS.items():
        for size, time in points.items():
            yield Checked(f"sum, {way}", f"2 GPUs, {size:,} B", 1e-6 * time, SUM_SECONDS[way](size))
    steps = {(network, 1, 1, "peer"): points for network, points in STEPS.items()}
    steps |= {(((784, *hidden, 10), "double"), *where): points for (hidden, *where), points in STEPS_OF_SEVERAL.items()}
    for ((widths, precision), gpus, tensor_ranks, transport), points in steps.items():
        for batch, time in points.items():
            found = step_of(Network(widths, precision), batch, gpus, tensor_ranks, transport, IN_A_MACHINE)
            how = f", {found.strategy}, {transport}" if gpus > 1 else ""
            yield Checked(f"step, {gpus} GPU{'s' if gpus > 1 else ''}",
                          f"{'-'.join(map(str, widths))} {precision}, {batch:,}{how}", 1e-6 * time, found.seconds)
