#!/usr/bin/env python3
"""Report 001's network on a machine with a GPU, beside cuDNN: measures, and writes the results.

    ./run.sh bench --preset cuda          builds everything (and runs the benchmarks once)
    python3 benchmarks/measure_cnn.py     writes benchmarks/results/cnn.md

Without a GPU, to try the script itself (the figures mean nothing then, and the file says so):

    python3 benchmarks/measure_cnn.py --quick --programs build/cpu/bin --output FILE

Ours are stages 03 and 04 with `--model cnn`; the peer is peers/pytorch_cnn.py, in the same run,
with the fastest of its forms. Without PyTorch its columns stay empty. A command that fails, or
takes too long, becomes a line in the file. STAGEWISE_DATA_DIR (or datasets/) must have MNIST.
"""

import collections
import functools
import json
import os
import pathlib
import re
import shlex
import sys
import tempfile

import measuring
from measure_stage04 import short_name
from measuring import Failed, rate, rate_of, report_of, run, table

NOTHING = "-"
MATHS = {"float": "stage04", "tf32": "ladder tf32"}  # as peers/pytorch_cnn.py calls them
WANTED_ACCURACY = 0.985
IDLE = 20_000  # ns; only between two forward passes is the GPU idle for longer


class Bench(measuring.Bench):
    """What all sections need. `folder` is for files that are not kept."""

    def __init__(self, options, folder):
        super().__init__(options)
        self.folder = pathlib.Path(folder)
        self.counts = (2,) if self.quick else (2, 10, 100, 1000, 10000)
        self.batches = (50,) if self.quick else (100, 1000)

    def attempt(self, work, *words):
        """What `work` returns; None if it fails, which is noted then."""
        try:
            return work(*words)
        except Failed as failure:
            self.problems.append(str(failure))
            return None

    def words_of(self, program):
        """The command that "stage04" or "ladder tf32" stands for."""
        name, *command = program.split()
        return [self.program(name if command else f"{name}_*"), *command]

    def train_command(self, *words, program="stage04"):
        limits = ["--train-limit", 100, "--test-limit", 10] if self.quick else []
        return [*self.words_of(program), "train", "--dataset", self.dataset, "--model", "cnn",
                *limits, *words]

    def train(self, program, *words):
        return report_of(self.train_command(*words, program=program),
                         name=shlex.join([*program.split(), "train", *map(str, words)]))

    @functools.cached_property
    def checkpoint(self):
        path = self.folder / "cnn.h5"
        limit = [] if self.quick else ["--train-limit", 1000]
        run(self.train_command("--epochs", 1, *limit, "--save", path))
        return path

    def evaluate_command(self, program, count, *words):
        return [*self.words_of(program), "evaluate", "--load", self.checkpoint, "--dataset",
                self.dataset, "--batch-size", count, "--test-limit", count, "--latency", *words]

    def latencies(self, program, count, *words):
        """{path: seconds of a batch}."""
        report = report_of(self.evaluate_command(program, count, *words),
                           name=shlex.join([*program.split(), "evaluate", *words]))
        return {path["path"]: path["median_seconds"] for path in report["latency"]}

    def host_to_host(self, program, count, *words):
        """Seconds of a batch, by the fastest path."""
        paths = self.latencies(program, count, *words)
        return min(seconds for path, seconds in paths.items() if path != "device")

    def peer(self, *words):
        """What peers/pytorch_cnn.py prints; no figures without PyTorch or a GPU."""
        words = [*words, "--repetitions", 5, "--images", 100, "--limit", 0] if self.quick else words
        command = [sys.executable, measuring.HERE / "peers/pytorch_cnn.py", *words]
        try:
            result = json.loads(run(command, 300, name="pytorch_cnn.py"))
        except Failed as failure:
            self.problems.append(f"without PyTorch: {failure}")
            return collections.defaultdict(dict)
        self.problems += [f"PyTorch, {what}: {why}" for what, why in result["failures"].items()]
        return result


def listed(numbers):
    return ",".join(map(str, numbers))


def best(figures, pick=min):
    """(figure, name) of the fastest of {name: figure}."""
    return pick(((figure, name) for name, figure in figures.items()), default=(None, NOTHING))


def cell(value, show):
    return NOTHING if value is None else show(value)


def microseconds(seconds):
    return f"{1e6 * seconds:,.1f}"


def milliseconds(seconds):
    return f"{1e3 * seconds:,.3f}"


def percent(fraction):
    return f"{100 * fraction:.2f} %"


def ratio(dividend, divisor):
    return f"{dividend / divisor:.2f}x" if dividend and divisor else NOTHING


