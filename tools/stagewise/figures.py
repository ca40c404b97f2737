"""The figures by their names on the command line."""

from __future__ import annotations

import argparse
from typing import Callable

from matplotlib.figure import Figure

from stagewise import confusion, curves, mistakes, roofline, scaling, theme, weights
from stagewise.command_line import UsageError


def save(options: argparse.Namespace) -> None:
    """Draws the figure that was asked for, and writes it.

    :raise Error: if something cannot be read or written, or is not what the figure shows."""
    theme.format_of(options.output)  # before the work
    theme.save(FIGURES[options.figure](options, theme.THEMES[options.theme]), options.output)


FIGURES: dict[str, Callable[[argparse.Namespace, theme.Theme], Figure]] = {
    "curves": lambda options, colors: curves.draw(options.files, _labels(options), colors, options.log),
    "weights": lambda options, colors: weights.draw_weights(options.file, colors, options.most),
    "filters": lambda options, colors: weights.draw_filters(options.file, colors, options.layer, options.most),
    "confusion": lambda options, colors: confusion.draw(options.file, colors),
    "mistakes": lambda options, colors: mistakes.draw(options.file, colors, options.most),
    "roofline": lambda options, colors: roofline.draw(options.file, colors),
    "scaling": lambda options, colors: scaling.draw(options.files, _labels(options), colors)}


def _labels(options: argparse.Namespace) -> list[str] | None:
    """What --labels calls the files."""
    if options.labels is None:
        return None
    labels = options.labels.split(",")
    if len(labels) != len(options.files):
        raise UsageError(f"--labels has {len(labels)} names, but the files are {len(options.files)}")
    return labels
