#!/usr/bin/env python3
"""Experiments of the reports, on today's GPU and beside PyTorch: measures, and writes the file.

    ./run.sh bench --preset cuda              builds everything (and runs the benchmarks once)
    python3 benchmarks/measure_reports.py     writes benchmarks/results/reports.md
    python3 benchmarks/plot_reports.py        draws docs/figures/report_*.svg from it

Without a GPU, to try the script itself (the figures mean nothing then, and the file says so):

    python3 benchmarks/measure_reports.py --quick --programs build/cpu/bin --output FILE

Trainings count with the median of their epochs without the first, as the programs report them. The
peers are peers/pytorch_mlp_gpu.py and peers/pytorch_latency.py, in the same run; of the forms of
PyTorch that do the same work, the fastest counts. Without PyTorch, its columns stay empty.
"""

import json
import pathlib
import sys
import tempfile

import measuring
from measuring import HERE, ROOT, Failed, rate_of, report_of, run, seconds_of, table

sys.path.append(str(ROOT / "reports/003/neuron"))
import neuron_study  # noqa: E402

NOTHING = "-"

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
    """What all sections need."""

    def train(self, stage, *words, epochs=5):
        """`stage` is a stage's number, or the command of another program."""
        words = [*words, "--epochs", 2 if self.quick else epochs]
        return report_of([*self.command(stage), "train", *words])

    def command(self, stage):
        if isinstance(stage, int):
            return [self.stage(stage)]
        program, *words = stage.split()
        return [self.program(program), *words]

    def images(self):
        """10,000 images, as in report 002."""
        return ["--dataset", self.dataset, "--train-limit", 200 if self.quick else 10000,
                "--test-limit", 100]


