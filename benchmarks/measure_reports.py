#!/usr/bin/env python3
"""Experiments of the reports, on today's GPU and beside PyTorch: measures, and writes the file.

    ./run.sh build --preset cuda              builds everything
    python3 benchmarks/measure_reports.py     writes benchmarks/results/reports.md
    python3 benchmarks/plot_results.py        draws docs/figures/report_*.svg from the H200's

Without a GPU, to try the script itself (the figures mean nothing then, and the file says so):

    python3 benchmarks/measure_reports.py --quick --programs build/cpu/bin --output FILE

Trainings count with the median of their epochs without the first, as the programs report them. The
peers are peers/pytorch_mlp_gpu.py and peers/pytorch_latency.py, in the same run; of the forms of
PyTorch that do the same work, the fastest counts. Without PyTorch, its columns stay empty.
"""

import sys

import measuring
from measuring import NOTHING, REPORT_000, ROOT, digits, rate_of, ratio, seconds_of, table

sys.path.append(str(ROOT / "reports/003/neuron"))
import neuron_study  # noqa: E402

# Report 004: how many times as fast a Tesla K80 was as the serial program.
REPORT_004_BY_INPUTS = {512: 4.27, 1024: 4.43}
REPORT_004_BY_BATCH = {32: 2.92, 64: 4.52, 128: 7.92, 256: 9.03, 512: 7.62, 1024: 4.49}
# Report 002, table 1: seconds for 10 epochs of 10,000 images, sequential and on a Quadro RTX 6000,
# by operation and whether it is on the way back.
REPORT_002_SECONDS = {("gather", False): (0.034, 0.108), ("gemm", False): (132, 0.522),
                      ("add_bias", False): (0.073, 0.014), ("relu", False): (0.107, 0.007),
                      ("softmax_cross_entropy", False): (0.013, 0.010),
                      ("gemm", True): (184, 0.105), ("column_sums", True): (0.069, 0.021),
                      ("relu_backward", True): (0.208, 0.007),
                      ("softmax_cross_entropy_backward", True): (0.015, 0.007),
                      ("sgd_update", True): (0.705, 0.029)}
# Report 000, section 4.2 and 4.4: seconds for 40 epochs on four Tesla K80.
REPORT_000_SECONDS = {"memory per step": 92.18, "memory once": 29.35, "products in tiles": 26.66}
TILES = (4, 8, 16, 32)


class Bench(measuring.Bench):
    def images(self):
        """10,000 images, as in report 002."""
        return ["--dataset", self.dataset, "--train-limit", 200 if self.quick else 10000, "--test-limit", 100]


# Report 004: a sigmoid network with squared error, on data of any size


def gaussian(inputs, hidden, samples, batch):
    return ["--dataset", "gaussian", "--features", inputs, "--samples", samples, "--hidden", hidden,
            "--activation", "sigmoid", "--loss", "squared-error", "--batch-size", batch,
            "--learning-rate", 0.01]


def stages_and_peer(bench, what, words_of, case_of, sizes, steps, epochs, theirs):
    """A row for each size: the seconds that stages 01 to 04 and PyTorch take for so many epochs."""
    peer = bench.peer_rates([case_of(size) for size in sizes], "--steps", steps)
    rows = []
    for size in sizes:
        seconds = [epochs * seconds_of(bench.train(f"stage{number:02}", *words_of(size))) for number in (1, 2, 3, 4)]
        rates = peer.get(case_of(size), {})
        batch = int(case_of(size).split("@")[1].split(",")[0])
        seconds.append(epochs * steps * batch / max(rates.values()) if rates else None)
        rows.append([f"{size:,}", *map(digits, seconds),
                     f"{theirs[size]}x" if size in theirs else NOTHING,
                     *(ratio(seconds[0], value) for value in seconds[1:])])
    return table([what, "stage 01, s", "stage 02, s", "stage 03, s", "stage 04, s", "PyTorch, s",
                  "report: CUDA over serial", "02 over 01", "03 over 01", "04 over 01",
                  "PyTorch over 01"], rows)


