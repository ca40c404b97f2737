#!/usr/bin/env python3
"""Stage 03 on a machine with a GPU: measures, and writes the results file.

    ./run.sh bench --preset cuda              builds everything (and runs the benchmarks once)
    python3 benchmarks/measure_stage03.py     writes benchmarks/results/<gpu>_stage03.md

Without a GPU, to try the script itself (the figures mean nothing then, and the file says so):

    python3 benchmarks/measure_stage03.py --quick --programs build/cpu/bin --output FILE

The program ladder verifies each kernel, then times it: the median of 20 measurements of a CUDA
graph with many launches, the reference (cuBLAS, CUB, a copy) in the same run. Trainings count with
the median of their epochs without the first, as the programs report them: gathering the batches,
copying them to the GPU and all computing included.

A command that fails, or takes too long, becomes a line in the file. Sections 7 and 8 use MNIST if
STAGEWISE_DATA_DIR (or datasets/) has it, and generated images otherwise.
"""

import argparse
import dataclasses
import datetime
import functools
import json
import math
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
STAGE01 = "stage01_serial"
STAGE02 = "stage02_naive_cuda"
STAGE03 = "stage03_shared_memory"
LADDER = "ladder"
FOLD_BIAS = "fold_bias"
PRECISIONS = ["float", "double"]
SECONDS_A_COMMAND = 90
NOTHING = "-"

# At 4096^3, verification alone takes seconds, and the lower rungs are no match for such a size.
RUNGS_FOR_LARGE = ["tile-16", "register-column", "register-tile", "vector-loads",
                   "double-buffering", "warp-tiles", "async-copies"]

# Report 000, section 3.1 and table 2, on a Tesla K80: the difference to cuBLAS, and seconds by the
# side of the blocks; the last is what section 4.4 made of 16 x 16, coalesced and padded.
REPORT_000_BOUND = 4e-15
REPORT_000_DIFFERENCES = [1.85746e-16, 3.2505e-16]
REPORT_000_SIZES = ["800 x 1000 x 784", "800 x 10 x 1000"]
REPORT_000_RUNGS = ["tile-4", "tile-8", "tile-16", "tile-32", "padded"]
REPORT_000_SECONDS = [[0.654227, 0.140203, 0.128672, 0.132084, 0.0652142],
                      [0.009971, 0.00299, 0.002807, 0.004545, 0.00172805]]

