"""How fast trainings were, beside one another: of several stages, or in several processes."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stagewise import theme as look
from stagewise.command_line import Error, short
from stagewise.report import names_of, number, read_report
from stagewise.theme import Theme


@dataclasses.dataclass
class Run:
    """What a report says about its speed."""

    label: str
    stage: str
    rate: float  # images per second, in the fastest epoch
    ranks: int  # processes
    is_on_cpu: bool  # whether it is CUDA on the CPU


# What may differ, by its key in the report, and how a label says it; of counts also of one.
DIFFERENCES = {"stage": ("{}",), "model": ("{}",), "precision": ("{}",),
               "batch_size": ("batches of {}",), "ranks": ("{} ranks", "1 rank"),
               "workers": ("{} workers", "1 worker")}
LABEL_COLUMNS = 30  # longer names are wrapped


def read(paths: list[pathlib.Path], labels: list[str] | None) -> list[Run]:
    """The runs of these reports.

    :param labels: a name for each; without, it is made of what differs among them.
    :raise Error: if one cannot be read, or is of no training."""
    reports = [read_report(path) for path in paths]
    runs = []
    for path, report, label in zip(paths, reports, labels or _labels(reports, paths)):
        rates = [number(epoch, "images_per_second", path) for epoch in report.get("epochs", [])]
        if not rates or max(rates) <= 0:
            raise Error(f"{path} has no times, since it is not of a training, or of no epoch")
        runs.append(Run(label, str(report["stage"]), max(rates),
                        max(1, int(number(report, "ranks", path, absent=1))),
                        bool(report.get("cuda_on_cpu"))))
    return runs


def _labels(reports: list[dict[str, Any]], paths: list[pathlib.Path]) -> list[str]:
    def words(key: str, value: Any) -> str:
        texts = DIFFERENCES[key]
        return texts[-1 if value == 1 else 0].format(value)

    different = [key for key in DIFFERENCES if len({str(report.get(key, 1)) for report in reports}) > 1]
    if all(report.get("workers", 1) == report.get("ranks", 1) for report in reports):
        different = [key for key in different if key != "workers"]  # one in each rank
    labels = [", ".join(words(key, report.get(key, 1)) for key in different) for report in reports]
    return labels if len(set(labels)) == len(labels) else names_of(paths)


def draw(paths: list[pathlib.Path], labels: list[str] | None, theme: Theme) -> Figure:
    """Rates, and speed-ups over the first run; where the number of ranks of one stage differs, also
    what so many would reach without any loss, and how much of it is reached."""
    runs = read(paths, labels)
    names = [look.wrapped(run.label, LABEL_COLUMNS) for run in runs]
    lines = max(name.count("\n") + 1 for name in names)
    figure = look.new_figure(theme, 8, 1.2 + 0.42 * len(runs) * max(1, lines / 2))
    rates, speedups = figure.subplots(1, 2, sharey=True)
    first = runs[0]
    values = [run.rate for run in runs]
    _bars(rates, values, [short(value) for value in values], values, theme.series[0])
    rates.set_yticks(range(len(runs)), names)
    rates.set_title("images/s, in the fastest epoch", loc="left", fontsize=9)
    rates.invert_yaxis()

    title = "speed-up over the first"
    values = [run.rate / first.rate for run in runs]
    texts = [f"{value:.2f}x" for value in values]
    ends = values
    ideal = [run.ranks / first.ranks for run in runs]
    if len(set(ideal)) > 1 and len({run.stage for run in runs}) == 1:
        title = "speed-up; line: without any loss"
        texts = [f"{text}, {value / best:.0%}" for text, value, best in zip(texts, values, ideal)]
        ends = [max(pair) for pair in zip(values, ideal)]
        for place, best in enumerate(ideal):
            speedups.plot([best, best], [place - 0.42, place + 0.42], color=theme.ink, linewidth=1.5)
    _bars(speedups, values, texts, ends, theme.series[1])
    speedups.set_title(title, loc="left", fontsize=9)
    if any(run.is_on_cpu for run in runs):
        look.add_title(figure, "with CUDA on the CPU: its times mean nothing about GPUs")
    return figure


def _bars(axes: Axes, values: list[float], texts: list[str], ends: list[float], color: str) -> None:
    """Bars, and their numbers as texts behind `ends`."""
    axes.barh(range(len(values)), values, 0.7, color=color)
    for place, (end, text) in enumerate(zip(ends, texts)):
        axes.annotate(text, (end, place), (5, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_xlim(0, 1.35 * max(ends))
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(length=0)
