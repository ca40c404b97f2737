#!/usr/bin/env python3
"""Predicts a training step of an mlp on many GPUs. ./run.sh predict-scaling starts it.

A step is what a GPU computes and what the ranks exchange: a latency, and bytes over a bandwidth.
The constants were measured on two H200s. For each number of GPUs, there is a line for each strategy
of stage 05, with its fastest transport. The page "How far it scales" of the documentation
(docs/pages/scaling_model.md) explains the model, and how far off it is.
"""

from __future__ import annotations

import argparse
import re
import sys
from typing import Iterator, Sequence

from stagewise import command_line, scaling_points
from stagewise.command_line import Error, UsageError, did_you_mean, path_of, short, whole_number
from stagewise.scaling_model import OF_STAGE_05, TRANSPORTS, Cluster, Link, Network, Prediction, predict

MOST = 1_000_000


def widths_of(text: str) -> tuple[int, ...]:
    if text == "none":
        return ()
    return tuple(whole_number("--hidden", MOST)(word) for word in text.split(","))


def gpus_of(text: str) -> tuple[int, ...]:
    return tuple(sorted({whole_number("--gpus", MOST)(word) for word in text.split(",")}))


def network_of(text: str) -> Link:
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?(,[0-9]{1,9}(\.[0-9]{1,9})?)", text):
        bandwidth, latency = map(float, text.split(","))
        if bandwidth > 0:
            return Link(1e-6 * latency, 1e9 * bandwidth)
    raise UsageError(f"--network is '{text}', but must be GB/s and us: 400,5")


def one_of(name: str, values: Sequence[str]):
    def read(text: str) -> str:
        if text in values:
            return text
        meant = did_you_mean(text, values) or f"but must be one of {', '.join(values)}"
        raise UsageError(f"{name} is '{text}'{';' if meant.startswith('did') else ','} {meant}")

    return read


def parser() -> argparse.ArgumentParser:
    result = command_line.Parser(prog="predict-scaling", description=__doc__)

    def number(name: str, description: str, default: int | None = None) -> None:
        result.add_argument(name, metavar="N", type=whole_number(name, MOST), default=default, help=description)

    result.add_argument("--hidden", metavar="LIST", type=widths_of, default=(1000,),
                        help="widths of the hidden layers; none for none [1000]")
    number("--features", "pixels of an image [784]", 784)
    number("--classes", "[10]", 10)
    result.add_argument("--precision", metavar="NAME", default="float", type=one_of("--precision", ("float", "double")),
                        help="float, double [float]")
    number("--batch-size", "samples a step over all GPUs: strong scaling [800]")
    number("--batch-per-gpu", "samples a step on each GPU: weak scaling")
    result.add_argument("--gpus", metavar="LIST", type=gpus_of, default=tuple(2**power for power in range(11)),
                        help="numbers of GPUs [1,2,4,8,16,32,64,128,256,512,1024]")
    number("--gpus-per-machine", "[8]", 8)
    result.add_argument("--network", metavar="GB/S,US", type=network_of, default=Link(5e-6, 400e9),
                        help="what a machine sends to the others a second, and after which latency [400,5]")
    result.add_argument("--transport", metavar="NAME", default="auto",
                        type=one_of("--transport", ("auto", *TRANSPORTS)),
                        help="peer, nccl, host, hierarchical (which stage 05 does not have), or the fastest of the "
                        "first three: auto [auto]")
    result.add_argument("--check", action="store_true", help="print all measurements beside the model, instead")
    result.add_argument("--figure", metavar="FILE", type=path_of, help="draw it, SVG or PNG by its name")
    result.add_argument("--theme", metavar="light|dark", type=one_of("--theme", ("light", "dark")), default="light",
                        help="the page that the figure is for [light]")
    return result


