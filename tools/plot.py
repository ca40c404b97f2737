#!/usr/bin/env python3
"""Draws what the programs have written. ./run.sh plot starts it.

plot FIGURE --help explains the options of each figure. The page "Figures" of the documentation
(docs/pages/plots.md) shows them.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Sequence

from stagewise import command_line
from stagewise.command_line import Error, UsageError, path_of, whole_number
from stagewise.files import expect_kept


def theme_of(text: str) -> str:
    if text not in ("light", "dark"):
        raise UsageError(f"--theme is '{text}', but must be light or dark")
    return text


def parser() -> argparse.ArgumentParser:
    result = command_line.Parser(prog="plot", description=__doc__)
    figures = result.add_subparsers(metavar="FIGURE", required=True, dest="figure", help="which one")

    def add(name: str, summary: str) -> argparse.ArgumentParser:
        figure = figures.add_parser(name, help=summary, description=summary)
        figure.add_argument("--output", metavar="FILE", type=path_of,
                            default=pathlib.Path(f"{name}.svg"),
                            help=f"the figure, SVG or PNG by its name [{name}.svg]")
        figure.add_argument("--theme", metavar="light|dark", type=theme_of, default="light",
                            help="the page that it is for [light]")
        return figure

    def add_most(figure: argparse.ArgumentParser, what: str, usual: int) -> None:
        figure.add_argument("--most", metavar="N", type=whole_number("--most"), default=usual,
                            help=f"draw at most N {what} [{usual}]")

    def add_files(figure: argparse.ArgumentParser, what: str) -> None:
        figure.add_argument("files", metavar="FILE", nargs="+", type=path_of, help=what)
        figure.add_argument("--labels", metavar="NAME,NAME", help="what to call the files")

    figure = add("curves", "Loss and accuracy over the epochs; dashed on the validation set.")
    add_files(figure, "reports of train --report, or logs of train --csv, whose names end in .csv")
    figure.add_argument("--log", action="store_true", help="a logarithmic axis for the loss")

    figure = add("weights", "An image for each unit of the first layer: its weight of every pixel.")
    figure.add_argument("file", metavar="CHECKPOINT", type=path_of, help="of a network of images")
    add_most(figure, "units", 50)

    figure = add("filters", "An image for each filter of a convolution.")
    figure.add_argument("file", metavar="CHECKPOINT", type=path_of, help="of --model cnn")
    figure.add_argument("--layer", metavar="NAME", default="conv1", help="which one [conv1]")
    add_most(figure, "filters", 64)

    figure = add("confusion", "Which classes are taken for which, with precision and recall.")
    figure.add_argument("file", metavar="REPORT", type=path_of, help="of evaluate --confusion --report")

    figure = add("mistakes", "The most confident mistakes, as images.")
    figure.add_argument("file", metavar="REPORT", type=path_of, help="of evaluate --mistakes N --report")
    add_most(figure, "mistakes", 24)

    figure = add("scaling", "Rates of several trainings, and their speed-ups over the first.")
    add_files(figure, "reports of train --report")

    figure = add("roofline", "The rates of kernels under the roof that memory and units set.")
    figure.add_argument("file", metavar="REPORT", type=path_of,
                        help="of ladder gemm --report, or of train --explain --report")
    return result


def labels_of(options: argparse.Namespace) -> list[str] | None:
    """What --labels calls the files."""
    if options.labels is None:
        return None
    labels = options.labels.split(",")
    if len(labels) != len(options.files):
        raise UsageError(f"--labels has {len(labels)} names, but the files are {len(options.files)}")
    return labels


def main(words: Sequence[str]) -> None:
    options = parser().parse_args(words)
    expect_kept(options.files if "files" in options else [options.file], options.output)
    command_line.make_matplotlib_quiet()
    try:  # only now, so that neither --help nor an objection to the options needs Matplotlib
        from stagewise import confusion, curves, mistakes, mosaic, roofline, scaling, theme
    except ImportError as error:
        raise Error(f"this python3 has no {error.name}; ./run.sh plot installs it") from None
    theme.format_of(options.output)  # before the work
    colors = theme.THEMES[options.theme]
    draw = {"curves": lambda: curves.draw(options.files, labels_of(options), colors, options.log),
            "weights": lambda: mosaic.draw_weights(options.file, colors, options.most),
            "filters": lambda: mosaic.draw_filters(options.file, colors, options.layer, options.most),
            "confusion": lambda: confusion.draw(options.file, colors),
            "mistakes": lambda: mistakes.draw(options.file, colors, options.most),
            "roofline": lambda: roofline.draw(options.file, colors),
            "scaling": lambda: scaling.draw(options.files, labels_of(options), colors)}
    theme.save(draw[options.figure](), options.output)
    command_line.say(f"saved  {options.output}")


if __name__ == "__main__":
    sys.exit(command_line.run("plot", main, sys.argv[1:]))
