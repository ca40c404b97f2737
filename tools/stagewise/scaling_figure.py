"""The scaling model as a figure: the sums that its constants are chosen for, and what it predicts."""

from __future__ import annotations

from typing import Sequence

import matplotlib.ticker
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stagewise import theme as look
from stagewise.command_line import short
from stagewise.scaling_model import STRATEGIES, Prediction
from stagewise.scaling_points import SUM_SECONDS, SUMS
from stagewise.theme import Theme


def draw(title: str, one: Prediction, rows: Sequence[Prediction], machine: int, theme: Theme) -> Figure:
    """Sums by their size on the left; images a second by the number of GPUs on the right.

    :param one: what one GPU does alone.
    :param machine: the GPUs in each."""
    figure = look.new_figure(theme, 10, 4)
    sums, rates = figure.subplots(1, 2)
    _sums(sums, theme)
    _rates(rates, one, rows, machine, theme)
    for axes in (sums, rates):
        axes.legend(fontsize=8)
    look.add_title(figure, f"Sums that were measured, and {title}, as predicted")
    return figure


def _sums(axes: Axes, theme: Theme) -> None:
    sizes = [512 * 2 ** (power / 13) for power in range(195)]  # up to 16 MB
    for (way, points), color in zip(SUMS.items(), theme.series):
        axes.plot(sizes, [1e6 * SUM_SECONDS[way](size) for size in sizes], color=color, linewidth=1.5,
                  label=f"{way}, 2 GPUs")
        axes.scatter(list(points), list(points.values()), 22, color, zorder=3)
    axes.set(xscale="log", yscale="log", xlabel="message", ylabel="us; points: measured, lines: the model")
    axes.set_xticks([1e3, 1e4, 1e5, 1e6, 1e7], ["1 KB", "10 KB", "100 KB", "1 MB", "10 MB"])
    axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda y, _: f"{y:,g}"))


def _rates(axes: Axes, one: Prediction, rows: Sequence[Prediction], machine: int, theme: Theme) -> None:
    gpus = sorted({1, *(row.gpus for row in rows)})
    axes.plot([1, gpus[-1]], [one.rate, gpus[-1] * one.rate], color=theme.muted, linewidth=1, linestyle="dashed",
              label="without any loss")
    for strategy, color in zip(STRATEGIES, theme.series):
        line = [one, *(row for row in rows if row.gpus > 1 and row.strategy == strategy)]
        if len(line) > 1:
            axes.plot([row.gpus for row in line], [row.rate for row in line], color=color, linewidth=1.5, marker="o",
                      markersize=3.5, label=strategy)
    least, most = min(row.rate for row in rows), max(row.rate for row in rows)
    axes.set_xscale("log", base=2)
    axes.set(yscale="log", ylim=(0.5 * least, 5 * most), xlabel="GPUs", ylabel="images/s")
    axes.set_xticks(gpus, [f"{count:,}" for count in gpus])
    if most < 100 * least:
        axes.yaxis.set_major_locator(matplotlib.ticker.LogLocator(10, (1, 2, 5)))
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda y, _: short(y)))
    if 1 < machine < gpus[-1]:
        axes.axvline(machine, color=theme.muted, linewidth=0.8, linestyle="dotted")
        axes.annotate("a machine", (machine, 0), (4, 5), xycoords=("data", "axes fraction"),
                      textcoords="offset points", color=theme.muted, fontsize=8)
