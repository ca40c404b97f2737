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


# benchmarks/results/h200_stage05_two.md, section 7; NCCL 2.28 in a CUDA graph.
SUMS = [
    *_sums("one_shot", 2, (1024, 2.81), (33792, 3.18), (65536, 3.38), (524288, 5.99),
           (6400000, 59.1)),
    *_sums("two_shot", 2, (1024, 5.81), (33792, 6.36), (65536, 6.27), (524288, 7.69),
           (6400000, 24.6)),
    *_sums("nccl", 2, (1024, 6.08), (33792, 7.35), (65536, 7.08), (524288, 9.80),
           (6400000, 40.0)),
    *_sums("host", 2, (1024, 12.6), (33792, 38.6), (65536, 46.8), (524288, 172),
           (6400000, 2090)),
]


def _step(widths: tuple[int, ...], batch: int, time: float, precision: str = "float",
          **where: object) -> StepPoint:
    return StepPoint(Network(widths, precision), batch, 1e-6 * time, **where)


# benchmarks/results/h200_stage05_two.md, section 10: one of the two H200s, minutes later.
STEPS = [
    _step((784, 256, 10), 100, 13.2),
    _step((784, 256, 10), 250, 18.7),
    _step((784, 256, 10), 1000, 36.0),
    _step((784, 256, 10), 2500, 73.1),
    _step((784, 256, 10), 10000, 236.2),
    _step((784, 200, 10), 128, 13.4),
    _step((784, 300, 10), 640, 32.7),
    _step((784, 512, 256, 10), 512, 58.0),
    _step((784, 1000, 10), 800, 88.1),
    *(_step((784, hidden, 10), batch, time, "double")
      for hidden, of_batches in (
          (1000, ((200, 37.7), (800, 81.9), (3200, 295.0), (8000, 686.9))),
          (500, ((200, 27.8), (800, 52.0), (3200, 155.8), (8000, 340.2))),
          (250, ((200, 23.4), (800, 41.2), (3200, 88.0), (8000, 194.5))))
      for batch, time in of_batches),
]

# Never fitted. 784-1000-10 in double on two to four H200s: the fastest of up to three runs,
# each on a different machine. benchmarks/results/h200_stage05_two.md, section 5;
# h200_stage05_four.md, section 1; h200_layer_tiles.md, its last table.
STEPS_TO_CHECK = [
    _step((784, 1000, 10), batch, time, "double", gpus=gpus, tensor_ranks=tensor_ranks,
          transport=transport)
    for gpus, tensor_ranks, transport, of_batches in (
        (2, 1, "peer", ((800, 78.0), (1600, 110.0), (8000, 386.3), (16000, 709.6))),
        (2, 1, "nccl", ((800, 107.4), (1600, 143.6), (8000, 453.9), (16000, 763.5))),
        (2, 2, "peer", ((800, 59.5), (1600, 95.0), (8000, 363.9), (16000, 685.3))),
        (2, 2, "nccl", ((800, 65.2), (1600, 101.3), (8000, 372.0), (16000, 693.1))),
        (3, 1, "peer", ((800, 78.1), (2400, 118.7), (8000, 287.9), (24000, 721.6))),
        (3, 1, "nccl", ((800, 107.8), (2400, 156.0), (8000, 369.6), (24000, 785.5))),
        (3, 3, "peer", ((800, 51.0), (2400, 123.8), (8000, 279.3), (24000, 782.7))),
        (3, 3, "nccl", ((800, 58.3), (2400, 115.6), (8000, 287.0), (24000, 799.8))),
        (4, 1, "peer", ((800, 74.7), (3200, 122.6), (8000, 240.7), (32000, 728.3))),
        (4, 1, "nccl", ((800, 100.6), (3200, 153.5), (8000, 258.6), (32000, 773.8))),
        (4, 2, "peer", ((800, 60.5), (3200, 130.1), (8000, 231.9), (32000, 821.0))),
        (4, 2, "nccl", ((800, 90.3), (3200, 153.1), (8000, 287.4), (32000, 828.9))),
        (4, 4, "peer", ((800, 43.0), (3200, 105.8), (8000, 203.1), (32000, 792.7))),
        (4, 4, "nccl", ((800, 51.8), (3200, 112.9), (8000, 210.7), (32000, 840.3))))
    for batch, time in of_batches
]
