#!/usr/bin/env python3
"""Report 001's network on a machine with a GPU, beside cuDNN: measures, and writes the results.

    ./run.sh build --preset cuda          builds everything
    python3 benchmarks/measure_cnn.py     writes benchmarks/results/cnn.md

Without a GPU, to try the script itself (the figures mean nothing then, and the file says so):

    python3 benchmarks/measure_cnn.py --quick --programs build/cpu/bin --output FILE

Ours are stages 03 and 04 with `--model cnn`; the peer is peers/pytorch_cnn.py, in the same run,
with the fastest of its forms. Without PyTorch its columns stay empty. A command that fails, or
takes too long, becomes a line in the file. STAGEWISE_DATA_DIR (or datasets/) should have MNIST.
"""

import collections
import functools
import re

import measuring
from measuring import NOTHING, Failed, explained, rate, rate_of, ratio, short_name, shown, table

MATHS = {"float": "stage04", "tf32": "ladder tf32"}  # as peers/pytorch_cnn.py calls them
WANTED_ACCURACY = 0.985
IDLE = 20_000  # ns; only between two forward passes is the GPU idle for longer
FORMS = {"direct": "stage03", "im2col": "ladder rungs", "implicit": "stage03"}
LAYERS = {"28x28x1, 32 filters of 5x5": [],
          "12x12x32, 64 filters of 5x5": ["--size", 12, "--channels", 32, "--filters", 64]}
RUNGS = ("direct", "texture", "fast-math", "im2col", "implicit", "separate", "fused")


class Bench(measuring.Bench):
    def __init__(self, options):
        super().__init__(options)
        self.counts = (2,) if self.quick else (2, 10, 100, 1000, 10000)
        self.batches = (50,) if self.quick else (100, 1000)
        self.network = ["--dataset", self.dataset, "--model", "cnn",
                        *(["--train-limit", 100, "--test-limit", 10] if self.quick else [])]

    @functools.cached_property
    def checkpoint(self):
        path = self.folder / "cnn.h5"
        limit = [] if self.quick else ["--train-limit", 1000]
        self.train("stage04", *self.network, *limit, "--save", path, epochs=1)
        return path

    def evaluation(self, count):
        return ["--dataset", self.dataset, "--batch-size", count, "--test-limit", count]

    def host_to_host(self, program, count, *words):
        """Seconds of a batch, by the fastest path."""
        paths = self.latency(program, self.checkpoint, *self.evaluation(count), *words)
        return min(seconds for path, seconds in paths.items() if path != "device")

    def cnn_peer(self, *words):
        """What peers/pytorch_cnn.py prints; no figures without PyTorch or a GPU."""
        words = [*words, "--repetitions", 5, "--images", 100, "--limit", 0] if self.quick else words
        return collections.defaultdict(dict, self.peer("pytorch_cnn.py", *words))


def listed(numbers):
    return ",".join(map(str, numbers))


def best(figures, pick=min):
    """(figure, name) of the fastest of {name: figure}."""
    return pick(((figure, name) for name, figure in figures.items()), default=(None, NOTHING))


def microseconds(seconds):
    return NOTHING if seconds is None else f"{1e6 * seconds:,.1f}"


def forward(bench):
    peer = bench.cnn_peer("--batches", listed(bench.counts), "--training", "")
    rows = {"device": [], "host": []}
    for count in bench.counts:
        for precision, program in MATHS.items():
            paths = bench.attempt(bench.latency, program, bench.checkpoint, *bench.evaluation(count)) or {}
            for place, own_rows in rows.items():
                ours, path = best({path: seconds for path, seconds in paths.items()
                                   if (path == "device") == (place == "device")})
                theirs, form = best(peer[f"{place}_seconds"].get(f"{precision}@{count}", {}))
                own_rows.append([f"{count:,}", precision, microseconds(ours), path, microseconds(theirs), form,
                                 ratio(theirs, ours)])
    head = ["images", "precision", "stage 04, us", "its path", "PyTorch, us", "its form", "over the fastest"]
    return ("The median time of a forward pass. On the device, images and classes lie in the GPU's"
            " memory:\n\n" + table(head, rows["device"])
            + "\nFrom host to host. Stage 04's path `captured` begins with a data set's bytes, which"
            " the host turns into numbers in pinned memory, and `streamed` with bytes in pinned"
            " memory. PyTorch's images lie in pinned memory, as numbers or as bytes:\n\n"
            + table(head, rows["host"]))


