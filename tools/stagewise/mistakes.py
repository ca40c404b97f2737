"""The most confident mistakes, as images."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from stagewise import mosaic
from stagewise import theme as look
from stagewise.command_line import Error
from stagewise.report import class_names, number, read_report
from stagewise.theme import Theme

MOST_COLUMNS = 6


def draw(path: pathlib.Path, theme: Theme, most: int) -> Figure:
    """An image for each mistake; below it, its class and what the network takes it for.

    :param path: a report of `evaluate --mistakes N --report`.
    :raise Error: if it has no mistakes, or they are no images."""
    report = read_report(path)
    mistakes = report.get("mistakes")
    if not isinstance(mistakes, list):
        raise Error(f"{path} has no mistakes, which evaluate --mistakes N --report writes")
    if not mistakes:
        raise Error(f"the network of {path} has made no mistakes, so there is nothing to draw")
    mistakes = mistakes[:most]
    columns = min(MOST_COLUMNS, len(mistakes))
    rows = -(-len(mistakes) // columns)
    figure = look.new_figure(theme, max(2.6, 1.3 * columns), 1.75 * rows + 0.3)
    all_axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes, mistake in zip(all_axes, mistakes):
        mosaic.show(axes, image_of(mistake, path))
        axes.set_xlabel(look.escaped(_caption(mistake, report, path)), fontsize=8)
    for axes in all_axes[len(mistakes):]:
        axes.set_visible(False)
    look.add_title(figure, f"{report.get('model', '')}: the most confident mistakes")
    return figure


def image_of(mistake: dict[str, Any], path: pathlib.Path) -> np.ndarray:
    """The sample, [height, width, 3], from 0 to 1.

    :raise Error: if the report has none."""
    if not isinstance(mistake, dict) or "image" not in mistake:
        raise Error(f"the mistakes of {path} are no images")
    try:
        image = mistake["image"]
        rows = [np.frombuffer(bytes.fromhex(row), np.uint8) for row in image["rows"]]
        pixels = np.stack(rows).reshape(len(rows), -1, image["channels"]) / 255
        if pixels.size:
            return np.broadcast_to(pixels, (*pixels.shape[:2], 3))
    except (KeyError, TypeError, ValueError):
        pass
    raise Error(f"cannot use {path}: an 'image' of its mistakes is damaged")


def _caption(mistake: dict[str, Any], report: dict[str, Any], path: pathlib.Path) -> str:
    names = class_names(report)
    label, answer = (int(number(mistake, key, path)) for key in ("label", "predicted"))
    words = [names[i] if 0 <= i < len(names) else str(i) for i in (label, answer)]
    sample = int(number(mistake, "sample", path))
    return f"sample {sample}: {words[0]}\ntaken for {words[1]}, {number(mistake, 'confidence', path):.2f}"
