"""What was measured: the points that the constants of the scaling model are fitted to or checked
with.

All of them are in files that have the commands.
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


# benchmarks/results/h200_stage05_scaling.md, section 7: two H200s; NCCL 2.28 in a CUDA graph.
SUMS = [
    *_sums("one_shot", 2, (1024, 2.65), (33792, 3.13), (65536, 3.31), (524288, 5.87),
           (6400000, 58.0)),
    *_sums("two_shot", 2, (1024, 5.33), (33792, 6.13), (65536, 6.23), (524288, 7.42),
           (6400000, 24.3)),
    *_sums("nccl", 2, (1024, 6.38), (33792, 7.42), (65536, 6.97), (524288, 9.72),
           (6400000, 39.7)),
    *_sums("host", 2, (1024, 12.2), (33792, 34.6), (65536, 44.1), (524288, 160),
           (6400000, 1840)),
]


def _step(widths: tuple[int, ...], batch: int, time: float, precision: str = "float",
          **where: int) -> StepPoint:
    return StepPoint(Network(widths, precision), batch, 1e-6 * time, **where)


# benchmarks/results/h200_stage04_pytorch.md, section 1, column "stage 04" (without persistent
# kernels), batch / rate: one H200 of the same machine, on the same day.
STEPS = [
    _step((784, 256, 10), 100, 13.4),
    _step((784, 256, 10), 250, 18.6),
    _step((784, 256, 10), 1000, 36.7),
    _step((784, 256, 10), 2500, 84.9),
    _step((784, 256, 10), 10000, 238.8),
    _step((784, 200, 10), 128, 13.5),
    _step((784, 300, 10), 640, 34.1),
    _step((784, 512, 256, 10), 512, 58.7),
    _step((784, 1000, 10), 800, 92.5),
    _step((784, 1000, 10), 800, 84.7, "double"),
]


def _training(batch: int, milliseconds: float, **where: object) -> StepPoint:
    return _step((784, 1000, 10), batch, 1e3 * milliseconds / (54000 / batch), "double", gpus=2,
                 **where)


# Never fitted. benchmarks/results/h200_stage05_scaling.md, section 5: milliseconds an epoch of
# 54,000 images, on two H200s, divided by the number of batches.
STEPS_TO_CHECK = [
    _training(batch, milliseconds, tensor_ranks=tensor_ranks, transport=transport)
    for tensor_ranks, transport, of_batches in (
        (1, "peer", ((800, 6.4), (1600, 3.9), (8000, 2.9), (16000, 2.7))),
        (1, "nccl", ((800, 7.8), (1600, 4.8), (8000, 3.2), (16000, 2.7))),
        (2, "peer", ((800, 4.9), (1600, 3.5), (8000, 2.9), (16000, 2.8))),
        (2, "nccl", ((800, 5.4), (1600, 3.9), (8000, 3.0), (16000, 2.7))))
    for batch, milliseconds in of_batches
]
