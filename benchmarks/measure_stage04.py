#!/usr/bin/env python3
"""Stage 04 on a machine with a GPU: measures, and writes the results file.

    ./run.sh bench --preset cuda              builds everything (and runs the benchmarks once)
    python3 benchmarks/measure_stage04.py     writes benchmarks/results/<gpu>_stage04.md

Without a GPU, to try the script itself (the figures mean nothing then, and the file says so):

    python3 benchmarks/measure_stage04.py --quick --programs build/cpu/bin --output FILE

Trainings count with the median of their epochs without the first, as the programs report them. The
peer is peers/pytorch_mlp_gpu.py, in the same run; without PyTorch its columns stay empty. A command
that fails, or takes too long, becomes a line in the file. MNIST is used if STAGEWISE_DATA_DIR (or
datasets/) has it, and generated digits otherwise.
"""

import collections
import csv
import json
import os
import pathlib
import re
import shlex
import statistics
import sys
import tempfile
import threading
import time

import measuring
from measuring import Failed, rate, rate_of, report_of, run, table

# What is trained, as peers/pytorch_mlp_gpu.py reads it: network, size of a batch, what is unusual.
CASES = ("784-256-10@100", "784-256-10@250", "784-256-10@1000", "784-256-10@2500",
         "784-256-10@10000", "784-200-10@128", "784-300-10@640,sigmoid", "784-512-256-10@512",
         "784-1000-10@800,sigmoid", "784-1000-10@800,sigmoid,double")
STREAMED_BATCHES = (100, 250, 1000, 10000)


class Bench(measuring.Bench):
    """What all sections need."""

    def train(self, *words, number=4, epochs=9, program=None):
        """@param program what trains, in place of the stage's program."""
        if self.quick:
            epochs = 2
            words = [*words, "--train-limit", 1000] if "--train-limit" not in words else words
        return report_of([*(program or [self.stage(number)]), "train", "--dataset", self.dataset, "--epochs",
                          epochs, *words])


def options_of(case):
    """The same for our programs."""
    network, *words = case.split(",")
    widths, batch = network.split("@")
    names = {"sigmoid": ["--activation", "sigmoid"], "double": ["--precision", "double"]}
    return ["--hidden", ",".join(widths.split("-")[1:-1]), "--batch-size", batch,
            *(option for word in words for option in names[word])]


def name_of(case):
    """"784-300-10, sigmoid, 640"."""
    network, *words = case.split(",")
    widths, batch = network.split("@")
    return ", ".join([widths, *words, f"{int(batch):,}"])


def against(ours, theirs):
    """Cells for PyTorch's images a second, and how many times as fast the fastest we are."""
    cells = [rate(value) if value else "-" for value in theirs]
    fastest = max(filter(None, theirs), default=None)
    return [*cells, f"{ours / fastest:.2f}x" if fastest else "-"]


def training(bench):
    cases = ("784-256-10@100", "784-300-10@250,sigmoid,double") if bench.quick else CASES
    peer = bench.peer(cases, "--limit", 0.7)
    persistent = [bench.program("ladder"), "persistent"]
    rows = []
    for case in cases:
        words = options_of(case)
        before = rate_of(bench.train(*words, number=3, epochs=3))
        launches = rate_of(bench.train(*words))
        has_one_layer = "," not in str(words[words.index("--hidden") + 1])
        ours = (rate_of(bench.train(*words, "--persistent", "auto", program=persistent))
                if has_one_layer else launches)
        batch = int(words[words.index("--batch-size") + 1])
        rates = peer.get(case, {})
        rows.append([name_of(case), rate(before), rate(launches), rate(ours),
                     f"{1e6 * batch / ours:.1f}",
                     f"{ours / before:.1f}x",
                     *against(ours, [rates.get(form) for form in ("eager", "graph", "epoch")])])
    return table(["network, batch", "stage 03", "stage 04", "`ladder persistent`", "us a step",
                  "over stage 03", "PyTorch, eager", "a CUDA graph a step", "a CUDA graph an epoch",
                  "over the fastest"], rows)