def forward(bench):
    peer = bench.peer("--batches", listed(bench.counts), "--training", "")
    rows = {"device": [], "host": []}
    for count in bench.counts:
        for precision, program in MATHS.items():
            paths = bench.attempt(bench.latencies, program, count) or {}
            for place, own_rows in rows.items():
                ours, path = best({path: seconds for path, seconds in paths.items()
                                   if (path == "device") == (place == "device")})
                theirs, form = best(peer[f"{place}_seconds"].get(f"{precision}@{count}", {}))
                own_rows.append([f"{count:,}", precision, cell(ours, microseconds), path,
                                 cell(theirs, microseconds), form, ratio(theirs, ours)])
    head = ["images", "precision", "stage 04, us", "its path", "PyTorch, us", "its form",
            "over the fastest"]
    return ("The median time of a forward pass. On the device, images and classes lie in the GPU's"
            " memory:\n\n" + table(head, rows["device"])
            + "\nFrom host to host. Stage 04's path `captured` begins with a data set's bytes, which"
            " the host turns into numbers in pinned memory, and `streamed` with bytes in pinned"
            " memory. PyTorch's images lie in pinned memory, as numbers or as bytes:\n\n"
            + table(head, rows["host"]))


def training(bench):
    peer = bench.peer("--batches", "", "--training", listed(bench.batches))
    rows = []
    for batch in bench.batches:
        for precision, program in MATHS.items():
            report = bench.attempt(bench.train, program, "--batch-size", batch, "--epochs",
                                   2 if bench.quick else 5)
            ours = rate_of(report) if report else None
            theirs, form = best(peer["images_per_second"].get(f"{precision}@{batch}", {}), max)
            rows.append([f"{batch:,}", precision, cell(ours, rate),
                         cell(ours and batch / ours, microseconds), cell(theirs, rate), form,
                         ratio(ours, theirs)])
    return table(["batch", "precision", "stage 04, images/s", "us a step", "PyTorch, images/s",
                  "its form", "over the fastest"], rows)


def explained(bench):
    parts = []
    for batch in bench.batches:
        output = run(bench.train_command("--batch-size", batch, "--epochs", 1, "--explain"))
        explanation = output[output.index("\na step, "):output.index("\ntest ")].strip("\n")
        parts.append(f"Batch of {batch:,}:\n\n```\n{explanation}\n```\n")
    return "\n".join(parts)


def accuracy(bench):
    rows = []
    for precision, program in MATHS.items():
        report = bench.attempt(bench.train, program, "--epochs", 3)
        reached = report["test_accuracy"] if report else None
        if reached is not None and reached < WANTED_ACCURACY:
            bench.problems.append(f"{precision} does not reach {percent(WANTED_ACCURACY)}")
        rows.append([precision, cell(reached, percent)])
    return (f"Three epochs should reach {percent(WANTED_ACCURACY)} on the test set.\n\n"
            + table(["precision", "reached"], rows))


def traced(bench, program):
    """[(begin, end, stream, name)] of an evaluation's kernels and copies, in ns, by beginning."""
    library = bench.programs.resolve() / "libtrace_kernels.so"
    if not library.exists():
        raise Failed(f"`{library.name}` is not there")
    path = bench.folder / "trace.txt"
    run(bench.evaluate_command(program, bench.counts[-1]),
        env={**os.environ, "CUDA_INJECTION64_PATH": str(library), "STAGEWISE_KERNELS": str(path)},
        name=f"{program} evaluate")
    lines = (line.split(" ", 3) for line in path.read_text(encoding="utf-8").splitlines())
    return [(int(begin), int(end), int(stream), name) for begin, end, stream, name in lines]


def last_pass(spans):
    """The spans of the last forward pass from host to host: all others of its path look like it."""
    groups = []
    idle_since = None
    for span in spans:
        if idle_since is None or span[0] - idle_since > IDLE:
            groups.append([])
        groups[-1].append(span)
        idle_since = max(idle_since or 0, span[1])
    kinds = [tuple(sorted(name for *_, name in group)) for group in groups]
    counts = collections.Counter(kinds)
    for group, kind in zip(reversed(groups), reversed(kinds)):
        if counts[kind] >= 5 and {"copy in", "copy out"} <= set(kind):
            return group
    raise Failed("no forward pass from host to host was found in the trace")


