"""Where the kernels of a ladder, or the lines of a program, lie under the roof of a device.

The x axis is the arithmetic intensity, operations for each byte, the y axis the rate. No kernel gets above
the roof: on the slope, memory delivers no more operands; on the flat part, there are no more units. What
was measured is drawn with the bytes that must move at least; what was counted by CUDA on the CPU with the
bytes that warps ask the L1 caches for, at the rate that its counters allow, under a roof for these, too.

Source: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for
multicore architectures", Communications of the ACM 52(4), 2009.
"""

from __future__ import annotations

import dataclasses
import math
import pathlib
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stagewise import theme as look
from stagewise.command_line import Error, short
from stagewise.report import number, read_report
from stagewise.theme import Theme

LARGEST_LABELS = 24  # points of a program beyond these have no names
LABEL_HEIGHT = 0.03  # of the height of the axes
LABEL_WIDTH = 0.16  # likewise of the width


@dataclasses.dataclass
class Point:
    """A kernel or a line."""

    name: str
    operations: float
    bytes: float
    seconds: float

    @property
    def intensity(self) -> float:
        return self.operations / self.bytes

    @property
    def rate(self) -> float:
        return self.operations / self.seconds


@dataclasses.dataclass
class Roofline:
    """What a report says."""

    title: str
    device: str
    peak: float  # operations per second
    memory: float  # bytes per second
    cache: float  # likewise, from the L1 caches; 0: not drawn
    counted: bool  # whether the points are what counters allow, not what was measured
    points: list[Point]


def read(path: pathlib.Path) -> Roofline:
    """A report of `ladder --report`, or of `train --explain --report`.

    :raise Error: if it cannot be read or has nothing to draw."""
    report = read_report(path)
    limits = report.get("limits")
    if limits is None:
        raise Error(f"{path} does not say what its device can do; ladders and train --explain write that")
    peak = number(limits, "operations_per_second", path)
    memory = number(limits, "bytes_per_second", path)
    if min(peak, memory) <= 0:
        raise Error(f"{path} is of a device whose limits are unknown")
    is_ladder = "tables" in report
    rows = _rungs(report) if is_ladder else report.get("timings", [])
    counted = any("counters" in row for row in rows)
    points = _points(rows, path, is_ladder, limits if counted else None, bool(report.get("cuda_on_cpu")))
    if not points and is_ladder and not any("operations" in row for row in rows):
        raise Error(f"{path} has no operations: its kernels move bytes and compute next to nothing")
    if not points:
        raise Error(f"{path} has neither times of a GPU nor counters, which programs of the "
                    "target instrumented_programs write")
    cache = number(limits, "cache_bytes_per_second", path) if counted else 0
    return Roofline(_title(report, is_ladder), str(limits.get("device", "the device")), peak, memory,
                    cache, counted, points)


def _title(report: dict[str, Any], is_ladder: bool) -> str:
    precision = report.get("precision", "")
    if not is_ladder:
        return f"{report['stage']}, {report.get('model', '')}, {precision}"
    sizes = " x ".join(str(report[size]) for size in "mnk" if size in report)
    return f"{report.get('ladder', '')} {sizes}, {precision}"


def _rungs(report: dict[str, Any]) -> list[dict[str, Any]]:
    rows = [row for table in report["tables"]
            for row in [*table.get("rows", []), *filter(None, [table.get("reference")])]]
    return [row for row in rows if row.get("verified")]


def _points(rows: list[dict[str, Any]], path: pathlib.Path, is_ladder: bool,
            limits: dict[str, Any] | None, is_on_cpu: bool) -> list[Point]:
    """
    :param limits: of the device, if the rows are counted."""
    points = []
    for row in rows:
        name = str(row.get("name" if is_ladder else "operation", ""))
        operations = number(row, "operations", path, absent=0)
        if limits is not None:
            seconds, moved = _allowed(row.get("counters") or {}, operations, limits, path)
        elif is_on_cpu:
            continue  # its times are none of a GPU
        elif is_ladder:
            seconds = number(row, "seconds", path, absent=0)
            moved = number(row, "bytes", path, absent=0)
        else:
            seconds = number(row, "forward_seconds", path) + number(row, "backward_seconds", path)
            moved = number(row, "bytes", path, absent=0)
        if min(operations, seconds, moved) > 0:
            points.append(Point(_short(name), operations, moved, seconds))
    return points