def streamed(bench):
    batches = (100,) if bench.quick else STREAMED_BATCHES
    forms = ("streamed", "streamed-graph")
    peer = bench.peer([f"784-256-10@{batch}" for batch in batches], "--forms", ",".join(forms),
                      "--limit", 0.7)
    rows = []
    for batch in batches:
        words = ["--batch-size", batch, "--stream-batches"]
        reading = rate_of(bench.train(*words, "--log-every", 1, epochs=4))
        ours = rate_of(bench.train(*words))
        rates = peer.get(f"784-256-10@{batch}", {})
        rows.append([f"{batch:,}", rate(ours), rate(reading),
                     *against(ours, [rates.get(form) for form in forms])])
    return ("784-256-10 in float; a batch is copied from the host for every step. PyTorch's loops"
            " read the loss of every step, too.\n\n"
            + table(["batch", "stage 04", "`--log-every 1`", "PyTorch, eager",
                     "a CUDA graph a step", "over the fastest"], rows))


def what_each_part_buys(bench):
    forms = [("everything", []), ("--fuse off", ["--fuse", "off"]),
             ("--capture off", ["--capture", "off"]), ("--gather kernel", ["--gather", "kernel"]),
             ("--stream-batches", ["--stream-batches"])]
    rows = []
    for name, words in forms:
        rows.append([f"`{name}`" if name.startswith("-") else name,
                     *(rate(rate_of(bench.train("--batch-size", batch, *words)))
                       for batch in (100, 1000))])
    return table(["", "batch 100", "batch 1,000"], rows)


def workers(bench):
    rows = []
    for count in (1, 2, 4, 8):
        row = [count]
        for average in ("gradients", "weights"):
            words = ["--batch-size", 1000, "--workers", count]
            if count > 1:  # of one there is nothing to average
                words += ["--average", average]
            row.append(rate(rate_of(bench.train(*words))))
        rows.append(row)
    return table(["workers", "gradients", "weights, every step"], rows)


def explained(bench):
    """The tables that --explain prints."""
    parts = []
    for case in ("784-256-10@100", "784-256-10@1000", "784-1000-10@800,sigmoid,double"):
        output = run([bench.stage(4), "train", "--dataset", bench.dataset, "--epochs", 2,
                      "--explain", *options_of(case),
                      *(["--train-limit", 1000] if bench.quick else [])])
        explanation = output[output.index("\na step, "):output.index("\ntest ")].strip("\n")
        parts.append(f"{name_of(case)}:\n\n```\n{explanation}\n```\n")
    return "\n".join(parts)


def latency(bench):
    rows = []
    for name, words in [("784-256-10, float", []),
                        ("784-256-10, double", ["--precision", "double"]),
                        ("784-512-512-10, float", ["--hidden", "512,512"])]:
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "model.h5"
            run([bench.stage(4), "train", "--dataset", bench.dataset, "--epochs", 1,
                 "--train-limit", 1000, "--save", model, *words])
            report = report_of([bench.program("ladder"), "persistent", "evaluate", "--load", model,
                                "--batch-size", 1, "--latency", *(["--test-limit", 50] if bench.quick else [])])
        for path in report["latency"]:
            rows.append([name, path["path"], *(f"{1e6 * path[key]:.1f}" for key in
                                               ("median_seconds", "p95_seconds", "p99_seconds"))])
    return table(["network", "path", "median, us", "95 %, us", "99 %, us"], rows)


def convolution(bench):
    batch = 20 if bench.quick else 10000
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "cnn.h5"
        report = bench.train("--model", "cnn", "--batch-size", 20 if bench.quick else 100, "--save",
                             model, *(["--train-limit", 40] if bench.quick else []), epochs=2)
        rows.append(["training, batch of 100, images/s", "", rate(rate_of(report))])
        cells = [f"forward, {batch:,} images, host to host, ms"]
        for number in (3, 4):
            report = report_of([bench.stage(number), "evaluate", "--load", model, "--batch-size",
                                batch, "--latency", "--test-limit", batch])
            cells.append(f"{1e3 * min(p['median_seconds'] for p in report['latency']):.2f}")
        rows.append(cells)
    return table(["cnn of report 001", "stage 03", "stage 04"], rows)


