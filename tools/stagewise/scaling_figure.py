"""The scaling model as a figure: the sums that it is fitted to, and what it predicts."""

from __future__ import annotations

import matplotlib.ticker
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stagewise import theme as look
from stagewise.scaling_fit import WAYS, Points, sum_seconds
from stagewise.scaling_model import STRATEGIES, Constants
from stagewise.scaling_table import Answer, Question, short
from stagewise.theme import Theme


def draw(question: Question, found: Answer, points: Points, constants: Constants,
         theme: Theme) -> Figure:
    """Sums by their size on the left; images a second by the number of GPUs on the right."""
    figure = look.new_figure(theme, 10, 4)
    sums, rates = figure.subplots(1, 2)
    _sums(sums, points, constants, theme)
    _rates(rates, question, found, theme)
    network = question.network
    widths = "-".join(map(str, network.widths))
    batch = f"{question.batch:,} {'a GPU' if question.is_per_gpu else 'in all'}"
    look.add_title(figure, theme, f"Sums that were measured, and {widths}, {network.precision}, "
                   f"batches of {batch}, as predicted")
    return figure


def _sums(axes: Axes, points: Points, constants: Constants, theme: Theme) -> None:
    sizes = np.geomspace(512, 16e6, 200)
    for way, color in zip(WAYS.values(), theme.series):
        measured = [point for point in points.sums if point.way == way]
        ranks = min(point.ranks for point in measured)
        measured = [point for point in measured if point.ranks == ranks]
        line = [1e6 * sum_seconds(way, ranks, size, getattr(constants, way)) for size in sizes]
        name = "NCCL" if way == "nccl" else way.replace("_", "-")
        axes.plot(sizes, line, color=color, linewidth=1.5, label=f"{name}, {ranks} GPUs")
        axes.scatter([point.size for point in measured],
                     [1e6 * point.seconds for point in measured], 22, color, zorder=3)
    axes.set(xscale="log", yscale="log")
    axes.set_xticks([1e3, 1e4, 1e5, 1e6, 1e7], ["1 KB", "10 KB", "100 KB", "1 MB", "10 MB"])
    axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda y, _: f"{y:,g}"))
    axes.set_xlabel("message")
    axes.set_ylabel("us; points: measured, lines: the model")
    axes.legend(frameon=False, labelcolor=theme.ink, fontsize=8)
    look.style(axes, theme)


def _rates(axes: Axes, question: Question, found: Answer, theme: Theme) -> None:
    gpus = [count for count in question.gpus if count > 1] or [1]
    ends = [1, gpus[-1]]
    axes.plot(ends, [end * found.one.rate for end in ends], color=theme.muted, linewidth=1,
              linestyle="dashed", label="without any loss")
    for strategy, color in zip(STRATEGIES, theme.series):
        rows = found.of(strategy)
        if len(rows) > 1:
            axes.plot([row.gpus for row in rows], [row.rate for row in rows], color=color,
                      linewidth=1.5, marker="o", markersize=3.5, label=strategy)
    predicted = [row.rate for row in found.rows]
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(0.5 * min(predicted), 5 * max(predicted))
    axes.set_xticks([1, *gpus], [f"{count:,}" for count in [1, *gpus]])
    if max(predicted) < 100 * min(predicted):
        axes.yaxis.set_major_locator(matplotlib.ticker.LogLocator(10, (1, 2, 5)))
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda y, _: short(y)))
    machine = question.cluster.gpus_per_machine
    if 1 < machine < gpus[-1]:
        axes.axvline(machine, color=theme.muted, linewidth=0.8, linestyle="dotted")
        axes.annotate("a machine", (machine, 0), (4, 5), xycoords=("data", "axes fraction"),
                      textcoords="offset points", color=theme.muted, fontsize=8)
    axes.set_xlabel("GPUs")
    axes.set_ylabel("images/s")
    axes.legend(frameon=False, labelcolor=theme.ink, fontsize=8)
    look.style(axes, theme)