# Report 004, table 2, on a Tesla K80: seconds for 100 epochs.
REPORT_004_SECONDS = {"interleaved": 45.18, "non-divergent": 30.79, "sequential": 27.83,
                      "last-warp": 23.64}


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How large everything is."""
    gemm: tuple = (800, 1000, 784)  # m, n, k
    thin_gemm: tuple = (800, 10, 1000)
    large_gemm: tuple = (4096, 4096, 4096)
    product_batches: tuple = (100, 250, 1000, 10000)
    sums: tuple = (2**20, 2**28)
    copies: tuple = ((1024, 1024), (8192, 8192))  # what a copy's speed is taken from, by sum
    columns: tuple = ((1000, 256), (10000, 1000))
    matrices: tuple = ((2048, 2048), (10000, 784), (16384, 16384))
    reduction_samples: int = 10240
    reduction_batch: int = 256
    reduction_hidden: int = 256
    reduction_epochs: int = 5
    images: tuple = (60000, 10000)  # for training and testing, if they must be generated
    cnn_batches: tuple = (1, 10, 100, 1000, 10000)
    cnn_training: dict = dataclasses.field(  # training images by batch
        default_factory=lambda: {1: 500, 100: 10000, 10000: 10000})
    hidden: int = 256
    serial_training: dict = dataclasses.field(
        default_factory=lambda: {1: 1000, 10: 4000, 100: 10000, 1000: 10000, 10000: 10000})
    training: dict = dataclasses.field(
        default_factory=lambda: {1: 3000, 10: 20000, 100: 60000, 1000: 60000, 10000: 60000})
    training_epochs: int = 6


QUICK = Sizes(gemm=(40, 50, 39), thin_gemm=(40, 10, 50), large_gemm=(64, 64, 64),
              product_batches=(10, 20), sums=(1000, 10000), copies=((10, 100), (100, 100)),
              columns=((100, 26), (300, 30)), matrices=((64, 64), (100, 78), (128, 128)),
              reduction_samples=32, reduction_batch=16, reduction_hidden=4, reduction_epochs=2,
              images=(200, 200), cnn_batches=(1, 2), cnn_training={1: 4, 4: 8}, hidden=16,
              serial_training={1: 50, 100: 200}, training={1: 50, 100: 200}, training_epochs=3)


class Failure(Exception):
    """Why a command has no result, as the end of a sentence."""


class Bench:
    """Runs the programs, in a temporary folder, and notes what went wrong."""

    def __init__(self, options, folder):
        self.sizes = QUICK if options.quick else Sizes()
        self.problems = []
        self._programs = options.programs.resolve()
        self._folder = pathlib.Path(folder)
        self._budget = options.budget
        self._start = time.monotonic()
        self._reports = {}
        # OpenBLAS chooses its kernels itself, whatever the environment says.
        self._environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
        self.data = pathlib.Path(os.environ.get("STAGEWISE_DATA_DIR", ROOT / "datasets")).resolve()
        self._environment["STAGEWISE_DATA_DIR"] = str(self.data)

    @functools.cached_property
    def images(self):
        """What networks are fed with; made when somebody first asks."""
        return Images(self)

    def elapsed(self):
        return time.monotonic() - self._start

    def shown(self, words):
        """The command as somebody types it in the repository."""
        program = self._programs / words[0]
        if program.is_relative_to(ROOT):
            program = program.relative_to(ROOT)
        typed = shlex.join([str(program), *map(str, words[1:])])
        return typed.replace(str(self.data), "$STAGEWISE_DATA_DIR")

    def run(self, words):
        """What the command prints. Words are a program's name and its arguments."""
        return self._finished(words).stdout

    def report(self, words):
        """What the program writes with --report, or None: then the reason is in `problems`. The
        floor, which only stands in what it prints, comes along."""
        key = tuple(map(str, words))
        if key not in self._reports:
            try:
                self._reports[key] = self._measured(words)
            except Failure as failure:
                self._reports[key] = None
                self.problems.append(f"`{self.shown(words)}` {failure}")
        return self._reports[key]

    def _measured(self, words):
        path = self._folder / "report.json"
        path.unlink(missing_ok=True)
        finished = self._finished([*words, "--report", path.name], may_differ=True)
        try:
            report = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise Failure(_ending(finished)) from None
        for table in report.get("tables", []):
            for row in [*table["rows"], table.get("reference", {})]:
                for what in ("wrong", "skipped"):
                    if what in row:
                        self.problems.append(
                            f"`{self.shown(words)}`: {row['name']} is {what}: {row[what]}")
        floor = re.search(r"^floor +(.*(?:\n {7}.*)*)", finished.stdout, re.MULTILINE)
        report["floor"] = " ".join(floor.group(1).split()) if floor else ""
        return report

    def _finished(self, words, may_differ=False):
        """@param may_differ whether an exit code of 1 is a result: a kernel that is wrong."""
        left = self._budget - self.elapsed()
        if left <= 0:
            raise Failure(f"was left out: the time for everything, {self._budget:.0f} s, was over")
        limit = min(SECONDS_A_COMMAND, left)
        try:
            finished = subprocess.run(
                [str(self._programs / words[0]), *map(str, words[1:])], env=self._environment,
                cwd=self._folder, capture_output=True, text=True, errors="replace", check=False,
                timeout=limit)
        except subprocess.TimeoutExpired:
            reason = "" if limit == SECONDS_A_COMMAND else ", when the time for everything was over"
            raise Failure(f"was stopped after {limit:.0f} s{reason}") from None
        except OSError as error:
            raise Failure(f"could not be run: {error.strerror}") from None
        if finished.returncode not in ((0, 1) if may_differ else (0,)):
            raise Failure(_ending(finished))
        return finished


def _ending(finished):
    last = finished.stderr.strip().splitlines()[-1:] or ["it said nothing"]
    return f"failed (exit code {finished.returncode}): {last[0][:300]}"


# How figures look


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def digits(value, wanted=3):
    """With three digits that count: 0.368, 5.91, 41.5, 2,307."""
    if value == 0:
        return "0"
    return f"{value:,.{max(0, wanted - 1 - math.floor(math.log10(abs(value))))}f}"


