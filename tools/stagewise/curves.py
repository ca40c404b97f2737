"""Learning curves: loss and accuracy over the epochs."""

from __future__ import annotations

import dataclasses
import pathlib

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from stagewise import theme as look
from stagewise.command_line import Error, UsageError
from stagewise.report import names_of, number, read_report, read_table
from stagewise.theme import Theme

MOST_DOTS = 25  # more are not told apart
LABEL_COLUMNS = 26  # longer names are wrapped


Points = list[tuple[float, float]]  # of a curve, from left to right


@dataclasses.dataclass
class Curves:
    """What one training has left: {"loss": ..., "accuracy": ...}."""

    training: dict[str, Points]
    validation: dict[str, Points]  # without any where there was none


def read(path: pathlib.Path) -> Curves:
    """The curves of a report, or of a table if the file's name ends in .csv.

    :raise Error: if it cannot be read or holds none."""
    if path.suffix == ".csv":
        epochs = steps = [{key: text for key, text in row.items() if text} for row in read_table(path)]
    else:
        report = read_report(path)
        epochs, steps = report.get("epochs", []), report.get("steps")
    of_an_epoch = _steps_per_epoch(steps, path) if steps else 0

    def points(rows: list[dict], key: str, x: str = "epoch", unit: float = 1) -> Points:
        return [(number(row, x, path) / unit, number(row, key, path)) for row in rows]

    curves = Curves({}, {})
    for what in ("loss", "accuracy"):
        curves.training[what] = (points(epochs, f"train_{what}") if steps is None else
                                 points(steps, what, "step", of_an_epoch))
        key = f"validation_{what}"
        curves.validation[what] = points([row for row in epochs if key in row], key)
    if not curves.training["loss"]:
        raise Error(f"{path} has no learning curve, since it is not of a training, or of no epoch")
    return curves


def _steps_per_epoch(rows: list[dict], path: pathlib.Path) -> float:
    """Steps are counted over all epochs, which have the same number of them."""
    steps = number(rows[-1], "step", path) / max(1.0, number(rows[-1], "epoch", path))
    if steps <= 0:
        raise Error(f"cannot use {path}: its last 'step' is not at least 1")
    return steps


def draw(paths: list[pathlib.Path], labels: list[str] | None, theme: Theme, log: bool) -> Figure:
    """Loss and accuracy side by side; a colour for each file.

    :param labels: what to call the files.
    :param log: whether the loss has a logarithmic axis.
    :raise Error: if one cannot be read or has no curve, or there are more than colours."""
    if len(paths) > len(theme.series):
        raise UsageError(f"at most {len(theme.series)} curves can be told apart, and there are {len(paths)} files")
    figure = look.new_figure(theme, 8, 3.4)
    all_axes = dict(zip(("loss", "accuracy"), figure.subplots(1, 2)))
    has_validation = False
    for path, color in zip(paths, theme.series):
        curves = read(path)
        for what, axes in all_axes.items():
            _plot(axes, curves.training[what], color, "-")
            _plot(axes, curves.validation[what], color, "--")
        has_validation = has_validation or bool(curves.validation["loss"])
    for what, axes in all_axes.items():
        axes.set_title(what, loc="left", fontsize=10)
        axes.set_xlabel("epoch")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        axes.grid(axis="y", color=theme.muted, alpha=0.2, linewidth=0.8)
    if log:
        _make_logarithmic(all_axes["loss"])
    _add_legends(*all_axes.values(), labels or names_of(paths), theme, has_validation)
    return figure


def _plot(axes: Axes, points: Points, color: str, line: str) -> None:
    dots = "o" if len(points) <= MOST_DOTS else None
    x, y = zip(*points) if points else ((), ())
    axes.plot(x, y, line, color=color, linewidth=1.4, marker=dots, markersize=3)


def _make_logarithmic(axes: Axes) -> None:
    """With labels as people write numbers, 0.05, of which there are some for any range."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if high < 10 * low:
        axes.yaxis.set_major_locator(MaxNLocator(nbins=7))
    elif high < 300 * low:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.6g}")
    axes.yaxis.set_minor_formatter(NullFormatter())


def _add_legends(loss: Axes, accuracy: Axes, labels: list[str], theme: Theme, has_validation: bool) -> None:
    colors = [Line2D([], [], color=color, linewidth=1.4, label=look.wrapped(label, LABEL_COLUMNS))
              for label, color in zip(labels, theme.series)]
    loss.legend(handles=colors)
    if has_validation:
        lines = [Line2D([], [], color=theme.muted, linewidth=1.4, linestyle=line, label=name)
                 for line, name in (("-", "training"), ("--", "validation"))]
        accuracy.legend(handles=lines)
