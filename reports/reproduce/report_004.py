"""Report 004: serial against CUDA training of a sigmoid network with squared error, on generated data of any size."""

import figures
from exhibit import Exhibit, Report, Shown
from measuring import NOTHING, digits, percent, ratio, seconds_of

# How many times as fast CUDA was as the serial program.
BY_INPUTS = {512: 4.27, 1024: 4.43}
BY_BATCH = {32: 2.92, 64: 4.52, 128: 7.92, 256: 9.03, 512: 7.62, 1024: 4.49}
# Table 2: seconds by reduction.
REDUCTIONS = {"interleaved": ("naive", 45.18), "non-divergent": ("non-divergent", 30.79),
              "sequential": ("sequential", 27.83), "last-warp": ("loop unrolled", 23.64)}
# Table 3: accuracy in per cent and seconds.
WHOLESALE = {"serial": (80.35, 1.44), "CUDA": (81.70, 17.13)}
STAGES = ("stage01", "stage02", "stage03", "stage04")


def gaussian(inputs, hidden, samples, batch):
    return ["--dataset", "gaussian", "--features", inputs, "--samples", samples, "--hidden", hidden, "--activation",
            "sigmoid", "--loss", "squared-error", "--batch-size", batch, "--learning-rate", 0.01]


def by_size(bench, what, words_of, case_of, sizes, steps, epochs, theirs, words):
    """A row for each size: the seconds that stages 01 to 04 and PyTorch take for so many epochs."""
    peer = bench.peer_rates([case_of(size) for size in sizes], "--steps", steps)
    rows = []
    for size in sizes:
        seconds = [epochs * seconds_of(bench.train(stage, *words_of(size))) for stage in STAGES]
        rates = peer.get(case_of(size), {})
        batch = int(case_of(size).split("@")[1].split(",")[0])
        seconds.append(epochs * steps * batch / max(rates.values()) if rates else None)
        rows.append([f"{size:,}", *map(digits, seconds), f"{theirs[size]}x" if size in theirs else NOTHING,
                     *(ratio(seconds[0], value) for value in seconds[1:])])
    return Shown([what, "stage 01, s", "stage 02, s", "stage 03, s", "stage 04, s", "PyTorch, s",
                  "CUDA over serial, theirs", "02 over 01", "03 over 01", "04 over 01", "PyTorch over 01"], rows,
                 f"{max(theirs.values())} times the serial program",
                 f"stage 04: {rows[-1][9]} for {rows[-1][0]}", words, figures.lines(range(1, 6), what, "seconds"))


def dimension(bench):
    samples, batch = (256, 128) if bench.quick else (1024, 128)
    sizes = (32, 256) if bench.quick else (32, 64, 128, 256, 512, 1024, 4096, 16384)
    return by_size(bench, "inputs", lambda n: gaussian(n, 32, samples, batch),
                   lambda n: f"{n}-32-2@{batch},sigmoid,squared-error", sizes, samples // batch, 1000, BY_INPUTS,
                   f"1,000 epochs of {samples:,} samples, 32 hidden units, two classes, batches of 128: the report does"
                   " not say how large its batches were. Its blocks could hold no row of more than 1,024 inputs.")


def minibatch(bench):
    steps = 4 if bench.quick else 16
    sizes = (32, 128) if bench.quick else [2**k for k in range(5, 16)]
    return by_size(bench, "batch", lambda n: gaussian(32, 8, steps * n, n),
                   lambda n: f"32-8-2@{n},sigmoid,squared-error", sizes, steps, 1024 / steps, BY_BATCH,
                   f"1,024 updates, 32 inputs, 8 hidden units, two classes. An epoch has {steps} steps, whatever the"
                   " batch. The report's gain ends at 256.")


def reductions(bench):
    features, samples = (64, 256) if bench.quick else (1024, 10240)
    rows = []
    first = None
    for rung, (name, theirs) in REDUCTIONS.items():
        report = bench.train("ladder rungs", *gaussian(features, 32, samples, 128), "--gemm", f"dot-{rung}", "--reduce",
                             rung, epochs=3)
        seconds = 100 * seconds_of(report)
        first = first or seconds
        rows.append([name, f"{theirs} s", f"{digits(seconds)} s", ratio(REDUCTIONS["interleaved"][1], theirs),
                     ratio(first, seconds)])
    tiles = 100 * seconds_of(bench.train("stage03", *gaussian(features, 32, samples, 128), epochs=3))
    rows.append(["stage 03's tiles", NOTHING, f"{digits(tiles)} s", NOTHING, ratio(first, tiles)])
    return Shown(["reduction", "theirs", "ours", "over the first, theirs", "ours"], rows, "1.91 times, loop unrolled",
                 f"{rows[3][4]}; {rows[4][4]} with tiles instead",
                 f"100 epochs of {samples:,} samples of {features:,} features. The report computes each element of a"
                 " product by a block that adds up in a tree, which these rungs repeat; a product needs no tree.",
                 figures.bars((1, 2), "seconds for 100 epochs"))


def wholesale(bench):
    bench.data_file("wholesale")
    rows = []
    for stage, name in (("stage01", "serial"), ("stage04", "CUDA")):
        report = bench.report([*bench.words(stage), "train", "--dataset", "wholesale", "--label", "Channel", "--hidden", 5, "--activation",
                               "sigmoid", "--loss", "squared-error", "--batch-size", 10, "--learning-rate", 0.1,
                               "--epochs", 5 if bench.quick else 100], 300)
        seconds = sum(epoch["seconds"] for epoch in report["epochs"])
        theirs = WHOLESALE[name]
        rows.append([name, f"{theirs[0]} %", percent(report["test_accuracy"]), f"{theirs[1]} s", f"{digits(seconds)} s"])
    return Shown(["network", "accuracy, theirs", "ours", "time, theirs", "ours"], rows, "81.70 %; CUDA takes 12 times as long",
                 f"{rows[1][2]}; {rows[0][4]} serially, {rows[1][4]} with stage 04",
                 "440 customers, a hidden layer of five, batches of 10. A step is too small for a GPU, as the report says.")


REPORT = Report("004", "serial against CUDA, by size", "a node with two Tesla K80 (Talapas, University of Oregon)", [
    Exhibit("Figure 1", "training time by the dimension of the input", "stage04_minibatch train --dataset gaussian",
            dimension),
    Exhibit("Figure 2 and table 1", "training time by the size of a batch", "stage04_minibatch train --dataset gaussian",
            minibatch),
    Exhibit("Table 2", "four reductions inside training", "ladder rungs train --gemm dot-last-warp --reduce last-warp",
            reductions),
    Exhibit("Table 3", "wholesale customers", "stage04_minibatch train --dataset wholesale --label Channel", wholesale)])
