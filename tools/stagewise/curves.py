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


@dataclasses.dataclass
class Series:
    """Points of a curve, from left to right."""

    x: list[float] = dataclasses.field(default_factory=list)
    y: list[float] = dataclasses.field(default_factory=list)

    def add(self, x: float, y: float) -> None:
        self.x.append(x)
        self.y.append(y)


@dataclasses.dataclass
class Curves:
    """What one training has left: {"loss": ..., "accuracy": ...}."""

    training: dict[str, Series]
    validation: dict[str, Series]  # empty series where there was none


def _empty() -> dict[str, Series]:
    return {"loss": Series(), "accuracy": Series()}


def read(path: pathlib.Path) -> Curves:
    """The curves of a report, or of a table if the file's name ends in .csv.

    :raise Error: if it cannot be read or holds none."""
    curves = _of_table(path) if path.suffix == ".csv" else _of_report(path)
    if not curves.training["loss"].x:
        raise Error(f"{path} has no learning curve, since it is not of a training, or of no epoch")
    return curves


def _of_table(path: pathlib.Path) -> Curves:
    curves = Curves(_empty(), _empty())
    rows = read_table(path)
    steps = _steps_per_epoch(rows, path)
    for row in rows:
        for what in ("loss", "accuracy"):
            curves.training[what].add(number(row, "step", path) / steps, number(row, what, path))
            if row.get(f"validation_{what}"):
                curves.validation[what].add(number(row, "epoch", path),
                                            number(row, f"validation_{what}", path))
    return curves


def _of_report(path: pathlib.Path) -> Curves:
    curves = Curves(_empty(), _empty())
    report = read_report(path)
    for what in ("loss", "accuracy"):
        for row in report.get("epochs", []):
            epoch = number(row, "epoch", path)
            if "steps" not in report:
                curves.training[what].add(epoch, number(row, f"train_{what}", path))
            if f"validation_{what}" in row:
                curves.validation[what].add(epoch, number(row, f"validation_{what}", path))
        if rows := report.get("steps"):
            steps = _steps_per_epoch(rows, path)
            for row in rows:
                curves.training[what].add(number(row, "step", path) / steps,
                                          number(row, what, path))
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
        raise UsageError(f"at most {len(theme.series)} curves can be told apart, and there are "
                         f"{len(paths)} files")
    figure = look.new_figure(theme, 8, 3.4)
    all_axes = dict(zip(("loss", "accuracy"), figure.subplots(1, 2)))
    has_validation = False
    for path, color in zip(paths, theme.series):
        curves = read(path)
        for what, axes in all_axes.items():
            _plot(axes, curves.training[what], color, "-")
            _plot(axes, curves.validation[what], color, "--")
        has_validation = has_validation or bool(curves.validation["loss"].x)
    for what, axes in all_axes.items():
        axes.set_title(what, loc="left", color=theme.ink, fontsize=10)
        axes.set_xlabel("epoch")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        axes.grid(axis="y", color=theme.muted, alpha=0.2, linewidth=0.8)
        look.style(axes, theme)
    if log:
        _make_logarithmic(all_axes["loss"])
    _add_legends(*all_axes.values(), labels or names_of(paths), theme, has_validation)
    return figure


def _plot(axes: Axes, series: Series, color: str, line: str) -> None:
    dots = "o" if len(series.x) <= MOST_DOTS else None
    axes.plot(series.x, series.y, line, color=color, linewidth=1.4, marker=dots, markersize=3)


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


def _add_legends(loss: Axes, accuracy: Axes, labels: list[str], theme: Theme,
                 has_validation: bool) -> None:
    colors = [Line2D([], [], color=color, linewidth=1.4, label=look.wrapped(label, LABEL_COLUMNS))
              for label, color in zip(labels, theme.series)]
    loss.legend(handles=colors, frameon=False, labelcolor=theme.ink)
    if has_validation:
        lines = [Line2D([], [], color=theme.muted, linewidth=1.4, linestyle=line, label=name)
                 for line, name in (("-", "training"), ("--", "validation"))]
        accuracy.legend(handles=lines, frameon=False, labelcolor=theme.ink)