def input_dimension(bench):
    samples, batch = 1024, 128
    sizes = (32, 1024) if bench.quick else (32, 64, 128, 256, 512, 1024, 4096, 16384)
    return ("1,000 epochs of 1,024 samples, 32 hidden units, two classes, batches of 128: the"
            " report does not say how large its batches were.\n\n"
            + stages_and_peer(bench, "inputs", lambda n: gaussian(n, 32, samples, batch),
                              lambda n: f"{n}-32-2@{batch},sigmoid,squared-error", sizes,
                              samples // batch, 1000, REPORT_004_BY_INPUTS))


def minibatch(bench):
    steps, updates = 16, 1024
    sizes = (32, 128) if bench.quick else [2**k for k in range(5, 16)]
    return (f"1,024 updates, 32 inputs, 8 hidden units, two classes. An epoch has {steps} steps,"
            " whatever the batch.\n\n"
            + stages_and_peer(bench, "batch", lambda n: gaussian(32, 8, steps * n, n),
                              lambda n: f"32-8-2@{n},sigmoid,squared-error", sizes, steps,
                              updates / steps, REPORT_004_BY_BATCH))


# Report 002: 784-256-10 on 10,000 images


def operations(bench):
    """Seconds by operation, scaled to the report's 10 epochs of 10,000 images."""
    forms = [("stage01", ["--gemm", "naive"]), ("stage02", ["--block-size", 32]), ("stage02", []), ("stage03", [])]
    columns = []
    for program, words in forms:
        report = bench.train(program, *bench.images(), "--batch-size", 100, "--timings", *words,
                             epochs=1 if program == "stage01" else 3)
        steps = max(timing["calls"] for timing in report["timings"])
        sums = {}
        for timing in report["timings"]:
            key = (timing["operation"].split()[0], timing["backward_seconds"] > 0)
            seconds = timing["forward_seconds"] + timing["backward_seconds"]
            sums[key] = sums.get(key, 0) + 1000 * seconds / steps
        columns.append(sums)
    rows = [[f"`{name}`, {'back' if is_backward else 'forward'}", *map(digits, theirs), *(digits(sums.get((name, is_backward)))
                                                  for sums in columns)]
            for (name, is_backward), theirs in REPORT_002_SECONDS.items()]
    rows.append(["all of these",
                 *(digits(sum(column)) for column in zip(*REPORT_002_SECONDS.values())),
                 *(digits(sum(sums.get(key, 0) for key in REPORT_002_SECONDS))
                   for sums in columns)])
    return ("Seconds for 10 epochs of 10,000 images in batches of 100: each operation measured by"
            " itself, from the mean of a step.\n\n"
            + table(["operation", "report, sequential", "report, Quadro RTX 6000, 32 x 32",
                     "stage 01, naive", "stage 02, 32 x 32", "stage 02, 16 x 16", "stage 03"],
                    rows))


def latency(bench):
    model = bench.folder / "model.h5"
    bench.train("stage01", *bench.images(), "--save", model, epochs=1)

    def paths(program, *words):
        return bench.latency(program, model, "--batch-size", 1, "--test-limit", 20 if bench.quick else 500, *words)

    serial = paths("stage01", "--gemm", "naive")["eager"]
    rows = [["stage 01, naive", serial, "1x"]]
    rows += [[f"stage 02, {tile} x {tile}", paths("stage02", "--block-size", tile)["eager"], NOTHING] for tile in TILES]
    rows.append(["stage 03", paths("stage03")["eager"], NOTHING])
    rows += [[f"stage 04, {path}", seconds, NOTHING] for path, seconds in paths("ladder persistent").items()]
    medians = bench.peer("pytorch_latency.py").get("median_seconds", {})
    rows += [[f"PyTorch, {name}", medians[form], theirs]
             for form, name, theirs in (("eager", "eager", "10.2x"), ("graph", "CUDA graph", NOTHING)) if medians]
    return ("One image from the host's memory to its class there. The report's sequential program"
            " took 1,310 us, its four tile sizes were 15 to 16.6 times as fast.\n\n"
            + table(["program", "us", "over sequential", "report"],
                    [[name, digits(1e6 * seconds), ratio(serial, seconds), theirs]
                     for name, seconds, theirs in rows]))


def throughput(bench):
    sizes = (10, 100) if bench.quick else (10, 100, 250, 1000, 2500, 10000)
    forms = [(f"stage 02, {tile} x {tile}", "stage02", ["--block-size", tile]) for tile in TILES]
    forms += [("stage 03", "stage03", []), ("stage 04, streamed", "stage04", ["--stream-batches"]),
              ("stage 04", "stage04", [])]
    cases = {size: f"784-256-10@{size}" for size in sizes}
    copied = bench.peer_rates(cases.values(), "--forms", "streamed,streamed-graph", "--images", 10000)
    resident = bench.peer_rates(cases.values(), "--images", 10000)
    rows = []
    for size in sizes:
        ours = [rate_of(bench.train(program, *bench.images(), "--batch-size", size, *words))
                for _, program, words in forms]
        rates = copied.get(cases[size], {})
        rows.append([f"{size:,}", *map(digits, ours), digits(rates.get("streamed")), digits(rates.get("streamed-graph")),
                     digits(max(resident.get(cases[size], {}).values(), default=None))])
    return ("Images a second in training, from 10,000 images. In the first columns, in \"streamed\" and in PyTorch's"
            " loops with copies, a batch is copied from the host for every step; PyTorch's loops read the loss of"
            " every step, too. The report's best were 311,000 (8 x 8, batch of 1,000) and, with PyTorch, 785,500"
            " images a second; its sequential program trained with 228.\n\n"
            + table(["batch", *(name for name, _, _ in forms), "PyTorch, copies",
                     "PyTorch, copies, CUDA graph", "PyTorch, resident, fastest"], rows))


# Report 003: a neuron


def neuron(bench):
    return neuron_study.study(bench.words("stage04")[0], *((400, 100) if bench.quick else ()))


# Report 000: 784-1000-10 in double


def history(bench):
    images = 800 if bench.quick else 54000
    words = ["--dataset", bench.dataset, *REPORT_000, "--precision", "double", "--batch-size", 800, "--l2", 1e-4,
             "--train-limit", images, "--test-limit", 100]
    forms = [("memory per step", "per_step_memory", ""), ("memory once", "stage02", ""),
             ("products in tiles", "stage03", ""), ("data on the GPU", "stage04", "--fuse off --capture off"),
             ("fused", "stage04", "--capture off"), ("captured", "stage04", "")]
    rows = []
    first = before = None
    for name, program, more in forms:
        report = bench.attempt(bench.train, program, *words, *more.split(), epochs=4)
        if not report:
            continue
        seconds = seconds_of(report)
        rows.append([name, program.removeprefix("stage") if program.startswith("stage") else f"`{program}`",
                     more or NOTHING, digits(1e3 * seconds), digits(40 * seconds), ratio(before, seconds),
                     ratio(first, seconds), REPORT_000_SECONDS.get(name, NOTHING)])
        before = seconds
        first = first or seconds
    case = "784-1000-10@800,sigmoid,double"
    rates = bench.peer_rates([case], "--images", images).get(case, {})
    rows += [[f"PyTorch, {form}", NOTHING, NOTHING, digits(1e3 * images / value),
              digits(40 * images / value), NOTHING, ratio(first, images / value), NOTHING]
             for form, value in rates.items()]
    return (f"784-1000-10, sigmoid, in double, batches of 800, {images:,} images, on one GPU. The"
            " report's figures are of four GPUs.\n\n"
            + table(["training", "stage or program", "options", "ms an epoch", "40 epochs, s",
                     "over the one before", "over the first", "report, four Tesla K80, s"], rows))


SECTIONS = [("Report 004, figure 1: the dimension of the input", input_dimension),
            ("Report 004, figure 2 and table 1: the size of a batch", minibatch),
            ("Report 002, table 1: the time of every operation", operations),
            ("Report 002, figure 1: latency by tile size", latency),
            ("Report 002, figures 2 and 3: throughput by tile size and batch", throughput),
            ("Report 003, figure 2.1: a neuron and its workers", neuron),
            ("Report 000: what each change of the program bought", history)]


if __name__ == "__main__":
    measuring.main(__doc__, "Experiments of the reports", SECTIONS, Bench)
