"""The confusion matrix: which classes a network takes for which."""

from __future__ import annotations

import pathlib
from typing import Any, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from stagewise import mosaic
from stagewise import theme as look
from stagewise.command_line import Error
from stagewise.report import class_names, number, read_report
from stagewise.theme import Theme

MOST_WITH_NUMBERS = 30  # classes; more are drawn without


def draw(path: pathlib.Path, theme: Theme) -> Figure:
    """A row for each class, a column for each answer. What is right and what is wrong have a colour
    each, and each its own scale: mistakes are few.

    :param path: a report of `evaluate --confusion --report`.
    :raise Error: if it has no such matrix."""
    report = read_report(path)
    counts = _counts(report, path)
    names = _names(report, len(counts))
    side = 2.0 + min(6.0, 0.42 * len(counts))
    figure = look.new_figure(theme, side + 1.0, side)
    axes = figure.add_subplot()
    last = len(counts) - 0.5
    picture = _picture(counts, theme)
    axes.imshow(mosaic.enlarged(picture), extent=(-0.5, last, last, -0.5))
    _label(axes, names)
    if len(counts) <= MOST_WITH_NUMBERS:
        _write_numbers(axes, counts, picture, theme)
        _write_fractions(axes, report["confusion"], path, theme)
    look.add_title(figure, f"{report.get('model', '')}: accuracy "
                   f"{np.trace(counts) / max(1, counts.sum()):.4f} of {counts.sum():,} samples")
    return figure


def _picture(counts: np.ndarray, theme: Theme) -> np.ndarray:
    """A pixel for each cell, [classes, classes, 3]."""
    right = np.eye(len(counts), dtype=bool)
    picture = np.empty((*counts.shape, 3))
    for series, cells in ((0, right), (1, ~right)):
        most = max(1, counts[cells].max(initial=0))
        picture[cells] = theme.rising(series)(counts[cells] / most)[:, :3]
    return picture


def _counts(report: dict[str, Any], path: pathlib.Path) -> np.ndarray:
    if "confusion" not in report:
        raise Error(f"{path} has no confusion matrix, which evaluate --confusion --report writes")
    try:
        counts = np.array(report["confusion"]["counts"], dtype=np.int64)
    except (KeyError, TypeError, ValueError, OverflowError):
        counts = np.empty(0)
    is_square = counts.ndim == 2 and counts.shape[0] == counts.shape[1]
    if not is_square or counts.size == 0 or counts.min() < 0:
        raise Error(f"cannot use {path}: its 'counts' are no square of whole numbers")
    return counts


def _names(report: dict[str, Any], count: int) -> list[str]:
    names = class_names(report)
    return names if len(names) == count else [str(i) for i in range(count)]


def _label(axes: Axes, names: list[str]) -> None:
    every = -(-len(names) // MOST_WITH_NUMBERS)
    places = range(0, len(names), every)
    shown = [look.escaped(names[place]) for place in places]
    is_long = max(map(len, shown)) > 3
    turned = {"rotation": 60, "ha": "right"} if is_long else {}
    axes.set_xticks(places, shown, **turned)
    axes.set_yticks(places, shown)
    axes.set(xlabel="answer", ylabel="class")
    axes.tick_params(length=0)


def _write_numbers(axes: Axes, counts: np.ndarray, picture: np.ndarray, theme: Theme) -> None:
    """Each in that of the two colours that is further from its cell's."""
    for (row, column), count in np.ndenumerate(counts):
        if count == 0:
            continue
        cell = _brightness(picture[row, column])
        color = max(theme.paper, theme.ink, key=lambda one: abs(_brightness(to_rgb(one)) - cell))
        axes.text(column, row, f"{count:,}", ha="center", va="center", fontsize=7, color=color)


def _brightness(color: Sequence[float]) -> float:
    """Of red, green and blue, from 0 to 1."""
    return float(np.dot(color, (0.299, 0.587, 0.114)))


def _write_fractions(axes: Axes, confusion: dict[str, Any], path: pathlib.Path, theme: Theme) -> None:
    """Recall at the right of each row, precision above each column."""
    right = len(confusion["counts"]) - 0.3
    above = -0.75
    style = {"color": theme.muted, "fontsize": 7, "va": "center"}
    axes.text(right, above, "recall", ha="left", **style)
    axes.text(above, above, "precision", ha="right", **style)
    for place, text in enumerate(_fractions(confusion, "recall", path)):
        axes.text(right, place, text, ha="left", **style)
    for place, text in enumerate(_fractions(confusion, "precision", path)):
        axes.text(place, above, text, ha="center", **style)


def _fractions(confusion: dict[str, Any], key: str, path: pathlib.Path) -> list[str]:
    """One text per class; "-" if the class has none."""
    values = confusion.get(key)
    if not isinstance(values, list) or len(values) != len(confusion["counts"]):
        raise Error(f"cannot use {path}: its '{key}' is not one number for each class")
    return ["-" if value is None else f"{number({key: value}, key, path):.3f}" for value in values]
