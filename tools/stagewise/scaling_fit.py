"""The constants of the scaling model, by least squares on relative errors, and how far off they
are.

Every third point is held out in turn: the constants are fitted without it, and its error is what
they then say about it. The smallest and the largest point always stay, since a line needs both of
its ends. What the model uses in the end is fitted to all points.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import pathlib
import re
from typing import Any, Sequence

import numpy as np

from stagewise import scaling_points
from stagewise.command_line import Error
from stagewise.report import number, read_report
from stagewise.scaling_model import (ELEMENT_BYTES, KERNEL, MOST_PEERS, Cluster, Constants, Group,
                                     Link, Network, Step, host, nccl, one_shot, step_of, two_shot,
                                     work_of)
from stagewise.scaling_points import StepPoint, SumPoint

FOLDS = 3
# The rungs of the ladder that the model knows.
WAYS = {"one-shot": "one_shot", "two-shot": "two_shot", "NCCL": "nccl", "host": "host"}
LEAST_STEPS = 3  # as many as constants


@dataclasses.dataclass(frozen=True)
class Checked:
    """A point beside the model."""

    kind: str
    what: str
    measured: float
    predicted: float
    is_held_out: bool

    @property
    def error(self) -> float:
        return self.predicted / self.measured - 1


@dataclasses.dataclass(frozen=True)
class Points:
    """What there is to fit, and to check with."""

    sums: list[SumPoint]
    steps: list[StepPoint]
    steps_to_check: list[StepPoint]


BUILT_IN = Points(scaling_points.SUMS, scaling_points.STEPS, scaling_points.STEPS_TO_CHECK)


# -------------------------------------------------------------------------------------------------
# Least squares


def least_squares(columns: np.ndarray, rest: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """Constants, none of them negative, that minimize the relative errors of columns @ constants +
    rest.

    The best of all sets of constants that are not 0; there are at most seven."""
    best, least = np.zeros(columns.shape[1]), math.inf
    scaled = columns / measured[:, None]
    wanted = (measured - rest) / measured
    for count in range(1, columns.shape[1] + 1):
        for chosen in itertools.combinations(range(columns.shape[1]), count):
            some = scaled[:, chosen]
            sizes = np.abs(some).max(axis=0)
            if (sizes == 0).any():
                continue
            found = np.linalg.lstsq(some / sizes, wanted, rcond=None)[0] / sizes
            error = float(((some @ found - wanted) ** 2).sum())
            if (found >= 0).all() and error < least - 1e-12:
                least = error
                best = np.zeros(columns.shape[1])
                best[list(chosen)] = found
    return best


def held_out(count: int) -> list[list[int]]:
    """The folds: every third of the points but the first and the last."""
    inner = range(1, count - 1)
    return [fold for begin in range(FOLDS) if (fold := list(inner[begin::FOLDS]))]


# -------------------------------------------------------------------------------------------------
# Sums


def sum_seconds(way: str, ranks: int, size: float, link: Link) -> float:
    """Of a sum in one machine."""
    if way in ("one_shot", "two_shot"):
        return (one_shot if way == "one_shot" else two_shot)(ranks, size, link)
    return (nccl if way == "nccl" else host)(Group(1, ranks, link), size, link)


def fit_link(way: str, points: Sequence[SumPoint]) -> Link:
    """Latency and bandwidth. All formulas are straight lines in the one and in the other's
    inverse."""
    def line(latency: float, bandwidth: float) -> np.ndarray:
        link = Link(latency, bandwidth)
        return np.array([sum_seconds(way, point.ranks, point.size, link) for point in points])

    rest = line(0, math.inf)
    columns = np.stack([line(1, math.inf) - rest, line(0, 1) - rest], axis=1)
    latency, inverse = least_squares(columns, rest, np.array([point.seconds for point in points]))
    return Link(float(latency), 1 / float(inverse) if inverse > 0 else math.inf)


def check_sums(way: str, points: Sequence[SumPoint]) -> list[Checked]:
    """The points by size."""
    points = sorted(points, key=lambda point: (point.size, point.ranks))
    links = {index: fit_link(way, [p for i, p in enumerate(points) if i not in fold])
             for fold in held_out(len(points)) for index in fold}
    fitted = fit_link(way, points)
    return [Checked(f"sum, {way.replace('_', '-')}", f"{point.ranks} GPUs, {point.size:,} B",
                    point.seconds,
                    sum_seconds(way, point.ranks, point.size, links.get(index, fitted)),
                    index in links)
            for index, point in enumerate(points)]


# -------------------------------------------------------------------------------------------------
# Steps on one GPU


def fit_step(points: Sequence[StepPoint],
             begin_and_byte: tuple[float, float] | None = None) -> Step:
    """A byte takes no less than the memory's bandwidth says: steps that are not bound by memory
    hardly tell bytes and operations apart, and the squares alone may be least without any time for
    bytes.

    :param begin_and_byte: what another precision has, if there are too few points for all
        constants."""
    works = [work_of(point.network, point.batch) for point in points]
    measured = np.array([point.seconds for point in points])
    rest = np.array([KERNEL * (work.kernels - 3) for work in works])
    if begin_and_byte is not None:
        begin, byte = begin_and_byte
        rest = rest + begin + byte * np.array([work.bytes for work in works])
        operations = np.array([[work.operations] for work in works], float)
        return Step(begin, float(least_squares(operations, rest, measured)[0]), byte)
    columns = np.array([[1, work.operations, work.bytes] for work in works], float)
    floor = 1 / max(point.memory_bandwidth for point in points)
    begin, operation, more = least_squares(columns, rest + floor * columns[:, 2], measured)
    return Step(float(begin), float(operation), float(floor + more))


def _steps_of(points: Sequence[StepPoint], precision: str) -> list[StepPoint]:
    return sorted((point for point in points if point.network.precision == precision),
                  key=lambda point: work_of(point.network, point.batch).operations)


def check_steps(points: Sequence[StepPoint], precision: str, fitted: Step) -> list[Checked]:
    """The points of a precision by operations. Where they are fewer than constants, none is held
    out."""
    points = _steps_of(points, precision)
    folds = held_out(len(points)) if len(points) > LEAST_STEPS else []
    steps = {index: fit_step([p for i, p in enumerate(points) if i not in fold])
             for fold in folds for index in fold}
    times = [steps.get(index, fitted).seconds(work_of(point.network, point.batch))
             for index, point in enumerate(points)]
    return [Checked("step, 1 GPU", name_of(point), point.seconds, time, index in steps)
            for index, (point, time) in enumerate(zip(points, times))]


def name_of(point: StepPoint) -> str:
    text = f"{'-'.join(map(str, point.network.widths))} {point.network.precision}, {point.batch:,}"
    if point.gpus == 1:
        return text
    strategy = {1: "data", point.gpus: "tensor"}.get(point.tensor_ranks, "hybrid")
    return f"{text}, {strategy}, {point.transport}"


# -------------------------------------------------------------------------------------------------
# All of them


def fit(points: Points) -> Constants:
    """The constants that the model uses."""
    links = {way: fit_link(way, [point for point in points.sums if point.way == way])
             for way in WAYS.values()}
    steps: dict[str, Step] = {}
    for precision in ELEMENT_BYTES:
        of_precision = _steps_of(points.steps, precision)
        known = steps.get("float") if len(of_precision) < LEAST_STEPS else None
        steps[precision] = fit_step(of_precision, (known.begin, known.byte) if known else None)
    return Constants(step=steps, **links)


def check(points: Points, constants: Constants) -> list[Checked]:
    """All points beside the model."""
    found = []
    for way in WAYS.values():
        found += check_sums(way, [point for point in points.sums if point.way == way])
    for precision in ELEMENT_BYTES:
        found += check_steps(points.steps, precision, constants.step[precision])
    for point in points.steps_to_check:
        machine = Cluster(point.gpus, Link(0, math.inf))
        predicted = step_of(point.network, point.batch, point.gpus, point.tensor_ranks,
                            point.transport, machine, constants)
        found.append(Checked(f"step, {point.gpus} GPUs" if point.gpus > 1 else "step, 1 GPU",
                             name_of(point), point.seconds, predicted.seconds, True))
    return found


# -------------------------------------------------------------------------------------------------
# Reports


def points_of(paths: Sequence[pathlib.Path]) -> Points:
    """What these reports hold, and what is built in for the rest: points of reports take the place
    of those of the same kind.

    :raise Error: if one cannot be read, or has nothing to fit, or too little."""
    if not paths:
        return BUILT_IN
    found = Points([], [], [])
    for path in paths:
        _read(path, found)
    for way in WAYS.values():
        sizes = {point.size for point in found.sums if point.way == way}
        if len(sizes) == 1:
            raise Error(f"the reports have one size of {way.replace('_', '-')} only, but a line "
                        "takes two")
        if not sizes:
            found.sums.extend(point for point in BUILT_IN.sums if point.way == way)
    if not found.steps and not found.steps_to_check:
        found.steps_to_check.extend(BUILT_IN.steps_to_check)
    for precision in ELEMENT_BYTES:
        own = _steps_of(found.steps, precision)
        if len(own) < LEAST_STEPS:  # too few to fit, but not to check
            found.steps_to_check[:0] = own
            found.steps[:] = [point for point in found.steps if point not in own]
            found.steps.extend(_steps_of(BUILT_IN.steps, precision))
    return found


def _read(path: pathlib.Path, found: Points) -> None:
    report = read_report(path)
    if report.get("cuda_on_cpu"):
        raise Error(f"{path} was measured with CUDA on the CPU, whose times mean nothing about "
                    "GPUs")
    if report.get("ladder") == "all-reduce":
        _read_sums(path, report, found)
    elif report.get("epochs"):
        _read_training(path, report, found)
    else:
        raise Error(f"{path} is neither of ladder all-reduce nor of a training")


def _read_sums(path: pathlib.Path, report: dict[str, Any], found: Points) -> None:
    ranks = int(number(report, "ranks", path))
    if ranks < 2:
        raise Error(f"{path} is of a single process, which has nothing to add up")
    rows = [row for table in report.get("tables", [])
            for row in [*table.get("rows", []), *filter(None, [table.get("reference")])]]
    for row in rows:
        if row.get("name") in WAYS and row.get("verified"):
            found.sums.append(SumPoint(WAYS[row["name"]], ranks, int(number(row, "bytes", path)),
                                       _positive(row, "seconds", path)))


def _read_training(path: pathlib.Path, report: dict[str, Any], found: Points) -> None:
    model = re.match(r"mlp (\d+(?:-\d+)+)\b", str(report.get("model", "")))
    precision = report.get("precision")
    if not model or precision not in ELEMENT_BYTES:
        raise Error(f"{path} is of no mlp, and the model knows nothing else")
    network = Network(tuple(map(int, model[1].split("-"))), precision)
    batch = int(_positive(report, "batch_size", path))
    gpus = int(_positive(report, "ranks", path, absent=1))
    rate = max(_positive(epoch, "images_per_second", path) for epoch in report["epochs"])
    words = str(report.get("command", "")).split()
    if gpus == 1:
        found.steps.append(StepPoint(network, batch, batch / rate,
                                     memory_bandwidth=_memory_bandwidth(report, path)))
        return
    if gpus > MOST_PEERS:
        raise Error(f"{path} is of {gpus} processes, but {MOST_PEERS} of one machine are the most "
                    "that is compared")
    if _option(words, "--average", "gradients") != "gradients":
        raise Error(f"{path} is of averaged weights, which the model does not know")
    strategy = _option(words, "--strategy", "auto")
    if strategy == "auto":  # only with data parallelism are ranks workers
        strategy = "data" if "workers" in report else "tensor"
    count = {"data": "1", "tensor": str(gpus)}.get(strategy, _option(words, "--tensor-ranks", "2"))
    transport = _option(words, "--transport", "auto").replace("auto", "peer")
    if transport not in ("peer", "nccl", "host") or not count.isdigit():
        raise Error(f"{path} is of a training that the model does not know: {' '.join(words[1:])}")
    found.steps_to_check.append(
        StepPoint(network, batch, batch / rate, gpus, int(count), transport))


def _memory_bandwidth(report: dict[str, Any], path: pathlib.Path) -> float:
    """Of the report's GPU, if the report knows it."""
    limits = report.get("limits") or {}
    if not limits.get("bytes_per_second"):
        return scaling_points.MEMORY_BANDWIDTH
    return _positive(limits, "bytes_per_second", path)


def _option(words: Sequence[str], name: str, usual: str) -> str:
    """The value of an option of the command that a report has."""
    for index, word in enumerate(words):
        if word == name and index + 1 < len(words):
            return words[index + 1]
        if word.startswith(name + "="):
            return word.partition("=")[2]
    return usual


def _positive(row: dict[str, Any], key: str, path: pathlib.Path,
              absent: float | None = None) -> float:
    value = number(row, key, path, absent)
    if value <= 0:
        raise Error(f"cannot use {path}: '{key}' is {value:g} somewhere")
    return value
