#!/usr/bin/env python3
"""Two builds on the same GPU, in turn: is a change slower anywhere?

    python3 benchmarks/compare_builds.py BEFORE AFTER [--only TABLE...] [-o FILE]

BEFORE and AFTER are folders of programs (build/cuda/bin) of two versions. Prints tables: trainings of stages 02 to 04,
and of stage 05 where there are several GPUs, a process each; products of stage 03; the kernels of stage 04's last
layer; and all rungs of the newer ladder.
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TRAININGS = [(stage, model, precision, batch)
             for stage in ("stage04_minibatch", "stage03_shared_memory", "stage02_naive_cuda")
             for model in ("mlp", "cnn") for precision in ("float", "double") for batch in (100, 1000, 10000)]
PRODUCTS = [(800, 1000, 784, ""), (800, 10, 1000, ""), (1000, 784, 800, "--transpose-a"), (777, 1001, 513, ""),
            (4096, 4096, 4096, ""), (100, 256, 784, ""), (784, 256, 100, "--transpose-a"), (10000, 1000, 784, ""),
            (1000, 10, 10000, "--transpose-a"), (788, 1180, 880, "--transpose-b")]
RUNS = 2
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def report_of(command):
    """What a program reports as JSON; None if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.json"
        done = subprocess.run([*map(str, command), "--report", str(file)], capture_output=True, text=True, timeout=120,
                              env=ENVIRONMENT)
        if done.returncode != 0:
            print(" ".join(map(str, command)), done.stderr.strip(), file=sys.stderr)
            return None
        return json.loads(file.read_text())


def gpus():
    """Names and drivers of all GPUs."""
    return subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                          capture_output=True, text=True).stdout.strip().splitlines()


def epoch(folder, training, ranks=1):
    """The fastest epoch in milliseconds."""
    stage, model, precision, batch = training
    options = ["--model", "cnn"] if model == "cnn" else ["--hidden", "1000"]
    launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks] if ranks > 1 else []
    report = report_of([*launcher, folder / stage, "train", "--train-limit", 10000, "--test-limit", 100,
                        "--batch-size", batch, "--precision", precision, "--epochs", 4, *options])
    return report and min(one["seconds"] for one in report["epochs"]) * 1e3


def last_layer(folder, fuse, precision, batch):
    """The fastest epoch of stage 04 in milliseconds, with so much of the last layer in one kernel."""
    report = report_of([folder / "stage04_minibatch", "train", "--train-limit", 10000, "--test-limit", 100, "--batch-size",
                        batch, "--precision", precision, "--epochs", 4, "--hidden", "1000", "--fuse", fuse])
    return report and min(one["seconds"] for one in report["epochs"]) * 1e3


def product(folder, problem, precision):
    """What stage 03's pick takes, in microseconds."""
    m, n, k, transpose = problem
    report = report_of([folder / "ladder", "gemm", "--picked", "--m", m, "--n", n, "--k", k, "--precision", precision,
                        *transpose.split()])
    return report and report["tables"][0]["rows"][0]["seconds"] * 1e6


def both(options, measure):
    """The fastest of some runs of both, in turn."""
    folders = (options.before, options.after)
    times = {folder: [] for folder in folders}
    for _ in range(RUNS):
        for folder in folders:
            times[folder].append(measure(folder))
    return [min((time for time in times[folder] if time), default=None) for folder in folders]


def row(cells, old, new):
    ratio = f"{old / new:.3f}" if old and new else "-"
    return "| " + " | ".join([*cells, *(f"{time:.4g}" if time else "-" for time in (old, new)), ratio]) + " |"


def rungs(options, say):
    say("", "## Rungs", "", "| m x n x k | precision | rung | us |", "|---|---|---|---:|")
    for m, n, k in ((800, 1000, 784), (4096, 4096, 4096)):
        for precision in ("float", "double"):
            report = report_of([options.after / "ladder", "gemm", "--m", m, "--n", n, "--k", k, "--precision", precision,
                                "--repetitions", 5 if m > 1000 else 20])
            for one in report["tables"][0]["rows"] if report else []:
                if "seconds" in one:
                    say(f"| {m} x {n} x {k} | {precision} | `{one['name']}` | {one['seconds'] * 1e6:.4g} |")


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
            times = [last_layer(options.after, fuse, precision, batch) for fuse in kernels]
            say(f"| {precision} | {batch} | " + " | ".join(f"{time:.4g}" if time else "-" for time in times) + " |")


def trainings(options, say):
    say("", "## Trainings", "", "| stage | model | precision | batch | before, ms an epoch | after | before : after |",
        "|---|---|---|---:|---:|---:|---:|")
    for training in TRAININGS:
        say(row([*map(str, training)], *both(options, lambda folder: epoch(folder, training))))


def several_gpus(options, say):
    ranks = len(gpus())
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

    say(f"Measured {datetime.date.today()} on an {gpus()[0]}, the fastest of {RUNS} runs of each build, in turn.")
    for name, table in TABLES.items():
        if not options.only or name in options.only:
            table(options, say)


if __name__ == "__main__":
    main()
