"""The figures by their names on the command line."""

from __future__ import annotations

import argparse

from matplotlib.figure import Figure

from stagewise import confusion, curves, mistakes, roofline, scaling, theme, weights
from stagewise.command_line import UsageError


def save(options: argparse.Namespace) -> None:
    """Draws the figure that was asked for, and writes it.

    :raise Error: if something cannot be read or written, or is not what the figure shows."""
    theme.format_of(options.output)  # before the work
    theme.save(_draw(options, theme.THEMES[options.theme]), options.output)


def _draw(options: argparse.Namespace, colors: theme.Theme) -> Figure:
    if options.figure == "curves":
        return curves.draw(options.files, _labels(options), colors, options.log)
    if options.figure == "weights":
        return weights.draw_weights(options.file, colors, options.most)
    if options.figure == "filters":
        return weights.draw_filters(options.file, colors, options.layer, options.most)
    if options.figure == "confusion":
        return confusion.draw(options.file, colors)
    if options.figure == "mistakes":
        return mistakes.draw(options.file, colors, options.most)
    if options.figure == "roofline":
        return roofline.draw(options.file, colors)
    return scaling.draw(options.files, _labels(options), colors)


def _labels(options: argparse.Namespace) -> list[str] | None:
    """What --labels calls the files."""
    if options.labels is None:
        return None
    labels = options.labels.split(",")
    if len(labels) != len(options.files):
        raise UsageError(f"--labels has {len(labels)} names, but the files are "
                         f"{len(options.files)}")
    return labels