def progress(bench):
    """A bar on a terminal, and none."""
    command = [bench.stage(4), "train", "--dataset", bench.dataset, "--batch-size", "100",
               "--epochs", "2" if bench.quick else "60"]
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(1 if bench.quick else 3):
            for name in ("terminal", "none"):
                path = pathlib.Path(folder) / "report.json"
                words = [*map(str, command), "--report", str(path)]
                if name == "terminal":
                    words = ["script", "-qec", shlex.join(words), "/dev/null"]
                run(words)
                epochs = json.loads(path.read_text(encoding="utf-8"))["epochs"]
                seconds.setdefault(name, []).append(
                    statistics.median(e["seconds"] for e in epochs[1:]))
    shown, hidden = (min(seconds[name]) for name in ("terminal", "none"))
    return table(["epoch of 784-256-10, batch of 100", "ms"],
                 [["with the bar, on a terminal", f"{1e3 * shown:.2f}"],
                  ["without", f"{1e3 * hidden:.2f}"],
                  ["difference", f"{100 * (shown / hidden - 1):+.1f} %"]])


def memory(bench):
    """The most that nvidia-smi sees while MNIST is trained, what was there before taken off."""
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    used = lambda: int(run(query).split()[0])
    before = used()
    most = before
    trainer = threading.Thread(target=bench.train, args=("--batch-size", 1000),
                               kwargs={"epochs": 2000})
    trainer.start()
    while trainer.is_alive():
        most = max(most, used())
        time.sleep(0.05)
    return (f"Training 784-256-10 takes {most - before:,} MiB of the GPU's memory, CUDA's own"
            " included.\n")


def kernels(bench):
    """What the profiler says of each kernel of a step; nothing runs beside it."""
    steps = 3
    launches = len(bench.train("--batch-size", 1000, "--explain", epochs=1)["timings"])
    command = ["ncu", "--csv", "--print-units", "base", "--cache-control", "none",
               "--clock-control", "none", "--launch-skip", 4 * launches, "--launch-count",
               steps * launches, "--metrics", "gpu__time_duration.sum", bench.stage(4), "train",
               "--dataset", bench.dataset, "--epochs", 1, "--train-limit", 40000, "--batch-size",
               1000, "--capture", "off"]
    rows_of_profiler = (line for line in run(command).splitlines() if line.startswith('"'))
    times = {}
    for row in csv.DictReader(rows_of_profiler):
        kernel = (row["Kernel Name"], row["Grid Size"])
        times.setdefault(kernel, []).append(float(row["Metric Value"].replace(",", "")) / 1e3)
    rows = []
    for (name, grid), own_times in times.items():
        rows.append([f"`{short_name(name)}`", grid, len(own_times),
                     f"{statistics.median(own_times):.1f}"])
    return table(["kernel", "blocks", f"launches in {steps} steps", "us"], rows)


def traced(bench, name, variable, number, *words):
    """The lines that a library writes when a training of a stage loads it."""
    library = bench.programs.resolve() / f"lib{name}.so"
    if not library.exists():
        raise Failed(f"`{library.name}` is not there")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.txt"
        tracing = {"CUDA_INJECTION64_PATH": str(library), variable: str(path)}
        run([bench.stage(number), "train", "--dataset", bench.dataset, *words],
            env={**os.environ, **tracing})
        return path.read_text(encoding="utf-8").splitlines()


def short_name(kernel):
    """"output_layer" of a kernel's whole name; a copy has none."""
    if kernel.startswith("copy"):
        return kernel
    name = re.sub(r"<.*|\(.*", "", kernel.replace("(anonymous namespace)::", ""))
    return name.split("::")[-1].split()[-1].removesuffix("_kernel")


