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


# benchmarks/results/h200_stage05_four.md: two of four H200s; NCCL 2.28 in a CUDA graph.
SUMS = [
    *_sums("one_shot", 2, (1024, 2.73), (33792, 3.19), (65536, 3.36), (524288, 5.95),
           (6400000, 58.6)),
    *_sums("two_shot", 2, (1024, 5.47), (33792, 5.93), (65536, 6.18), (524288, 7.42),
           (6400000, 24.3)),
    *_sums("nccl", 2, (1024, 6.25), (33792, 7.45), (65536, 7.11), (524288, 9.80),
           (6400000, 40.0)),
    *_sums("host", 2, (1024, 13.2), (33792, 34.6), (65536, 45.6), (524288, 160),
           (6400000, 2090)),
]


def _step(widths: tuple[int, ...], batch: int, time: float, precision: str = "float",
          **where: int) -> StepPoint:
    return StepPoint(Network(widths, precision), batch, 1e-6 * time, **where)


# benchmarks/results/h200_stage05_four.md, section 7: one H200 of the same machine, minutes later.
STEPS = [
    _step((784, 256, 10), 100, 13.2),
    _step((784, 256, 10), 250, 18.8),
    _step((784, 256, 10), 1000, 37.2),
    _step((784, 256, 10), 2500, 74.4),
    _step((784, 256, 10), 10000, 239.6),
    _step((784, 200, 10), 128, 13.3),
    _step((784, 300, 10), 640, 33.3),
    _step((784, 512, 256, 10), 512, 58.7),
    _step((784, 1000, 10), 800, 89.4),
    _step((784, 1000, 10), 800, 83.2, "double"),
    # benchmarks/results/h200_stage05_four.md, section 1: 5.4 ms an epoch of 54,000 images.
    _step((784, 1000, 10), 8000, 800.0, "double"),
]


def _training(gpus: int, batch: int, milliseconds: float, **where: object) -> StepPoint:
    return _step((784, 1000, 10), batch, 1e3 * milliseconds / (54000 / batch), "double", gpus=gpus,
                 **where)


# Never fitted. benchmarks/results/h200_stage05_four.md: milliseconds an epoch of 54,000 images, on
# two and on four H200s of the same machine, divided by the number of batches.
STEPS_TO_CHECK = [
    _training(gpus, batch, milliseconds, tensor_ranks=gpus if splits else 1, transport=transport)
    for gpus, splits, transport, of_batches in (
        (2, False, "peer", ((800, 5.5), (1600, 3.8), (8000, 3.0), (16000, 3.0))),
        (2, False, "nccl", ((800, 7.5), (1600, 4.9), (8000, 3.3), (16000, 2.7))),
        (2, True, "peer", ((800, 4.6), (1600, 3.5), (8000, 2.9), (16000, 2.9))),
        (2, True, "nccl", ((800, 5.0), (1600, 3.8), (8000, 3.1), (16000, 3.0))),
        (4, False, "peer", ((800, 5.3), (3200, 2.4), (8000, 1.8), (32000, 1.4))),
        (4, False, "nccl", ((800, 6.8), (3200, 2.8), (8000, 1.9), (32000, 1.4))),
        (4, True, "peer", ((800, 3.8), (3200, 2.0), (8000, 1.7), (32000, 1.7))),
        (4, True, "nccl", ((800, 4.3), (3200, 2.4), (8000, 1.6), (32000, 1.7))))
    for batch, milliseconds in of_batches
]
