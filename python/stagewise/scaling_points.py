"""What was measured: the points that the constants of the scaling model are fitted to or checked
with.

All of them are in files that have the commands, except NCCL's, which were measured once on four
H200s.
"""

from __future__ import annotations

import dataclasses

from stagewise.scaling_model import Network

# Bytes a second, of the H200 of the steps: "floors of this GPU" in
# benchmarks/results/h200_stage04_pytorch.md.
MEMORY_BANDWIDTH = 4.81e12


@dataclasses.dataclass(frozen=True)
class SumPoint:
    """A sum, in one machine."""

    way: str  # a field of Constants: one_shot, two_shot, nccl, host
    ranks: int
    size: int  # bytes
    seconds: float


@dataclasses.dataclass(frozen=True)
class StepPoint:
    """A step of a training, in one machine."""

    network: Network
    batch: int
    seconds: float
    gpus: int = 1
    tensor_ranks: int = 1
    transport: str = "peer"
    memory_bandwidth: float = MEMORY_BANDWIDTH  # of the GPU, in bytes a second


def _sums(way: str, ranks: int, *points: tuple[int, float]) -> list[SumPoint]:
    return [SumPoint(way, ranks, size, 1e-6 * time) for size, time in points]


# benchmarks/results/h100_stage05_peer.md: two H100s.
# NCCL 2.28 in a CUDA graph: four H200s.
SUMS = [
    *_sums("one_shot", 2, (1024, 2.68), (33792, 3.20), (65536, 3.50), (524288, 5.96),
           (6400000, 57.0)),
    *_sums("two_shot", 2, (1024, 7.27), (33792, 8.43), (65536, 8.88), (524288, 9.35),
           (6400000, 27.0)),
    *_sums("nccl", 4, (1024, 9.0), (33792, 10.4), (6400000, 47.0)),
    *_sums("host", 2, (1024, 13.8), (33792, 36.7), (65536, 47.7), (524288, 208),
           (6400000, 2100)),
]

# Never fitted. MPI in the hosts' memory, among four processes of the machine with NCCL's points.
SUMS_TO_CHECK = _sums("host", 4, (6400000, 2314))


def _step(widths: tuple[int, ...], batch: int, time: float, precision: str = "float",
          **where: int) -> StepPoint:
    return StepPoint(Network(widths, precision), batch, 1e-6 * time, **where)


# benchmarks/results/h200_stage04_pytorch.md, section 1, column "stage 04" (without persistent
# kernels), batch / rate: one H200.
STEPS = [
    _step((784, 256, 10), 100, 23.4),
    _step((784, 256, 10), 250, 29.3),
    _step((784, 256, 10), 1000, 49.2),
    _step((784, 256, 10), 2500, 90.6),
    _step((784, 256, 10), 10000, 268.5),
    _step((784, 200, 10), 128, 23.0),
    _step((784, 300, 10), 640, 45.3),
    _step((784, 512, 256, 10), 512, 77.0),
    _step((784, 1000, 10), 800, 105.7),
    _step((784, 1000, 10), 800, 108.1, "double"),
]

# Never fitted. benchmarks/results/h100_stage05_peer.md: milliseconds an epoch of 60,000 images, on
# two H100s, divided by the number of batches.
STEPS_TO_CHECK = [
    _step((784, 1000, 10), 800, 1e3 * 7.29 / (60000 / 800), "double", gpus=2),
    _step((784, 1000, 10), 1600, 1e3 * 5.02 / (60000 / 1600), "double", gpus=2),
    _step((784, 1000, 10), 800, 1e3 * 6.10 / (60000 / 800), "double", gpus=2, tensor_ranks=2),
    _step((784, 256, 10), 1000, 1e3 * 3.11 / (60000 / 1000), gpus=2),
]
