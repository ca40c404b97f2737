#!/usr/bin/env python3
"""Report 003's study, figure 2.1: a sigmoid neuron learns whether x >= 0.5, with 2, 4, 8 or 16 workers that average
their gradients, or their weights, in each of 10,000 steps of a sample each. Prints the losses as a table.

    reports/003/neuron/neuron_study.py [--program build/auto/bin/stage04_minibatch] [--steps 10000]

The neuron itself is `--model neuron` of every stage: build_neuron() in common/network/model.cpp.
"""

import argparse
import csv
import pathlib
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "benchmarks"))
from measuring import Failed, report_of, table  # noqa: E402

WORKERS = (2, 4, 8, 16)


def losses_of(program, workers, average, steps, every):
    """The mean losses of `every` steps each, and the seconds that a step takes."""
    # The data set has 100,000 samples; a step takes one for each worker.
    epochs = -(-steps * workers // 100000)
    limit = steps * workers // epochs
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "losses.csv"
        report = report_of([program, "train", "--model", "neuron", "--dataset", "step", "--train-limit", limit,
                            "--test-limit", 1000, "--epochs", epochs, "--learning-rate", 0.5, "--workers", workers,
                            "--batch-size", workers, "--average", average, "--log-every", every, "--csv", path])
        with path.open(encoding="utf-8") as file:
            losses = [float(row["loss"]) for row in csv.DictReader(file)]
    return losses, sum(epoch["seconds"] for epoch in report["epochs"]) / steps


def curves_of(program, steps, every):
    """{(average, workers): what losses_of() says}"""
    return {(average, workers): losses_of(program, workers, average, steps, every)
            for average in ("gradients", "weights") for workers in WORKERS}


def study(program, steps=10000, every=250):
    """The study's Markdown."""
    curves = curves_of(program, steps, every)
    halves = [losses[len(losses) // 2:] for losses, _ in curves.values()]
    rows = [[f"{(i + 1) * every:,}", *(f"{losses[i]:.5f}" for losses, _ in curves.values())]
            for i in range(steps // every)]
    rows += [["mean of the second half", *(f"{statistics.mean(half):.5f}" for half in halves)],
             ["its deviation", *(f"{statistics.pstdev(half):.5f}" for half in halves)],
             ["us a step", *(f"{1e6 * seconds:#.3g}".rstrip(".") for _, seconds in curves.values())]]
    return (f"A sigmoid neuron learns whether x >= 0.5: squared error, learning rate 0.5, {steps:,} steps, one sample a"
            f" step for each worker. Mean losses of {every} steps each.\n\n"
            + table(["step", *(f"{average}, {workers} workers" for average, workers in curves)], rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/auto/bin/stage04_minibatch", metavar="FILE",
                        help="stage 01's or 04's")
    parser.add_argument("--steps", type=int, default=10000, metavar="N")
    options = parser.parse_args()
    if options.steps < 2:
        parser.error("--steps must be at least 2")
    try:
        print(study(options.program, options.steps, max(1, options.steps // 40)))
    except Failed as failure:
        sys.exit(f"neuron_study.py: {failure}")


if __name__ == "__main__":
    main()