def _allowed(counters: dict[str, Any], operations: float, limits: dict[str, Any],
             path: pathlib.Path) -> tuple[float, float]:
    """The seconds that this takes at least, but for the time of the launch, and the bytes that warps
    ask for."""
    if not counters:
        return 0, 0
    asked = 32 * (number(counters, "load_sectors", path) + number(counters, "store_sectors", path))
    work = {"operations_per_second": operations, "cache_bytes_per_second": asked,
            "bytes_per_second": number(counters, "distinct_bytes", path),
            "shared_cycles_per_second": number(counters, "shared_cycles", path)}
    speeds = {name: number(limits, name, path) for name in work}
    return max(work[name] / speed for name, speed in speeds.items() if speed > 0), asked


def _short(name: str) -> str:
    """Of "gemm  fc1/weight ... -> fc1/product" the operation and what it writes."""
    words = name.split("  ", 1)
    return f"{words[0]} -> {name.rsplit('-> ', 1)[1]}" if len(words) > 1 and "-> " in name else name


def draw(path: pathlib.Path, theme: Theme) -> Figure:
    """The roof, and a point for each kernel or line."""
    roofline = read(path)
    figure = look.new_figure(theme, 8, 5.5)
    axes = figure.subplots()
    intensities = [point.intensity for point in roofline.points]
    ridges = [roofline.peak / roofline.memory]
    if roofline.cache:
        ridges.append(roofline.peak / roofline.cache)
    left, right = 0.1 * min([*intensities, *ridges]), 6 * max([*intensities, *ridges])
    bottom = 0.4 * min(point.rate for point in roofline.points)
    top = 3 * max(roofline.peak, *(point.rate for point in roofline.points))
    bottom = min(bottom, 1e-3 * roofline.peak)
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(bottom, top))
    _roof(axes, roofline.peak, roofline.memory, f"memory, {short(roofline.memory)}B/s", theme)
    if roofline.cache:
        _roof(axes, roofline.peak, roofline.cache, f"L1 caches, {short(roofline.cache)}B/s", theme)
    axes.annotate(f"peak, {short(roofline.peak)}FLOP/s", (right, roofline.peak), (-4, 4),
                  textcoords="offset points", ha="right", color=theme.muted, fontsize=8)
    axes.scatter(intensities, [point.rate for point in roofline.points], 26, theme.series[0], zorder=3)
    _label(axes, roofline.points[:LARGEST_LABELS], theme)
    asked = "that warps ask for" if roofline.counted else "that must move at least"
    axes.set_xlabel(f"operations for each byte {asked}")
    axes.set_ylabel("FLOP/s" + (" at most, by the counters" if roofline.counted else ", measured"))
    look.add_title(figure, f"{roofline.title}: the roof of {roofline.device}")
    return figure


def _roof(axes: Axes, peak: float, bandwidth: float, label: str, theme: Theme) -> None:
    left, right = axes.get_xlim()
    bottom = axes.get_ylim()[0]
    begin = max(left, bottom / bandwidth)
    axes.plot([begin, peak / bandwidth, right], [begin * bandwidth, peak, peak], color=theme.ink, linewidth=1.2)
    # Beside the slope, most of the way up.
    x = begin * (peak / bandwidth / begin) ** 0.7
    axes.annotate(label, (x, x * bandwidth), (-6, 2), textcoords="offset points", ha="right",
                  color=theme.muted, fontsize=8)


def _label(axes: Axes, points: list[Point], theme: Theme) -> None:
    """The names to the right of their points, from above, each with a line to its point; a name that
    would lie upon others moves down."""
    left, right = (math.log(limit) for limit in axes.get_xlim())
    bottom, top = (math.log(limit) for limit in axes.get_ylim())
    placed: list[tuple[float, float]] = []
    for point in sorted(points, key=lambda point: (-point.rate, point.intensity)):
        x = (math.log(point.intensity) - left) / (right - left) + 0.02
        y = (math.log(point.rate) - bottom) / (top - bottom) - LABEL_HEIGHT
        near = [other_y for other_x, other_y in placed if abs(other_x - x) < LABEL_WIDTH]
        while any(abs(other_y - y) < 0.99 * LABEL_HEIGHT for other_y in near):
            y -= 0.25 * LABEL_HEIGHT
        placed.append((x, y))
        axes.annotate(look.escaped(point.name), (point.intensity, point.rate), (x, y),
                      textcoords="axes fraction", va="center", fontsize=7.5,
                      arrowprops={"arrowstyle": "-", "color": theme.muted, "linewidth": 0.5,
                                  "shrinkA": 0, "shrinkB": 3, "relpos": (0, 0.5)})
