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

from measuring import MPIRUN, NOTHING, PRECISIONS, Failed, by, gpu_count, gpu_lines, report_of

TRAININGS = [(stage, model, precision, batch)
             for stage in ("stage04_minibatch", "stage03_shared_memory", "stage02_naive_cuda")
             for model in ("mlp", "cnn") for precision in PRECISIONS for batch in (100, 1000, 10000)]
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


def epoch(folder, training, *more, ranks=1):
    """The fastest epoch, of 10,000 images, in milliseconds."""
    stage, model, precision, batch = training
    network = ["--model", "cnn"] if model == "cnn" else ["--hidden", "1000"]
    launcher = [*MPIRUN, ranks] if ranks > 1 else []
    found = report([*launcher, folder / stage, "train", "--batch-size", batch, "--precision", precision, *network, *more,
                    "--train-limit", 10000, "--test-limit", 100, "--epochs", 4])
    return found and min(one["seconds"] for one in found["epochs"]) * 1e3


def product(folder, problem, precision):
    """What stage 03's pick takes, in microseconds."""
    m, n, k, transpose = problem
    found = report([folder / "ladder", "gemm", "--picked", "--m", m, "--n", n, "--k", k, "--precision", precision,
                    *transpose.split()])
    return found and found["tables"][0]["rows"][0]["seconds"] * 1e6


def both(options, cells, measure):
    """A row: the fastest of some runs of both, in turn, behind these cells."""
    times = {options.before: [], options.after: []}
    for _ in range(RUNS):
        for folder, of_folder in times.items():
            of_folder.append(measure(folder))
    old, new = (min(filter(None, of_folder), default=None) for of_folder in times.values())
    return [*cells, old, new, f"{old / new:.3f}" if old and new else NOTHING]


# The rows of each table, as they are measured


def rungs(options):
    for m, n, k in ((800, 1000, 784), (4096, 4096, 4096)):
        for precision in PRECISIONS:
            found = report([options.after / "ladder", "gemm", "--m", m, "--n", n, "--k", k, "--precision", precision,
                            "--repetitions", 5 if m > 1000 else 20])
            for one in found["tables"][0]["rows"] if found else []:
                if "seconds" in one:
                    yield by(m, n, k), precision, f"`{one['name']}`", one["seconds"] * 1e6


def products(options):
    for *size, transpose in PRODUCTS:
        for precision in PRECISIONS:
            yield both(options, [f"{by(*size)} {transpose}", precision],
                       lambda folder: product(folder, (*size, transpose), precision))


def last_layers(options):
    for precision in PRECISIONS:
        for batch in (100, 1000):
            training = "stage04_minibatch", "mlp", precision, batch
            yield precision, batch, *(epoch(options.after, training, "--fuse", fuse) for fuse in FUSED)


def trainings(options):
    for training in TRAININGS:
        yield both(options, training, lambda folder: epoch(folder, training))


def several_gpus(options):
    for stage, *training in TRAININGS if gpu_count() > 1 else []:
        if stage == "stage04_minibatch":
            yield both(options, training, lambda folder: epoch(folder, ("stage05_mpi", *training), ranks=gpu_count()))


FUSED = ("off", "layers", "rows", "on")
BOTH = ["before", "after", "before : after"]
TABLES = {  # by name: title, heading, rows
    "rungs": ("Rungs", ["m x n x k", "precision", "rung", "us"], rungs),
    "products": ("Products that stage 03 picks, in us", ["m x n x k", "precision", *BOTH], products),
    "last-layer": ("The last layer of stage 04, by --fuse: ms an epoch of 10,000, 784-1000-10",
                   ["precision", "batch", *FUSED], last_layers),
    "trainings": ("Trainings, in ms an epoch", ["stage", "model", "precision", "batch", *BOTH], trainings),
    "several-gpus": ("Trainings of stage 05 on all GPUs, if there are several, in ms an epoch",
                     ["model", "precision", "batch", *BOTH], several_gpus)}


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

    def say_row(cells):
        say("| " + " | ".join(NOTHING if cell is None else f"{cell:.4g}" if isinstance(cell, float) else str(cell)
                              for cell in cells) + " |")

    say(f"Measured {datetime.date.today()}, the fastest of {RUNS} runs of each build, in turn.", *gpu_lines())
    for name, (title, head, rows) in TABLES.items():
        if not options.only or name in options.only:
            say("", f"## {title}", "")
            for cells in (head, ["---"] + ["---:"] * (len(head) - 1)):
                say_row(cells)
            for cells in rows(options):
                say_row(cells)


if __name__ == "__main__":
    main()