def training(bench):
    peer = bench.cnn_peer("--batches", "", "--training", listed(bench.batches))
    rows = []
    for batch in bench.batches:
        for precision, program in MATHS.items():
            report = bench.attempt(bench.train, program, *bench.network, "--batch-size", batch)
            ours = rate_of(report) if report else None
            theirs, form = best(peer["images_per_second"].get(f"{precision}@{batch}", {}), max)
            rows.append([f"{batch:,}", precision, rate(ours), microseconds(ours and batch / ours), rate(theirs), form,
                         ratio(ours, theirs)])
    forms = []
    for batch in bench.batches:
        reports = [bench.attempt(bench.train, program, *bench.network, "--batch-size", batch, "--convolution", form,
                                 epochs=3) for form, program in FORMS.items()]
        forms.append([f"{batch:,}", *(rate(report and rate_of(report)) for report in reports)])
    return (table(["batch", "precision", "stage 04, images/s", "us a step", "PyTorch, images/s",
                   "its form", "over the fastest"], rows)
            + "\nStage 03 with each `--convolution`, `ladder rungs` with im2col, images/s:\n\n"
            + table(["batch", *FORMS], forms))


def explanations(bench):
    return "\n".join(
        f"Batch of {batch:,}:\n\n"
        + explained(bench.run([*bench.words("stage04"), "train", *bench.network, "--batch-size", batch, "--epochs", 1,
                               "--explain"])) for batch in bench.batches)


def accuracy(bench):
    rows = []
    for precision, program in MATHS.items():
        report = bench.attempt(bench.train, program, *bench.network, epochs=3)
        reached = report["test_accuracy"] if report else None
        if reached is not None and reached < WANTED_ACCURACY:
            bench.problems.append(f"{precision} does not reach {WANTED_ACCURACY:.2%}")
        rows.append([precision, shown(reached, ".2%")])
    return (f"Three epochs should reach {WANTED_ACCURACY:.2%} on the test set.\n\n"
            + table(["precision", "reached"], rows))


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
        total = sum(end - begin for begin, end, _, name in spans if name.startswith("copy") == is_copy)
        rows.append([f"all {what}", "", "", "", us(total)])
    whole = max(end for _, end, _, _ in spans) - start
    rows.append(["the whole pass", "", us(0), us(whole), us(whole)])
    return table(["copy or kernel", "stream", "begins, us", "ends, us", "us"], rows)


def timeline(bench):
    parts = []
    for precision, program in MATHS.items():
        spans = bench.attempt(lambda: last_pass(bench.traced(
            [*bench.words(program), "evaluate", "--load", bench.checkpoint, *bench.evaluation(bench.counts[-1]),
             "--latency"])))
        if spans is not None:
            parts.append(f"{precision}:\n\n{pass_table(spans)}")
    return (f"{bench.counts[-1]:,} images from host to host, the last pass that was measured; the"
            " host's own work before it is not in the table.\n\n" + "\n".join(parts))


def forms_of_convolution(bench):
    rows = []
    for count in bench.counts:
        direct, *products = (bench.attempt(bench.host_to_host, program, count, "--convolution", form)
                             for form, program in FORMS.items())
        separate, fused = (bench.attempt(bench.host_to_host, "stage04", count, "--fuse", fuse)
                           for fuse in ("off", "on"))
        ms = lambda seconds: NOTHING if seconds is None else f"{1e3 * seconds:,.3f}"
        rows.append([f"{count:,}", *map(ms, (direct, *products)),
                     ratio(direct, min(filter(None, products), default=None)), ms(separate), ms(fused),
                     ratio(separate, fused)])
    return ("Milliseconds of a forward pass from host to host: stage 03 with each `--convolution`, `ladder rungs`"
            " with im2col, stage 04 with bias, ReLU and pooling in kernels of their own and in that of the"
            " convolution. Report 001 used serial code for fewer than 100 images, and the product for more.\n\n"
            + table(["images", *FORMS, "product over direct", "stage 04, `--fuse off`", "`--fuse on`",
                     "fused over separate"], rows))


def layers(bench):
    pattern = rf"^({'|'.join(RUNGS)})(?: \*)? +[\d.e+-]+ +([\d.]+ [mu]?s) "
    parts = []
    for name, words in LAYERS.items():
        rows = []
        for count in (1, *bench.counts):
            text = bench.attempt(bench.run, [*bench.words("ladder"), "convolution", "--images", count, *words,
                                             "--repetitions", 1 if bench.quick else 20])
            times = dict(re.findall(pattern, text or "", re.MULTILINE))
            rows.append([f"{count:,}", *(times.get(rung, NOTHING) for rung in RUNGS)])
        parts.append(f"{name}:\n\n" + table(["images", *RUNGS], rows))
    return ("Each way to compute a layer of the network forward, in float (`ladder convolution`);"
            " the last two with bias, ReLU and pooling.\n\n" + "\n".join(parts))


SECTIONS = [("Forward on the device and host to host", forward),
            ("Training", training),
            ("Lines of a step (`--explain`)", explanations),
            ("Accuracy", accuracy),
            ("Where the time of 10,000 images goes", timeline),
            ("What each form of convolution takes", forms_of_convolution),
            ("A layer in every way", layers)]

if __name__ == "__main__":
    measuring.main(__doc__, "Report 001's network", SECTIONS, Bench)
