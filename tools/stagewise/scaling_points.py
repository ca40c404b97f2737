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
    *_sums("one_shot", 2, (1024, 2.79), (33792, 3.19), (65536, 3.33), (524288, 5.97),
           (6400000, 59.1)),
    *_sums("two_shot", 2, (1024, 5.47), (33792, 6.10), (65536, 5.96), (524288, 7.28),
           (6400000, 24.4)),
    *_sums("nccl", 2, (1024, 6.17), (33792, 7.52), (65536, 7.12), (524288, 9.69),
           (6400000, 39.7)),
    *_sums("host", 2, (1024, 13.8), (33792, 37.1), (65536, 46.1), (524288, 178),
           (6400000, 2040)),
]


def _step(widths: tuple[int, ...], batch: int, time: float, precision: str = "float",
          **where: object) -> StepPoint:
    return StepPoint(Network(widths, precision), batch, 1e-6 * time, **where)


# benchmarks/results/h200_stage05_two.md, section 10: one of the two H200s, minutes later.
STEPS = [
    _step((784, 256, 10), 100, 13.2),
    _step((784, 256, 10), 250, 18.7),
    _step((784, 256, 10), 1000, 35.5),
    _step((784, 256, 10), 2500, 71.5),
    _step((784, 256, 10), 10000, 225.8),
    _step((784, 200, 10), 128, 13.3),
    _step((784, 300, 10), 640, 32.3),
    _step((784, 512, 256, 10), 512, 57.5),
    _step((784, 1000, 10), 800, 87.4),
    *(_step((784, hidden, 10), batch, time, "double")
      for hidden, of_batches in (
          (1000, ((200, 37.5), (800, 81.0), (3200, 287.9), (8000, 668.3))),
          (500, ((200, 27.7), (800, 51.5), (3200, 151.0), (8000, 330.3))),
          (250, ((200, 23.2), (800, 40.7), (3200, 85.4), (8000, 183.6))))
      for batch, time in of_batches),
]

# Never fitted. 784-1000-10 in double. Two GPUs: benchmarks/results/h200_stage05_two.md, section 5.
# Three and four: the fastest of up to three runs of earlier versions, each on a different machine;
# h200_stage05_four.md, section 1, and h200_layer_tiles.md, its last table. Of these, only trainings
# with 37 steps an epoch and more: of longer steps, an epoch had four to seven, and some had bands,
# which they no longer have.
STEPS_TO_CHECK = [
    *(_step((784, 1000, 10), batch, time, "double", gpus=gpus, tensor_ranks=tensor_ranks,
            transport=transport)
      for gpus, tensor_ranks, transport, of_batches in (
          (2, 1, "peer", ((800, 78.2), (1600, 107.4), (8000, 382.1), (16000, 718.6))),
          (2, 1, "nccl", ((800, 105.6), (1600, 144.5), (8000, 419.6), (16000, 729.3))),
          (2, 2, "peer", ((800, 59.1), (1600, 93.7), (8000, 352.2), (16000, 680.6))),
          (2, 2, "nccl", ((800, 64.9), (1600, 100.0), (8000, 375.6), (16000, 686.4))),
          (3, 1, "peer", ((800, 78.1), (2400, 118.7))),
          (3, 1, "nccl", ((800, 107.8), (2400, 156.0))),
          (3, 3, "peer", ((800, 51.0), (2400, 123.8))),
          (3, 3, "nccl", ((800, 58.3), (2400, 115.6))),
          (4, 1, "peer", ((800, 74.7), (3200, 122.6))),
          (4, 1, "nccl", ((800, 100.6), (3200, 153.5))),
          (4, 2, "peer", ((800, 60.5), (3200, 130.1))),
          (4, 2, "nccl", ((800, 90.3), (3200, 153.1))),
          (4, 4, "peer", ((800, 43.0), (3200, 105.8))),
          (4, 4, "nccl", ((800, 51.8), (3200, 112.9))))
      for batch, time in of_batches),
    *(_step((784, 1000, 1000, 10), batch, time, "double", gpus=2, transport=transport)
      for transport, of_batches in (  # h200_stage05_two.md, section 11
          ("peer", ((800, 181.4), (1600, 253.8), (8000, 871.5))),
          ("nccl", ((800, 236.2), (1600, 310.1), (8000, 961.3))))
      for batch, time in of_batches),
]
