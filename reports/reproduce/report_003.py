"""Report 003, S. Biswas, 2016: SHM-Learn-Dist, workers that average gradients or weights."""

import statistics
import sys

import figures
from exhibit import ROOT, Exhibit, Report, Shown, rung_seconds
from measuring import duration, percent, ratio, seconds_of

sys.path.append(str(ROOT / "reports/003/neuron"))
from neuron_study import WORKERS, curves_of  # noqa: E402: the path comes first


def neuron(bench):
    steps, every = (400, 100) if bench.quick else (10000, 250)
    program = bench.words("stage04")[0]
    curves = {case: losses for case, (losses, _) in curves_of(program, steps, every).items()}
    rows = [[f"{(i + 1) * every:,}", *(f"{losses[i]:.5f}" for losses in curves.values())]
            for i in range(steps // every)]
    spread = {workers: statistics.pstdev(curves["gradients", workers][-len(rows) // 2:]) for workers in WORKERS}
    return Shown(["step", *(f"{average}, {workers} workers" for average, workers in curves)], rows,
                 "more workers: slower, and less noise", f"noise of {spread[2]:.1e} with 2 workers, {spread[16]:.1e} with 16",
                 f"A sigmoid neuron learns whether x >= 0.5: squared error, learning rate 0.5, {steps:,} steps, one sample"
                 f" a step for each worker. Mean losses of {every} steps each.",
                 figures.lines(range(1, 9), "step", "squared error", log=False, marker=""))


def cifar10(bench):
    if not (bench.data / "cifar10").exists():
        bench.data_file("cifar10-jpeg")
    sizes = (["--train-limit", 40, "--test-limit", 20, "--batch-size", 20] if bench.quick
             else ["--batch-size", 100])
    rows = []
    for workers in (1, 2, 4) if bench.quick else (1, 2, 4, 8):
        averages = ("gradients",) if workers == 1 else ("gradients", "weights")
        for average in averages:
            more = ["--workers", workers, "--average", average] if workers > 1 else []
            report = bench.report([*bench.words("stage04"), "train", "--model", "cnn", "--dataset", "cifar10", *sizes, *more, "--epochs", 1 if bench.quick else 10], 300)
            rows.append([f"{workers}, {average}" if workers > 1 else "1", percent(report["test_accuracy"]),
                         duration(seconds_of(report))])
    return Shown(["workers", "accuracy", "an epoch"], rows, "plots that are not in the text",
                 f"{rows[0][1]} with 1 worker, {rows[-1][1]} with {rows[-1][0]}",
                 "Report 001's network on CIFAR-10.")


def shifts(bench):
    rows = []
    for rows_of, columns in ((60, 100),) if bench.quick else ((100, 784), (800, 1000), (10000, 784)):
        words = ["--m", rows_of, "--n", columns, "--repetitions", 1 if bench.quick else 20]
        times = [rung_seconds(bench, "transpose", rung, *words) for rung in ("shift-both", "naive", "padded")]
        rows.append([f"{rows_of:,} x {columns:,}", *map(duration, times), ratio(times[1], times[0])])
    return Shown(["matrix", "`shift-both`", "transposing, `naive`", "`padded`", "naive over the shifts"], rows,
                 "no times", f"{rows[-1][1]} for {rows[-1][0]}, to and fro",
                 "ShiftRight puts a column of ones into a matrix where it lies, and ShiftLeft takes it out, so that the"
                 " bias is a row of the weights. Here, rows wait for those that lie where they will write.")


REPORT = Report("003", "workers that average gradients or weights", "not named, 2016", [
    Exhibit("Figure 2.1", "a neuron with 2 to 16 workers", "reports/003/neuron/neuron_study.py", neuron),
    Exhibit("Section 6", "CIFAR-10 with workers", "stage04_minibatch train --model cnn --workers 4", cifar10),
    Exhibit("Figure 4.2.1", "ShiftRight and ShiftLeft", "ladder transpose --rung shift-both", shifts)])