def step_of(spans, steps):
    """[(begin, end, stream, name)] of a late step, and its length; times in us, from its beginning.

    A step begins with the first of the kernels that run once in every step.
    """
    counts = collections.Counter(name for *_, name in spans)
    once = {name for name, count in counts.items() if steps <= count <= steps + 2}
    first = next((name for *_, name in spans if name in once), None)
    if first is None:
        return None
    begins = [begin for begin, _, _, name in spans if name == first][:steps]
    begin, end = begins[3 * steps // 4], begins[3 * steps // 4 + 1]
    return ([((b - begin) / 1e3, (e - begin) / 1e3, stream, name) for b, e, stream, name in spans
             if begin <= b < end], (end - begin) / 1e3)


def timeline(bench):
    """When the kernels of a step run, before and after each change of the step."""
    batch, steps = 100, 96
    forms = [("stage 02", 2, []), ("stage 03", 3, []),
             ("data on the GPU", 4, ["--fuse", "off", "--capture", "off"]),
             ("fused", 4, ["--capture", "off"]), ("captured", 4, [])]
    rows = []
    for form, number, words in forms:
        lines = traced(bench, "trace_kernels", "STAGEWISE_KERNELS", number, "--epochs", 1,
                       "--train-limit", batch * steps, "--test-limit", 1, "--batch-size", batch,
                       *words)
        spans = [(int(begin), int(end), int(stream), name) for begin, end, stream, name in
                 (line.split(" ", 3) for line in lines)]
        step = step_of(spans, steps)
        if step is None:
            bench.problems.append(f"{form}: no kernel runs once in every step")
            continue
        streams = sorted({stream for _, _, stream, _ in step[0]})
        rows += [[form, f"`{short_name(name)}`", streams.index(stream), f"{begin:.2f}",
                  f"{end:.2f}"] for begin, end, stream, name in step[0]]
        rows.append([form, "the next step", 0, f"{step[1]:.2f}", "-"])
    return ("784-256-10, float, batch of 100; us since the step's first kernel began.\n\n"
            + table(["training", "kernel", "stream", "begins", "ends"], rows))


def folded(lines):
    """[(how often, the lines that come so often in a row)], of one line or a pair."""
    runs = []
    i = 0
    while i < len(lines):
        best = (1, 1)
        for length in (1, 2):
            block = lines[i:i + length]
            times = 1
            while lines[i + times * length:i + (times + 1) * length] == block:
                times += 1
            if times > 1 and times * length > best[0] * best[1]:
                best = (times, length)
        times, length = best
        runs.append((times, ", ".join(lines[i:i + length])))
        i += times * length
    return runs


def calls(bench):
    """An epoch as the host sees it."""
    lines = [name for line in traced(bench, "trace_cuda_calls", "STAGEWISE_CALLS", 4, "--epochs", 3,
                                     "--batch-size", 1000)
             for times, name in [line.split()] for _ in range(int(times))]
    return told(lines)


def told(lines):
    """The calls of three epochs, as Markdown."""
    launches = [i for i, name in enumerate(lines) if name == "cudaGraphLaunch"]
    shown = folded(lines[max(0, launches[0] - 3):launches[-1] + 1])
    return ("Three epochs as calls of the CUDA runtime, from the first launch of a recording to the"
            " last. What comes several times in a row is shown once, with how often. After its"
            " launches, the host asks whether the epoch is over, again and again, to show progress;"
            " then come the totals and the test set.\n\n```\n"
            + "\n".join(f"{times:5}  {names}" for times, names in shown) + "\n```\n")


SECTIONS = [("Training beside PyTorch, images a second", training),
            ("Streamed batches, images a second", streamed),
            ("What each part buys, images a second", what_each_part_buys),
            ("Workers, batch of 1,000, images a second", workers),
            ("How far from its floor each line is (`--explain`)", explained),
            ("Latency of one image, host to host", latency),
            ("Convolutions", convolution),
            ("What showing progress costs", progress),
            ("Memory", memory),
            ("Kernels of a step of 784-256-10, float, batch of 1,000, each by itself", kernels),
            ("Calls of the CUDA runtime", calls),
            ("When the kernels of a step run", timeline)]


def main():
    options = measuring.make_parser(__doc__, 4).parse_args()
    bench = Bench(options)
    try:
        libraries = [line for line in run([bench.stage(4), "info"]).splitlines() if "CUDA" in line]
    except Failed as failure:
        sys.exit(f"{failure}; build it with ./run.sh bench --preset cuda.")
    top = measuring.heading("measure_stage04.py", options, libraries)
    measuring.measure(bench, options, "Stage 04", top, SECTIONS)


if __name__ == "__main__":
    main()