def digits(value):
    """A number with three significant digits."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


def ratio(numerator, denominator):
    return NOTHING if None in (numerator, denominator) else f"{digits(numerator / denominator)}x"


# Report 004: a sigmoid network with squared error, on data of any size


def gaussian(inputs, hidden, samples, batch):
    return ["--dataset", "gaussian", "--features", inputs, "--samples", samples, "--hidden", hidden,
            "--activation", "sigmoid", "--loss", "squared-error", "--batch-size", batch,
            "--learning-rate", 0.01]


def stages_and_peer(bench, what, words_of, case_of, sizes, steps, epochs, theirs):
    """A row for each size: the seconds that stages 01 to 04 and PyTorch take for so many epochs."""
    peer = bench.peer([case_of(size) for size in sizes], "--steps", steps)
    rows = []
    for size in sizes:
        seconds = [epochs * seconds_of(bench.train(number, *words_of(size)))
                   for number in (1, 2, 3, 4)]
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
    forms = [(1, ["--gemm", "naive"]), (2, ["--block-size", 32]), (2, []), (3, [])]
    columns = []
    for number, words in forms:
        report = bench.train(number, *bench.images(), "--batch-size", 100, "--timings", *words,
                             epochs=1 if number == 1 else 3)
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
    rows = []
    limit = ["--test-limit", 20 if bench.quick else 500]
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.h5"
        bench.train(1, *bench.images(), "--save", model, epochs=1)

        def paths(stage, *words):
            report = report_of([*bench.command(stage), "evaluate", "--load", model, "--batch-size", 1,
                                "--latency", *limit, *words])
            return {path["path"]: path["median_seconds"] for path in report["latency"]}

        serial = paths(1, "--gemm", "naive")["eager"]
        rows.append(["stage 01, naive", serial, "1x"])
        rows += [[f"stage 02, {tile} x {tile}", paths(2, "--block-size", tile)["eager"], NOTHING]
                 for tile in TILES]
        rows.append(["stage 03", paths(3)["eager"], NOTHING])
        rows += [[f"stage 04, {path}", seconds, NOTHING] for path, seconds in paths("ladder persistent").items()]
    try:
        peer = json.loads(run([sys.executable, HERE / "peers/pytorch_latency.py"], 100,
                              name="pytorch_latency.py"))
        rows += [["PyTorch, eager", peer["median_seconds"]["eager"], "10.2x"],
                 ["PyTorch, CUDA graph", peer["median_seconds"]["graph"], NOTHING]]
    except Failed as failure:
        bench.problems.append(f"without PyTorch: {failure}")
    return ("One image from the host's memory to its class there. The report's sequential program"
            " took 1,310 us, its four tile sizes were 15 to 16.6 times as fast.\n\n"
            + table(["program", "us", "over sequential", "report"],
                    [[name, digits(1e6 * seconds), ratio(serial, seconds), theirs]
                     for name, seconds, theirs in rows]))


def throughput(bench):
    sizes = (10, 100) if bench.quick else (10, 100, 250, 1000, 2500, 10000)
    forms = [(f"stage 02, {tile} x {tile}", 2, ["--block-size", tile]) for tile in TILES]
    forms += [("stage 03", 3, []), ("stage 04, streamed", 4, ["--stream-batches"]),
              ("stage 04", 4, [])]
    streams = ["--forms", "streamed,streamed-graph", "--images", 10000]
    cases = {size: f"784-256-10@{size}" for size in sizes}
    copied = bench.peer(cases.values(), *streams)
    resident = bench.peer(cases.values(), "--images", 10000)
    rows = []
    for size in sizes:
        rows.append([f"{size:,}", *(digits(rate_of(bench.train(
            number, *bench.images(), "--batch-size", min(size, 200 if bench.quick else size),
            *words))) for _, number, words in forms)])
        rates = copied.get(cases[size], {})
        rows[-1] += [digits(rates.get("streamed")), digits(rates.get("streamed-graph")),
                     digits(max(resident.get(cases[size], {}).values(), default=None))]
    return ("Images a second in training, from 10,000 images. In the first columns, in \"streamed\""
            " and in PyTorch's loops with copies, a batch is copied from the host for every step;"
            " PyTorch's loops read the loss of every step, too. The report's best were 311,000 (8 x"
            " 8, batch of 1,000) and, with PyTorch, 785,500 images a second; its sequential program"
            " trained with 228.\n\n"
            + table(["batch", *(name for name, _, _ in forms), "PyTorch, copies",
                     "PyTorch, copies, CUDA graph", "PyTorch, resident, fastest"], rows))


# Report 003: a neuron


def neuron(bench):
    return neuron_study.study(bench.stage(4), *((400, 100) if bench.quick else ()))


# Report 000: 784-1000-10 in double


def history(bench):
    images = 800 if bench.quick else 54000
    words = ["--dataset", bench.dataset, "--hidden", 1000, "--activation", "sigmoid", "--precision",
             "double", "--batch-size", 800, "--l2", 1e-4, "--train-limit", images, "--test-limit",
             100]
    forms = [("memory per step", "per_step_memory", []), ("memory once", 2, []),
             ("products in tiles", 3, []),
             ("data on the GPU", 4, ["--fuse", "off", "--capture", "off"]),
             ("fused", 4, ["--capture", "off"]), ("captured", 4, [])]
    rows = []
    first = before = None
    for name, stage, more in forms:
        try:
            seconds = seconds_of(bench.train(stage, *words, *more, epochs=4))
        except Failed as failure:
            bench.problems.append(f"{name}: {failure}")
            continue
        theirs = REPORT_000_SECONDS.get(name)
        rows.append([name, f"{stage:02}" if isinstance(stage, int) else f"`{stage}`", " ".join(map(str, more)) or NOTHING,
                     digits(1e3 * seconds), digits(40 * seconds), ratio(before, seconds),
                     ratio(first, seconds), str(theirs or NOTHING)])
        before = seconds
        first = first or seconds
    case = "784-1000-10@800,sigmoid,double"
    rates = bench.peer([case], "--images", images).get(case, {})
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


def main():
    parser = measuring.make_parser(__doc__, 4)
    parser.set_defaults(output=HERE / "results/reports.md")
    options = parser.parse_args()
    bench = Bench(options)
    try:
        libraries = [line for line in run([bench.stage(4), "info"]).splitlines() if "CUDA" in line]
    except Failed as failure:
        sys.exit(f"{failure}; build it with ./run.sh bench --preset cuda.")
    top = measuring.heading("measure_reports.py", options, libraries)
    measuring.measure(bench, options, "Experiments of the reports", top, SECTIONS)


if __name__ == "__main__":
    main()
