#!/usr/bin/env python3
"""Stage 02 beside stages 01 and 03 on a machine with a GPU: measures, and writes the results file.

    ./run.sh build --preset cuda              builds everything
    python3 benchmarks/measure_stage02.py     writes benchmarks/results/stage02.md

Without a GPU, to try the script itself (the figures mean nothing then, and the file says so):

    python3 benchmarks/measure_stage02.py --quick --programs build/cpu/bin --output FILE

Trainings count with the median of their epochs without the first, as the programs report them:
gathering the batches, copying them to the GPU and all computing included. Section 4 needs report
001's HDF5 file and MNIST below STAGEWISE_DATA_DIR.
"""

import measuring
from measuring import PRECISIONS, REPORT_000, Failed, by, digits, duration, rate, rate_of, ratio, table

FORMS = ("naive", "reordered", "blocked", "blas")
BLOCKS = (4, 8, 16, 32)
BATCHES = (1, 10, 100, 1000, 10000)
NETWORK = ["--dataset", "digits", "--hidden", "256", "--test-limit", "10"]


def speed(bench, program, batch, images=10000, epochs=5, *words):
    """Images a second in training."""
    images = 200 if bench.quick else images
    return rate_of(bench.train(program, *NETWORK, "--batch-size", min(batch, images), "--train-limit", images, *words,
                               epochs=epochs))


def trainings(bench):
    rows = []
    for batch in BATCHES[2:3] if bench.quick else BATCHES:
        ours = speed(bench, "stage02", batch)
        row = [f"{batch:,}", rate(ours)]
        for form in FORMS:
            # So many images that a form takes about a second for an epoch.
            images, epochs = (2000, 2) if form == "naive" else (10000, 3)
            theirs = (speed(bench, "ladder blocked", batch, images, epochs) if form == "blocked" else
                      speed(bench, "stage01", batch, images, epochs, "--gemm", form))
            row.append(f"{rate(theirs)} ({ratio(ours, theirs)})")
        later = [speed(bench, program, batch) for program in ("stage03", "fold_bias")]
        rows.append([*row, *(f"{rate(theirs)} ({ratio(theirs, ours)})" for theirs in later)])
    return ("`stage02_naive_cuda train --dataset digits --hidden 256 --batch-size B`, `stage01_serial --gemm FORM`, "
            "`ladder blocked`, stage 03, and `fold_bias`, which is stage 03 with biases as rows of the weights: "
            "images/s. In brackets, how many times as fast stage 02 is as stage 01, and the others as stage 02:\n\n"
            + table(["batch", "stage 02", *(f"stage 01, {form}" for form in FORMS), "stage 03", "folded biases"], rows))


def products_of(bench, size, precision):
    """The seconds of each product of a training step of report 000's network, 800 images, by its line."""
    images = 50 if bench.quick else 800
    report = bench.train("stage02", "--dataset", "digits", *REPORT_000, "--precision", precision, "--batch-size",
                         images, "--train-limit", 4 * images, "--test-limit", 10, "--block-size", size, "--timings",
                         epochs=2)
    return {line["operation"]: (line["forward_seconds"] + line["backward_seconds"]) / line["calls"]
            for line in report["timings"] if line["operation"].startswith("gemm")}


def block_sizes(bench):
    text = ("The products of a training step, 784-1000-10, 800 images, each by itself (`--timings`), for square blocks "
            "of threads (`--block-size`):\n\n")
    for precision in PRECISIONS:
        by_size = [products_of(bench, size, precision) for size in BLOCKS]
        text += f"In {precision}:\n\n" + table(
            ["product", *(by(size, size) for size in BLOCKS)],
            [[f"`{name}`", *(duration(products[name]) for products in by_size)] for name in by_size[0]]) + "\n"
    rates = [speed(bench, "stage02", 1000, 10000, 10, "--block-size", size) for size in BLOCKS]
    return text + "Training 784-256-10 at a batch of 1,000 in float:\n\n" + table(
        ["", *(by(size, size) for size in BLOCKS)], [["images/s", *map(rate, rates)]])


def memory(bench):
    rows = []
    for batch in (10, 100, 1000):
        once, per_step = (speed(bench, program, batch) for program in ("stage02", "per_step_memory"))
        rows.append([f"{batch:,}", rate(once), rate(per_step), ratio(once, per_step)])
    return ("`stage02_naive_cuda train ...` and `per_step_memory train ...`:\n\n"
            + table(["batch", "allocated once, images/s", "per step, images/s", "ratio"], rows))


def report_001(bench):
    models = sorted(bench.data.rglob("model.hdf5"))
    if not models or not bench.has_mnist:
        raise Failed("report 001's model.hdf5, or MNIST, is not in STAGEWISE_DATA_DIR")
    words = ["--model", "cnn", "--dataset", "mnist"]
    accuracy = bench.report([*bench.words("stage02"), "evaluate", "--load", models[0], *words, "--batch-size", 1000,
                             *(["--test-limit", 100] if bench.quick else [])])["test_accuracy"]
    rows = []
    for batch in (2,) if bench.quick else (2, 10, 100, 1000, 10000):
        serial, naive = (bench.latency(program, models[0], *words, "--batch-size", batch, "--test-limit",
                                       batch if bench.quick or (program == "stage01" and batch > 100) else 10000)
                         for program in ("stage01", "stage02"))
        rows.append([f"{batch:,}", *(digits(1e3 * paths["eager"]) for paths in (serial, naive)),
                     ratio(serial["eager"], naive["eager"])])
    return (f"Accuracy on the 10,000 test images: {accuracy}. `evaluate --load model.hdf5 --model cnn --dataset mnist "
            "--batch-size B --latency`: median time from images on the host to classes on the host.\n\n"
            + table(["images at once", "stage 01, ms", "stage 02, ms", "ratio"], rows))


SECTIONS = [("Training 784-256-10 in float", trainings),
            ("The size of the blocks", block_sizes),
            ("Allocating once, or per step", memory),
            ("Report 001's network, forward", report_001)]

if __name__ == "__main__":
    measuring.main(__doc__, "Stage 02: naive CUDA", SECTIONS)
