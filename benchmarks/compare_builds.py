#!/usr/bin/env python3
"""Two builds on the same GPU, in turn: is a change slower anywhere?

    python3 benchmarks/compare_builds.py BEFORE AFTER [--only TABLE...] [-o FILE]

BEFORE and AFTER are folders of programs (build/cuda/bin) of two versions. Prints tables: trainings of stages 02 to 04,
and of stage 05 where there are several GPUs, a process each; products of stage 03; the kernels of stage 04's last
layer; and all rungs of the newer ladder.
"""
import argparse
import datetime
import pathlib
import sys

from measuring import NOTHING, Failed, gpu_count, gpu_lines, report_of

TRAININGS = [(stage, model, precision, batch)
             for stage in ("stage04_minibatch", "stage03_shared_memory", "stage02_naive_cuda")
             for model in ("mlp", "cnn") for precision in ("float", "double") for batch in (100, 1000, 10000)]
PRODUCTS = [(800, 1000, 784, ""), (800, 10, 1000, ""), (1000, 784, 800, "--transpose-a"), (777, 1001, 513, ""),
            (4096, 4096, 4096, ""), (100, 256, 784, ""), (784, 256, 100, "--transpose-a"), (10000, 1000, 784, ""),
            (1000, 10, 10000, "--transpose-a"), (788, 1180, 880, "--transpose-b")]
RUNS = 2


def report(command):
    """What a program reports; None if it fails."""
    try:
        return report_of(command)
    except Failed as failure:
        print(f"{failure}.", file=sys.stderr)
        return None


def fastest_epoch(command):
    """In milliseconds, of 10,000 images."""
    found = report([*command, "--train-limit", 10000, "--test-limit", 100, "--epochs", 4])
    return found and min(one["seconds"] for one in found["epochs"]) * 1e3


def epoch(folder, training, ranks=1):
    """The fastest epoch in milliseconds."""
    stage, model, precision, batch = training
    options = ["--model", "cnn"] if model == "cnn" else ["--hidden", "1000"]
    launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks] if ranks > 1 else []
    return fastest_epoch([*launcher, folder / stage, "train", "--batch-size", batch, "--precision", precision, *options])


def last_layer(folder, fuse, precision, batch):
    """The fastest epoch of stage 04 in milliseconds, with so much of the last layer in one kernel."""
    return fastest_epoch([folder / "stage04_minibatch", "train", "--batch-size", batch, "--precision", precision,
                          "--hidden", "1000", "--fuse", fuse])


def product(folder, problem, precision):
    """What stage 03's pick takes, in microseconds."""
    m, n, k, transpose = problem
    found = report([folder / "ladder", "gemm", "--picked", "--m", m, "--n", n, "--k", k, "--precision", precision,
                    *transpose.split()])
    return found and found["tables"][0]["rows"][0]["seconds"] * 1e6


def both(options, measure):
    """The fastest of some runs of both, in turn."""
    folders = (options.before, options.after)
    times = {folder: [] for folder in folders}
    for _ in range(RUNS):
        for folder in folders:
            times[folder].append(measure(folder))
    return [min((time for time in times[folder] if time), default=None) for folder in folders]


def line(*cells):
    """Of a table, whose times are numbers."""
    return "| " + " | ".join(NOTHING if cell is None else f"{cell:.4g}" if isinstance(cell, float) else str(cell)
                             for cell in cells) + " |"


def row(cells, old, new):
    return line(*cells, old, new, f"{old / new:.3f}" if old and new else NOTHING)


def rungs(options, say):
    say("", "## Rungs", "", "| m x n x k | precision | rung | us |", "|---|---|---|---:|")
    for m, n, k in ((800, 1000, 784), (4096, 4096, 4096)):
        for precision in ("float", "double"):
            found = report([options.after / "ladder", "gemm", "--m", m, "--n", n, "--k", k, "--precision", precision,
                            "--repetitions", 5 if m > 1000 else 20])
            for one in found["tables"][0]["rows"] if found else []:
                if "seconds" in one:
                    say(line(f"{m} x {n} x {k}", precision, f"`{one['name']}`", one["seconds"] * 1e6))


def products(options, say):
    say("", "## Products that stage 03 picks", "",
        "| m x n x k | precision | before, us | after | before : after |", "|---|---|---:|---:|---:|")
    for problem in PRODUCTS:
        for precision in ("float", "double"):
            times = both(options, lambda folder: product(folder, problem, precision))
            say(row([" x ".join(map(str, problem[:3])) + " " + problem[3], precision], *times))


def last_layers(options, say):
    kernels = ("off", "layers", "rows", "on")
    say("", "## The last layer of stage 04, by --fuse: ms an epoch of 10,000, 784-1000-10", "",
        "| precision | batch | " + " | ".join(kernels) + " |", "|---|---:|" + "---:|" * len(kernels))
    for precision in ("float", "double"):
        for batch in (100, 1000):
            say(line(precision, batch, *(last_layer(options.after, fuse, precision, batch) for fuse in kernels)))


def trainings(options, say):
    say("", "## Trainings", "", "| stage | model | precision | batch | before, ms an epoch | after | before : after |",
        "|---|---|---|---:|---:|---:|---:|")
    for training in TRAININGS:
        say(row([*map(str, training)], *both(options, lambda folder: epoch(folder, training))))


def several_gpus(options, say):
    ranks = gpu_count()
    if ranks < 2:
        say("", "Stage 05: one GPU only.")
        return
    say("", f"## Trainings of stage 05 on {ranks} GPUs", "",
        "| model | precision | batch | before, ms an epoch | after | before : after |", "|---|---|---:|---:|---:|---:|")
    for stage, *training in TRAININGS:
        if stage != "stage04_minibatch":
            continue
        times = both(options, lambda folder: epoch(folder, ("stage05_mpi", *training), ranks))
        say(row([*map(str, training)], *times))


TABLES = {"rungs": rungs, "products": products, "last-layer": last_layers, "trainings": trainings,
          "several-gpus": several_gpus}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--only", nargs="+", choices=TABLES, metavar="TABLE", help=f"only these: {', '.join(TABLES)}")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    file = options.output.open("w") if options.output else None

    def say(*lines):
        for line in lines:
            print(line, flush=True)
            if file:
                print(line, file=file, flush=True)

    say(f"Measured {datetime.date.today()}, the fastest of {RUNS} runs of each build, in turn.", *gpu_lines())
    for name, table in TABLES.items():
        if not options.only or name in options.only:
            table(options, say)


if __name__ == "__main__":
    main()