def main(words: Sequence[str]) -> None:
    options = parser().parse_args(words)
    if options.batch_size and options.batch_per_gpu:
        raise UsageError("--batch-size and --batch-per-gpu exclude each other")
    if options.check and options.figure:
        raise UsageError("--check draws no figure; leave out --figure")
    if options.check:
        for line in check_table():
            command_line.say(line)
        return
    network = Network((options.features, *options.hidden, options.classes), options.precision)
    cluster = Cluster(options.gpus_per_machine, options.network)
    transports = OF_STAGE_05 if options.transport == "auto" else (options.transport,)
    batch = options.batch_per_gpu or options.batch_size or 800

    def rows_of(gpus: int) -> list[Prediction]:
        return predict(network, batch * (gpus if options.batch_per_gpu else 1), gpus, cluster, transports)

    one = rows_of(1)[0]
    rows = [row for gpus in options.gpus for row in rows_of(gpus)]
    if not rows:
        raise UsageError(f"--transport {options.transport} reaches none of these numbers of GPUs")
    batches = f"{batch:,} {'on each GPU' if options.batch_per_gpu else 'over all GPUs'}"
    if options.figure:
        draw(options, f"{network}, batches of {batches}", one, rows)
    parameters = sum((inputs + 1) * outputs for inputs, outputs in network.layers)
    command_line.say(f"model  mlp {network}, {parameters:,} parameters")
    command_line.say(f"batch  {batches}")
    link = cluster.network
    command_line.say(f"GPUs   {cluster.gpus_per_machine} in a machine, which sends {link.bandwidth / 1e9:g} GB/s to "
                     f"the others after {link.latency * 1e6:g} us")
    command_line.say("")
    for line in table(one, rows):
        command_line.say(line)
    if options.figure:
        command_line.say(f"saved  {options.figure}")


def table(one: Prediction, rows: Sequence[Prediction]) -> Iterator[str]:
    """A line for each number of GPUs and strategy. The efficiency is the rate as a part of that of so many GPUs that
    exchange nothing."""
    yield (f"{'GPUs':>5}  {'strategy':<13}  {'transport':<12}  {'compute':>11}  {'exchange':>11}  "
           f"{'a step':>11}  {'images/s':>8}  efficiency")
    for row in rows:
        is_best = row.gpus > 1 and row.rate == max(other.rate for other in rows if other.gpus == row.gpus)
        strategy, transport = (row.strategy, row.transport) if row.gpus > 1 else ("-", "-")
        if strategy == "hybrid":
            strategy = f"hybrid, {row.gpus // row.tensor_ranks}x{row.tensor_ranks}"
        yield (f"{row.gpus:>5,}  {strategy:<13}  {transport:<12}  {us(row.compute)}  {us(row.exchange)}  "
               f"{us(row.seconds)}  {short(row.rate):>8}  {row.rate / (row.gpus * one.rate):>10.1%}"
               + ("  best" if is_best else ""))


def us(seconds: float) -> str:
    return f"{1e6 * seconds:>8,.1f} us"


def check_table() -> Iterator[str]:
    """Every measurement beside the model, and the errors of each kind."""
    points = list(scaling_points.checked())
    yield f"{'':<14}  {'':<40}  {'measured':>11}  {'the model':>11}  {'error':>7}"
    for point in points:
        yield (f"{point.kind:<14}  {point.what:<40}  {us(point.measured)}  {us(point.predicted)}  {point.error:>+7.1%}")
    yield ""
    for kind in dict.fromkeys(point.kind for point in points):
        errors = [abs(point.error) for point in points if point.kind == kind]
        yield (f"{kind + ',':<15} {len(errors)}: error {sum(errors) / len(errors):.1%} on average, "
               f"{max(errors):.1%} at most")


def draw(options: argparse.Namespace, title: str, one: Prediction, rows: Sequence[Prediction]) -> None:
    command_line.make_matplotlib_quiet()
    try:  # only now, so that nothing else needs Matplotlib
        from stagewise import scaling_figure, theme
    except ImportError as error:
        raise Error(f"this python3 has no {error.name}; ./run.sh predict-scaling installs it") from None
    theme.format_of(options.figure)  # before the work
    theme.save(scaling_figure.draw(title, one, rows, options.gpus_per_machine, theme.THEMES[options.theme]),
               options.figure)


if __name__ == "__main__":
    sys.exit(command_line.run("predict-scaling", main, sys.argv[1:]))