def duration(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if seconds >= 0.9995 * size:
            return f"{digits(seconds / size)} {unit}"
    return f"{digits(seconds / 1e-6)} us"


def percent(fraction):
    return f"{100 * fraction:.0f} %" if fraction >= 0.0995 else f"{100 * fraction:.1f} %"


def ratio(numerator, denominator):
    return NOTHING if None in (numerator, denominator) else f"{digits(numerator / denominator)}x"


def rate(value):
    return NOTHING if value is None else f"{value:,.0f}"


def by(*sizes):
    return " x ".join(str(size) for size in sizes)


def commands(bench, *lists):
    return "```\n" + "\n".join(bench.shown(words) for words in lists) + "\n```\n"


def floor_lines(reports):
    lines = [f"- {name}: at least {report['floor']}" for name, report in reports.items()
             if report and report["floor"]]
    return "\n".join(["", "By the GPU's clocks and units:", "", *lines, ""]) if lines else ""


# What is in a ladder's report


def rows_of(report, index=0):
    """The rows of a report's table by their names; none without a report."""
    return {row["name"]: row for row in report["tables"][index]["rows"]} if report else {}


def reference_of(report, index=0):
    return report["tables"][index].get("reference") if report else None


def speed(row):
    """Operations or bytes a second."""
    if not row or "seconds" not in row:
        return None
    return row.get("operations", row["bytes"]) / row["seconds"]


def row_time(row):
    if row is None:
        return NOTHING
    if "skipped" in row:
        return "skipped"
    if "wrong" in row:
        return "WRONG"
    if "seconds" not in row:
        return NOTHING
    return duration(row["seconds"]) + (" *" if row.get("picked") else "")


def row_cells(row, unit, copy_speed=None):
    """Time, speed, share of the reference and, if there is one, share of a copy's speed."""
    own = speed(row)
    scale = {"TFLOP/s": 1e12, "GB/s": 1e9}[unit]
    cells = [row_time(row), NOTHING if own is None else digits(own / scale)]
    share = (row or {}).get("fraction_of_reference")
    cells.append(NOTHING if share is None else percent(share))
    if copy_speed is not None:
        cells.append(NOTHING if own is None else percent(own / copy_speed))
    return cells


def names_of(reports, index=0):
    """The names of the rungs in all reports, each once."""
    return list(dict.fromkeys(name for report in reports for name in rows_of(report, index)))


def ladder_table(reports, unit, copies=None, index=0):
    """A ladder in several precisions side by side.

    @param reports by precision; None for one that failed.
    @param copies rows of a copy by precision, to compare with besides the reference.
    """
    copies = {name: row for name, row in (copies or {}).items() if speed(row)}
    references = {name: reference_of(report, index) for name, report in reports.items()}
    library = next((row["name"] for row in references.values() if row), "reference")
    if not any(reports.values()):
        return "Nothing was measured.\n"
    head = ["rung"]
    for name in reports:
        head += [name, unit, f"of {library}"] + (["of a copy"] if name in copies else [])

    def line(label, row_of):
        cells = [label]
        for name in reports:
            cells += row_cells(row_of(name), unit, speed(copies.get(name)))
        return cells

    rows = [line(name, lambda p, name=name: rows_of(reports[p], index).get(name))
            for name in names_of(reports.values(), index)]
    if any(references.values()):
        rows.append(line(library, references.get))
    if copies:
        rows.append(line("copy", copies.get))
    return table(head, rows)


# 1 to 3: products


def gemm(size, precision, *more):
    m, n, k = size
    return [LADDER, "gemm", "--m", m, "--n", n, "--k", k, "--precision", precision, *more]


def ladder_in_both(bench, command_of):
    """A ladder in float and double: the commands, the floors, and the reports by precision."""
    reports = {precision: bench.report(command_of(precision)) for precision in PRECISIONS}
    return commands(bench, *map(command_of, PRECISIONS)), floor_lines(reports), reports


def gemm_section(bench):
    size = bench.sizes.gemm
    shown, floors, reports = ladder_in_both(bench, lambda p: gemm(size, p))
    return f"""## 1. The GEMM ladder at {by(*size)}

{shown}{floors}
{ladder_table(reports, "TFLOP/s")}"""


def merged(reports):
    """One report of several that have one row each; the reference is that of the median time."""
    measured = [report for report in reports if report]
    if not measured:
        return None
    first = measured[0]["tables"][0]
    one = {**first, "rows": [row for report in measured for row in report["tables"][0]["rows"]]}
    references = [row for row in map(reference_of, measured) if row and "seconds" in row]
    if references:
        references.sort(key=lambda row: row["seconds"])
        one["reference"] = references[(len(references) - 1) // 2]
    return {**measured[0], "tables": [one]}


def large_gemm(bench):
    size = bench.sizes.large_gemm
    rungs = {"float": [*RUNGS_FOR_LARGE, "fitted-tiles"],
             "double": [*RUNGS_FOR_LARGE, "tensor-cores"]}
    reports = {precision: merged([bench.report(gemm(size, precision, "--rung", rung))
                                  for rung in rungs[precision]])
               for precision in PRECISIONS}
    return f"""### {by(*size)}

For float and double, and with each RUNG of the table by itself; the row of the reference is its
median run:

{commands(bench, gemm(size, "PRECISION", "--rung", "RUNG"))}{floor_lines(reports)}
{ladder_table(reports, "TFLOP/s")}"""


def training_products(batch, hidden):
    """What a step of 784-hidden-10 multiplies: a name, a size and the transposes."""
    return [("hidden layer", (batch, hidden, 784), []),
            ("output layer", (batch, 10, hidden), []),
            ("gradient of its weights", (hidden, 10, batch), ["--transpose-a"]),
            ("gradient of its input", (batch, hidden, 10), ["--transpose-b"]),
            ("gradient of the hidden layer's weights", (784, hidden, batch), ["--transpose-a"])]


def picked_product(bench, size, transposes):
    """The row of the rung that the stage picks for this product, and the reference's."""
    report = bench.report(gemm(size, "float", *transposes, "--picked"))
    return next(iter(rows_of(report).values()), None), reference_of(report)


def training_gemms(bench):
    hidden = bench.sizes.hidden
    lines = []
    for batch in bench.sizes.product_batches:
        total = theirs_total = 0
        for name, size, transposes in training_products(batch, hidden):
            row, reference = picked_product(bench, size, transposes)
            ours, theirs = ((row or {}).get("seconds"), (reference or {}).get("seconds"))
            total = None if None in (total, ours) else total + ours
            theirs_total = None if None in (theirs_total, theirs) else theirs_total + theirs
            lines.append([f"{batch:,}", name, by(*size), row["name"] if row else NOTHING,
                          *(duration(value) if value else NOTHING for value in (ours, theirs)),
                          ratio(theirs, ours)])
        lines.append([f"{batch:,}", "together", "", "",
                      *(duration(value) if value else NOTHING for value in (total, theirs_total)),
                      ratio(theirs_total, total)])
    command = gemm(("M", "N", "K"), "float", "--picked")
    return f"""### The products of training 784-{hidden}-10, in float

With the rung that the stage picks, and `--transpose-a` for gradients of weights, `--transpose-b`
for the gradient of an input:

{commands(bench, command)}
{table(["batch", "product", "m x n x k", "rung", "time", "cuBLAS", "times as fast"], lines)}"""


def more_gemms_section(bench):
    size = bench.sizes.thin_gemm
    shown, floors, reports = ladder_in_both(bench, lambda p: gemm(size, p))
    return f"""## 2. GEMM at other sizes

### {by(*size)}

{shown}{floors}
{ladder_table(reports, "TFLOP/s")}
{large_gemm(bench)}
{training_gemms(bench)}"""


def difference_cells(row):
    """From cuBLAS and from stage 01, relative: the norm of the difference over the norm."""
    from_reference = (row or {}).get("difference_from_reference")
    own = (row or {}).get("difference")
    return [NOTHING if value is None else f"{value:.2e}" for value in (from_reference, own)]


def differences(reports, sizes):
    head = ["rung"]
    for size in sizes:
        head += [f"{by(*size)}: to cuBLAS", "to stage 01"]
    rows = [["report 000", *(cell for value in REPORT_000_DIFFERENCES
                             for cell in (f"{value:.2e}", NOTHING))]]
    for name in names_of(reports):
        rows.append([name, *(cell for report in reports
                             for cell in difference_cells(rows_of(report).get(name)))])
    return table(head, rows)


def verdict_on_differences(reports):
    found = [(row["difference_from_reference"], name) for report in reports
             for name, row in rows_of(report).items() if "difference_from_reference" in row]
    if not found:
        return "Nothing was compared with cuBLAS."
    beyond = sorted({name for value, name in found if not value <= REPORT_000_BOUND})
    if beyond:
        return f"BEYOND {REPORT_000_BOUND:g} of cuBLAS: {', '.join(beyond)}."
    return (f"All {len(found)} differences to cuBLAS are within {REPORT_000_BOUND:g}; "
            f"the largest is {max(found)[0]:.1e}.")


def block_sizes(reports, sizes):
    head = ["seconds", "4 x 4", "8 x 8", "16 x 16", "32 x 32", "coalesced, padded"]
    rows = []
    for report, size, their_size, theirs in zip(reports, sizes, REPORT_000_SIZES,
                                                REPORT_000_SECONDS):
        ours = [rows_of(report).get(rung, {}).get("seconds") for rung in REPORT_000_RUNGS]
        rows.append([f"{their_size}: report 000, Tesla K80", *map(str, theirs)])
        rows.append([f"{by(*size)}: here",
                     *(NOTHING if value is None else f"{value:.7f}" for value in ours)])
        rows.append(["times as fast", *map(ratio, theirs, ours)])
    return table(head, rows)


def report_000_section(bench):
    sizes = (bench.sizes.gemm, bench.sizes.thin_gemm)
    lists = [gemm(size, "double", "--alpha", 2, "--beta", 5) for size in sizes]
    reports = [bench.report(words) for words in lists]
    return f"""## 3. Report 000: alpha 2, beta 5, double

{commands(bench, *lists)}
{verdict_on_differences(reports)} Stage 01's result is OpenBLAS's.

{differences(reports, sizes)}
The size of the blocks, as in the report's table 2. Its last figure is 16 x 16 after section 4.4;
the rung `padded` has 32 x 32:

{block_sizes(reports, sizes)}"""


# 4: sums


def reduce(precision, n, m=None, *more):
    rows = [] if m is None else ["--m", m]
    return [LADDER, "reduce", *rows, "--n", n, "--precision", precision, *more]


def sums(bench, n, shape):
    def copy_command(precision):
        return reduce(precision, shape[1], shape[0], "--rung", "one-pass")

    shown, floors, reports = ladder_in_both(bench, lambda p: reduce(p, n))
    copies = {p: reference_of(bench.report(copy_command(p))) for p in PRECISIONS}
    return f"""### The sum of {n:,} numbers

{shown}
The copy, of {by(*shape)} / 2 numbers, is the reference of

{commands(bench, *map(copy_command, PRECISIONS))}{floors}
{ladder_table(reports, "GB/s", copies)}"""


def column_sums(bench, m, n):
    shown, floors, reports = ladder_in_both(bench, lambda p: reduce(p, n, m))
    return f"""### The column sums of [{m}, {n}]: the gradient of a bias

{shown}{floors}
{ladder_table(reports, "GB/s")}"""


def reduce_section(bench):
    parts = [sums(bench, n, shape) for n, shape in zip(bench.sizes.sums, bench.sizes.copies)]
    parts += [column_sums(bench, m, n) for m, n in bench.sizes.columns]
    return "## 4. Reductions\n\n" + "\n".join(parts)


# 5: report 004


def reduction_training(sizes, name):
    return [LADDER, "rungs", "train", "--dataset", "gaussian", "--samples", sizes.reduction_samples,
            "--features", 1024, "--hidden", sizes.reduction_hidden, "--activation", "sigmoid",
            "--loss", "squared-error", "--batch-size", sizes.reduction_batch,
            "--epochs", sizes.reduction_epochs, "--gemm", f"dot-{name}", "--reduce", name]


def epoch_values(report, key):
    """One for each epoch but the first."""
    epochs = (report or {}).get("epochs", [])
    return [epoch[key] for epoch in epochs[1:] or epochs]


def middle(values):
    return statistics.median(values) if values else None


def report_004_section(bench):
    seconds = {name: middle(epoch_values(bench.report(reduction_training(bench.sizes, name)),
                                         "seconds"))
               for name in REPORT_004_SECONDS}
    slowest = REPORT_004_SECONDS["interleaved"]
    rows = [[name, f"{theirs / 100:.3f} s", f"{slowest / theirs:.2f}x",
             NOTHING if seconds[name] is None else duration(seconds[name]),
             ratio(seconds["interleaved"], seconds[name])]
            for name, theirs in REPORT_004_SECONDS.items()]
    head = ["reduction", "report 004, Tesla K80, an epoch", "speed-up", "here, an epoch",
            "speed-up"]
    return f"""## 5. Report 004: the reductions in training

A block an element, in all products, sums of columns and totals; the report does not give the width
of its hidden layer nor the batch. Its table says 1.91x for the last one, its text nearly 2x.

{commands(bench, reduction_training(bench.sizes, "REDUCTION"))}
{table(head, rows)}"""


# 6: transposes


def transposes(bench, m, n):
    def command(precision):
        return [LADDER, "transpose", "--m", m, "--n", n, "--precision", precision]

    shown, floors, reports = ladder_in_both(bench, command)
    return f"""### [{m}, {n}]

{shown}{floors}
{ladder_table(reports, "GB/s")}
The column of ones, in place and out of place:

{ladder_table(reports, "GB/s", index=1)}"""


def transpose_section(bench):
    parts = [transposes(bench, m, n) for m, n in bench.sizes.matrices]
    return "## 6. Transposes and shifts\n\n" + "\n".join(parts)


# 7 and 8: networks


class Images:
    """MNIST, or images in its format that are generated for the purpose."""

    def __init__(self, bench):
        self.options = ["--dataset", "mnist"]
        self.text = "MNIST"
        self.for_training = 60000
        if any((bench.data / "mnist").glob("train-images*")):
            return
        train, test = bench.sizes.images
        words = ["make_dataset", "--train", train, "--test", test, "--output", "generated/mnist"]
        try:
            bench.run(words)
            self.options += ["--data-dir", "generated"]
            self.text = f"generated, by `{bench.shown(words)}`"
            self.for_training = train
        except Failure as failure:
            bench.problems.append(f"`{bench.shown(words)}` {failure}")
            self.options = ["--dataset", "digits"]
            self.text = "generated (`--dataset digits`: 10,000 and 2,000)"
            self.for_training = 10000


def training_rate(bench, words):
    return middle(epoch_values(bench.report(words), "images_per_second"))


def with_fastest(label, names, values):
    """A row of images a second that ends with the name of the fastest."""
    known = [(value, name) for value, name in zip(values, names) if value is not None]
    return [label, *map(rate, values), max(known)[1] if known else NOTHING]


FORMS = {"direct": ([STAGE03], ["--convolution", "direct"]), 
         "im2col": ([LADDER, "rungs"], ["--convolution", "im2col"]),
         "implicit": ([STAGE03], ["--convolution", "implicit"])}


def cnn_checkpoint(bench):
    """Report 001's parameters, or new ones for the same network. And a line about them."""
    models = sorted(bench.data.rglob("model.hdf5"))
    if models:
        return models[0], "its own parameters, `model.hdf5`"
    words = [STAGE03, "train", "--model", "cnn", "--biases", "off", *bench.images.options,
             "--epochs", 0, "--test-limit", 10, "--save", "cnn.h5"]
    try:
        bench.run(words)
    except Failure as failure:
        bench.problems.append(f"`{bench.shown(words)}` {failure}")
    return "cnn.h5", f"untrained parameters, `{bench.shown(words)}`"


def cnn_forward(bench, checkpoint):
    def command(batch, form, images):
        program, options = FORMS[form]
        return [*program, "evaluate", "--load", checkpoint, "--model", "cnn",
                *bench.images.options, "--test-limit", images, "--batch-size", batch,
                *options, "--latency"]

    def images_per_second(batch, form):
        # Few images: what is measured is the latency, which repeats batches by itself.
        report = bench.report(command(batch, form, max(batch, 200)))
        return batch / report["latency"][0]["median_seconds"] if report else None

    rows = [with_fastest(f"{batch:,}", FORMS, [images_per_second(batch, form) for form in FORMS])
            for batch in bench.sizes.cnn_batches]
    last = bench.sizes.cnn_batches[-1]
    reports = [bench.report(command(last, form, max(last, 200))) for form in FORMS]
    accuracies = ", ".join(f"{form} {report['test_accuracy']}"
                           for form, report in zip(FORMS, reports) if report)
    return f"""### Forward

From images on the host to classes on the host, images/s by the median of 200 batches or more;
IMAGES are 200, or a batch where that is larger:

{commands(bench, *(command("BATCH", form, "IMAGES") for form in FORMS))}
{table(["batch", *FORMS, "fastest"], rows)}
Accuracy on the images of the last row: {accuracies or NOTHING}.
"""


def cnn_training(bench):
    def command(batch, form, images):
        program, options = FORMS[form]
        return [*program, "train", "--model", "cnn", "--biases", "off", *bench.images.options,
                "--train-limit", images, "--test-limit", 10, "--batch-size", batch,
                "--epochs", 3, *options]

    rows = [with_fastest(f"{batch:,} of {images:,}", FORMS,
                         [training_rate(bench, command(batch, form, images)) for form in FORMS])
            for batch, images in bench.sizes.cnn_training.items()]
    return f"""### Training

Images/s:

{commands(bench, *(command("BATCH", form, "IMAGES") for form in FORMS))}
{table(["batch, of images", *FORMS, "fastest"], rows)}"""


def convolution_section(bench):
    checkpoint, parameters = cnn_checkpoint(bench)
    return f"""## 7. Convolution: report 001's network

- Images: {bench.images.text}
- Forward: {parameters}

The report took the direct form for up to 100 images at once, and the product above.

{cnn_forward(bench, checkpoint)}
{cnn_training(bench)}"""


def mlp(bench, program, batch, images, epochs, *more):
    return [program, "train", *bench.images.options, "--hidden", bench.sizes.hidden,
            "--train-limit", images, "--test-limit", 10, "--batch-size", batch,
            "--epochs", epochs, *more]


def training_section(bench):
    sizes = bench.sizes
    reordered = ["--gemm", "reordered"]
    training = {batch: min(images, bench.images.for_training)
                for batch, images in sizes.training.items()}
    rows = []
    for batch, images in training.items():
        serial = training_rate(bench, mlp(bench, STAGE01, batch, sizes.serial_training[batch], 2,
                                          *reordered))
        naive, shared, in_one = (
            training_rate(bench, mlp(bench, program, batch, images, sizes.training_epochs))
            for program in (STAGE02, STAGE03, FOLD_BIAS))
        rows.append([f"{batch:,}", *map(rate, (serial, naive, shared)), ratio(shared, serial),
                     ratio(shared, naive), rate(in_one), ratio(in_one, shared)])
    few = ", ".join(f"{images:,} at {batch:,}" for batch, images in sizes.serial_training.items())
    many = ", ".join(f"{images:,} at {batch:,}" for batch, images in training.items())
    lists = [mlp(bench, STAGE01, "BATCH", "IMAGES", 2, *reordered),
             *(mlp(bench, program, "BATCH", "IMAGES", sizes.training_epochs)
               for program in (STAGE02, STAGE03, FOLD_BIAS))]
    head = ["batch", "stage 01, reordered", "stage 02", "stage 03", "over stage 01",
            "over stage 02", "stage 03, folded biases", "over stage 03"]
    return f"""## 8. Training 784-{sizes.hidden}-10 in float

Images/s. IMAGES by batch:

- stage 01: {few}
- the others: {many}
- images: {bench.images.text}

{commands(bench, *lists)}
{table(head, rows)}"""


# The file


SECTIONS = {1: gemm_section, 2: more_gemms_section, 3: report_000_section, 4: reduce_section,
            5: report_004_section, 6: transpose_section, 7: convolution_section,
            8: training_section}
# The largest transposes take longest, most of it on the host: last, should time run out.
ORDER = [1, 2, 3, 4, 5, 7, 8, 6]


def first_line(command):
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.strip().splitlines()[0] if run.returncode == 0 and run.stdout.strip() else ""


def processor():
    try:
        cpuinfo = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        cpuinfo = ""
    found = re.search(r"^model name\s*: (.*)$", cpuinfo, re.MULTILINE)
    return found.group(1) if found else "unknown"


@dataclasses.dataclass
class Machine:
    """What the programs run on, from stage 03's `info`."""
    device: str
    libraries: list
    version: str

    @classmethod
    def from_info(cls, info):
        device = re.search(r"^runs on +(.*)$", info, re.MULTILINE)
        version = re.search(r"^version +(.*)$", info, re.MULTILINE)
        return cls(device=device.group(1) if device else "unknown",
                   libraries=re.findall(r"^library +(.*)$", info, re.MULTILINE),
                   version=version.group(1) if version else "unknown")

    @property
    def on_cpu(self):
        return self.device.startswith("CUDA on the CPU")

    @property
    def short_name(self):
        """ "h200" of "GPU (NVIDIA H200, 132 multiprocessors, 150 GB)" """
        if self.on_cpu:
            return "cpu"
        name = re.sub(r"^GPU \((?:NVIDIA )?([^,)]*).*$", r"\1", self.device)
        return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "gpu"


def heading(machine, quick):
    driver = first_line(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])
    text = f"""# Stage 03: tiles in shared memory and parallel reductions

Written by `python3 benchmarks/measure_stage03.py`; see there for how it measures.

- {machine.device}
- driver {driver or "unknown"}, {'; '.join(machine.libraries)}
- {machine.version}
- host: {processor()}; stage 01 runs on one core of it
- date: {datetime.date.today()}

Words of a command in capitals stand for what is in the table below it. A star marks what the stage
itself computes such a problem with.
"""
    if machine.on_cpu:
        text += ("\n**This ran on the CPU (CUDA on the CPU): no time here means anything about "
                 "GPUs.**\n")
    if quick:
        text += "\n**Small sizes (`--quick`): a trial of the script, not a measurement.**\n"
    return text


def measured(bench, number):
    """A section's text, below it what went wrong."""
    start = bench.elapsed()
    bench.problems = []
    try:
        text = SECTIONS[number](bench)
    except Exception as error:  # of this script: what the other sections find is not lost
        text = f"## {number}\n\nThis section could not be written: {error!r}\n"
    if bench.problems:
        lines = "\n".join(f"- {problem}" for problem in dict.fromkeys(bench.problems))
        text += f"\nNot as planned:\n\n{lines}\n"
    print(f"  section {number}: {bench.elapsed() - start:.1f} s, "
          f"{len(bench.problems)} problem(s)", flush=True)
    return text


def parse_sections(text):
    words = text.split(",")
    if not all(word in map(str, SECTIONS) for word in words):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers from 1 to 8, as in 1,4")
    return sorted(map(int, words))


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/cuda/bin",
                        help="folder with the programs [build/cuda/bin]")
    parser.add_argument("--output", type=pathlib.Path,
                        help="where to write [benchmarks/results/<gpu>_stage03.md; for CUDA on "
                             "the CPU, the folder for temporary files]")
    parser.add_argument("--sections", type=parse_sections, default=sorted(SECTIONS),
                        metavar="1,2,...", help="those to measure [all]")
    parser.add_argument("--budget", type=float, default=240, metavar="SECONDS",
                        help="what is not begun by then is left out [240]")
    parser.add_argument("--quick", action="store_true",
                        help="small sizes, to try the script, also with CUDA on the CPU")
    return parser.parse_args()


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        try:
            machine = Machine.from_info(bench.run([STAGE03, "info"]))
        except Failure as failure:
            sys.exit(f"{options.programs / STAGE03} {failure}; "
                     "build it with ./run.sh bench --preset cuda.")
        if machine.on_cpu and not options.quick:
            sys.exit("These programs run CUDA on the CPU, where the full sizes take hours; "
                     "add --quick, or name others with --programs.")
        results = pathlib.Path(tempfile.gettempdir()) if machine.on_cpu else HERE / "results"
        output = options.output or results / f"{machine.short_name}_stage03.md"
        output.parent.mkdir(parents=True, exist_ok=True)
        top = heading(machine, options.quick)
        parts = {}
        for number in [number for number in ORDER if number in options.sections]:
            parts[number] = measured(bench, number)
            # Each time, so that what is measured is there whatever happens to the rest.
            text = "\n".join([top, *(parts[done] for done in sorted(parts))])
            output.write_text(text, encoding="utf-8")
        print(f"Wrote {output} after {bench.elapsed():.0f} s")


if __name__ == "__main__":
    main()
