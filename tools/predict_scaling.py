#!/usr/bin/env python3
"""Predicts a training step of an mlp on many GPUs. ./run.sh predict-scaling starts it.

A step is what a GPU computes and what the ranks exchange: a latency, and bytes over a bandwidth.
The constants are fitted to measurements on two H200s, or to your own: --fit. For each number of
GPUs, there is a line for each strategy of stage 05, with its fastest transport. The page "How far
it scales" of the documentation (docs/pages/scaling_model.md) explains the model, and how far off it
is.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys
from typing import Sequence

from stagewise import command_line
from stagewise.command_line import Error, UsageError, did_you_mean, whole_number
from stagewise.files import expect_kept

MOST = 1_000_000
TRANSPORTS = ("auto", "peer", "nccl", "host", "hierarchical")
USUAL_BATCH = 800


def widths_of(text: str) -> tuple[int, ...]:
    if text == "none":
        return ()
    return tuple(whole_number("--hidden", MOST)(word) for word in text.split(","))


def gpus_of(text: str) -> tuple[int, ...]:
    return tuple(sorted({whole_number("--gpus", MOST)(word) for word in text.split(",")}))


def network_of(text: str) -> tuple[float, float]:
    words = text.split(",")
    if len(words) == 2 and all(re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", word) for word in words):
        bandwidth, latency = map(float, words)
        if bandwidth > 0:
            return bandwidth, latency
    raise UsageError(f"--network is '{text}', but must be GB/s and us: 400,5")


def one_of(name: str, values: Sequence[str]):
    def read(text: str) -> str:
        if text in values:
            return text
        meant = did_you_mean(text, values) or f"but must be one of {', '.join(values)}"
        raise UsageError(f"{name} is '{text}'{';' if meant.startswith('did') else ','} {meant}")

    return read


def path_of(text: str) -> pathlib.Path:
    if not text:
        raise UsageError("'' is no file")
    return pathlib.Path(text)


def parser() -> argparse.ArgumentParser:
    result = command_line.Parser(prog="predict-scaling", description=__doc__)

    training = result.add_argument_group("Training")
    training.add_argument("--hidden", metavar="LIST", type=widths_of, default=(1000,),
                          help="widths of the hidden layers; none for none [1000]")
    training.add_argument("--features", metavar="N", type=whole_number("--features", MOST),
                          default=784, help="pixels of an image [784]")
    training.add_argument("--classes", metavar="N", type=whole_number("--classes", MOST),
                          default=10, help="[10]")
    training.add_argument("--precision", metavar="NAME", default="float",
                          type=one_of("--precision", ("float", "double")),
                          help="float, double [float]")
    training.add_argument("--batch-size", metavar="N", type=whole_number("--batch-size", MOST),
                          help=f"samples a step over all GPUs: strong scaling [{USUAL_BATCH}]")
    training.add_argument("--batch-per-gpu", metavar="N",
                          type=whole_number("--batch-per-gpu", MOST),
                          help="samples a step on each GPU: weak scaling")

    gpus = result.add_argument_group("GPUs")
    gpus.add_argument("--gpus", metavar="LIST", type=gpus_of,
                      default=tuple(2**power for power in range(11)),
                      help="numbers of GPUs [1,2,4,8,16,32,64,128,256,512,1024]")
    gpus.add_argument("--gpus-per-machine", metavar="N", default=8,
                      type=whole_number("--gpus-per-machine"), help="[8]")
    gpus.add_argument("--network", metavar="GB/S,US", type=network_of, default=(400.0, 5.0),
                      help="what a machine sends to the others a second, and after which latency "
                      "[400,5]")
    gpus.add_argument("--transport", metavar="NAME", default="auto",
                      type=one_of("--transport", TRANSPORTS),
                      help="peer, nccl, host, hierarchical (which stage 05 does not have), or the "
                      "fastest of the first three: auto [auto]")

    results = result.add_argument_group("Constants and results")
    results.add_argument("--fit", metavar="REPORT", nargs="+", type=path_of, default=[],
                         help="fit to these: of ladder all-reduce --report, and of train --report "
                         "on one GPU, at least three a precision; --check compares also those of "
                         "trainings on several GPUs")
    results.add_argument("--check", action="store_true",
                         help="print the constants, and all measurements beside the model, instead")
    results.add_argument("--figure", metavar="FILE", type=path_of,
                         help="draw it, SVG or PNG by its name")
    results.add_argument("--theme", metavar="light|dark", type=one_of("--theme", ("light", "dark")),
                         default="light", help="the page that the figure is for [light]")
    return result


def main(words: Sequence[str]) -> None:
    options = parser().parse_args(words)
    if options.batch_size and options.batch_per_gpu:
        raise UsageError("--batch-size and --batch-per-gpu exclude each other")
    if options.check and options.figure:
        raise UsageError("--check draws no figure; leave out --figure")
    if options.figure:
        expect_kept(options.fit, options.figure)
    try:  # only now, so that neither --help nor an objection to the options needs NumPy
        from stagewise import scaling_fit, scaling_table
    except ImportError as error:
        raise missing(error) from None
    points = scaling_fit.points_of(options.fit)
    constants = scaling_fit.fit(points)
    if options.check:
        lines = [*scaling_table.constants_table(constants), "",
                 *scaling_table.check_table(scaling_fit.check(points, constants))]
    else:
        question = question_of(options)
        found = scaling_table.answer(question, constants)
        if not found.rows:
            raise UsageError(f"--transport {options.transport} reaches none of these numbers of "
                             "GPUs")
        lines = [*scaling_table.head(question), "", *scaling_table.table(found), "",
                 *scaling_table.sentences(found)]
    if options.figure:
        draw(options, question, found, points, constants)
    for line in lines:
        command_line.say(line)
    if options.figure:
        command_line.say(f"saved  {options.figure}")


def missing(error: ImportError) -> Error:
    return Error(f"this python3 has no {error.name}; ./run.sh predict-scaling installs it")


def question_of(options: argparse.Namespace):
    from stagewise.scaling_model import OF_STAGE_05, Cluster, Link, Network
    from stagewise.scaling_table import Question

    bandwidth, latency = options.network
    return Question(
        Network((options.features, *options.hidden, options.classes), options.precision),
        options.batch_per_gpu or options.batch_size or USUAL_BATCH,
        options.batch_per_gpu is not None,
        options.gpus,
        Cluster(options.gpus_per_machine, Link(1e-6 * latency, 1e9 * bandwidth)),
        OF_STAGE_05 if options.transport == "auto" else (options.transport,))


def draw(options: argparse.Namespace, *model) -> None:
    command_line.make_matplotlib_quiet()
    try:
        from stagewise import scaling_figure, theme
    except ImportError as error:
        raise missing(error) from None
    theme.format_of(options.figure)  # before the work
    theme.save(scaling_figure.draw(*model, theme.THEMES[options.theme]), options.figure)


if __name__ == "__main__":
    sys.exit(command_line.run("predict-scaling", main, sys.argv[1:]))