def pass_table(spans):
    start = spans[0][0]
    streams = sorted({stream for _, _, stream, _ in spans})
    us = lambda nanoseconds: f"{nanoseconds / 1e3:,.1f}"
    rows = [[f"`{short_name(name)}`", streams.index(stream), us(begin - start), us(end - start),
             us(end - begin)] for begin, end, stream, name in spans]
    for what, is_copy in (("copies", True), ("kernels", False)):
        total = sum(end - begin for begin, end, _, name in spans
                    if name.startswith("copy") == is_copy)
        rows.append([f"all {what}", "", "", "", us(total)])
    whole = max(end for _, end, _, _ in spans) - start
    rows.append(["the whole pass", "", us(0), us(whole), us(whole)])
    return table(["copy or kernel", "stream", "begins, us", "ends, us", "us"], rows)


def timeline(bench):
    parts = []
    for precision, program in MATHS.items():
        spans = bench.attempt(lambda: last_pass(traced(bench, program)))
        if spans is not None:
            parts.append(f"{precision}:\n\n{pass_table(spans)}")
    return (f"{bench.counts[-1]:,} images from host to host, the last pass that was measured; the"
            " host's own work before it is not in the table.\n\n" + "\n".join(parts))


def words_of_form(form, count):
    """The program and its arguments that compute a form of convolution."""
    return "ladder rungs" if form == "im2col" else "stage03", count, "--convolution", form


def forms_of_convolution(bench):
    forms = ("direct", "im2col", "implicit")
    rows = []
    for count in bench.counts:
        direct, *products = (bench.attempt(bench.host_to_host, *words_of_form(form, count))
                             for form in forms)
        separate, fused = (bench.attempt(bench.host_to_host, "stage04", count, "--fuse", fuse)
                           for fuse in ("off", "on"))
        product = min(filter(None, products), default=None)
        rows.append([f"{count:,}", *(cell(seconds, milliseconds) for seconds in
                                     (direct, *products)), ratio(direct, product),
                     cell(separate, milliseconds), cell(fused, milliseconds),
                     ratio(separate, fused)])
    return ("Milliseconds of a forward pass from host to host: stage 03 with each"
            " `--convolution`, `ladder rungs` with im2col, stage 04 with bias, ReLU and pooling in"
            " kernels of their own and in that of the convolution. Report 001 used serial code for fewer than 100 images,"
            " and the product for more.\n\n"
            + table(["images", *forms, "product over direct", "stage 04, `--fuse off`",
                     "`--fuse on`", "fused over separate"], rows))


LAYERS = {"28x28x1, 32 filters of 5x5": [],
          "12x12x32, 64 filters of 5x5": ["--size", 12, "--channels", 32, "--filters", 64]}
RUNGS = ("direct", "texture", "fast-math", "im2col", "implicit", "separate", "fused")


def times_of_rungs(text):
    """{rung: "1.23 us"} of what `ladder convolution` prints."""
    pattern = rf"^({'|'.join(RUNGS)})(?: \*)? +[\d.e+-]+ +([\d.]+ [mu]?s) "
    return dict(re.findall(pattern, text, re.MULTILINE))


def layers(bench):
    parts = []
    for name, words in LAYERS.items():
        rows = []
        for count in (1, *bench.counts):
            command = [bench.program("ladder"), "convolution", "--images", count, *words,
                       "--repetitions", 1 if bench.quick else 20]
            times = times_of_rungs(bench.attempt(run, command) or "")
            rows.append([f"{count:,}", *(times.get(rung, NOTHING) for rung in RUNGS)])
        parts.append(f"{name}:\n\n" + table(["images", *RUNGS], rows))
    return ("Each way to compute a layer of the network forward, in float (`ladder convolution`);"
            " the last two with bias, ReLU and pooling.\n\n" + "\n".join(parts))


SECTIONS = [("Forward on the device and host to host", forward),
            ("Training", training),
            ("Lines of a step (`--explain`)", explained),
            ("Accuracy", accuracy),
            ("Where the time of 10,000 images goes", timeline),
            ("What each form of convolution takes", forms_of_convolution),
            ("A layer in every way", layers)]


def main():
    parser = measuring.make_parser(__doc__, 4)
    parser.set_defaults(output=measuring.HERE / "results/cnn.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        if bench.dataset != "mnist" and not options.quick:
            sys.exit("There is no MNIST: STAGEWISE_DATA_DIR must name a folder that holds mnist/.")
        try:
            info = run([bench.stage(4), "info"])
        except Failed as failure:
            sys.exit(f"{failure}; build it with ./run.sh bench --preset cuda.")
        libraries = [line for line in info.splitlines() if "CUDA" in line]
        top = measuring.heading("measure_cnn.py", options, libraries)
        measuring.measure(bench, options, "Report 001's network", top, SECTIONS)


if __name__ == "__main__":
    main()
