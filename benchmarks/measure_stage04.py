#!/usr/bin/env python3
"""Stage 04 on a machine with a GPU: measures, and writes the results file.

    ./run.sh build --preset cuda              builds everything
    python3 benchmarks/measure_stage04.py     writes benchmarks/results/stage04.md

Without a GPU, to try the script itself (the figures mean nothing then, and the file says so):

    python3 benchmarks/measure_stage04.py --quick --programs build/cpu/bin --output FILE

Trainings count with the median of their epochs without the first, as the programs report them. The
peer is peers/pytorch_mlp_gpu.py, in the same run; without PyTorch its columns stay empty. A command
that fails, or takes too long, becomes a line in the file. MNIST is used if STAGEWISE_DATA_DIR (or
datasets/) has it, and generated digits otherwise. Convolutions are measure_cnn.py's.
"""

import collections

import measuring
from measuring import explained, rate, rate_of, ratio, short_name, table

# What is trained, as peers/pytorch_mlp_gpu.py reads it: network, size of a batch, what is unusual.
CASES = ("784-256-10@100", "784-256-10@250", "784-256-10@1000", "784-256-10@2500", "784-256-10@10000",
         "784-200-10@128", "784-300-10@640,sigmoid", "784-512-256-10@512", "784-1000-10@800,sigmoid",
         "784-1000-10@800,sigmoid,double")
STREAMED_BATCHES = (100, 250, 1000, 10000)


class Bench(measuring.Bench):
    def rate(self, *words, program="stage04", epochs=9):
        """Images a second in training."""
        limit = ["--train-limit", 1000] if self.quick else []
        return rate_of(self.train(program, "--dataset", self.dataset, *limit, *words, epochs=epochs))


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
    return [*map(rate, theirs), ratio(ours, max(filter(None, theirs), default=None))]


def training(bench):
    cases = ("784-256-10@100", "784-300-10@250,sigmoid,double") if bench.quick else CASES
    peer = bench.peer_rates(cases, "--limit", 0.7)
    rows = []
    for case in cases:
        words = options_of(case)
        before = bench.rate(*words, program="stage03", epochs=3)
        ours = launches = bench.rate(*words)
        if "," not in words[1]:  # one hidden layer
            ours = bench.rate(*words, "--persistent", "auto", program="ladder persistent")
        rates = peer.get(case, {})
        rows.append([name_of(case), rate(before), rate(launches), rate(ours), f"{1e6 * int(words[3]) / ours:.1f}",
                     ratio(ours, before), *against(ours, [rates.get(form) for form in ("eager", "graph", "epoch")])])
    return table(["network, batch", "stage 03", "stage 04", "`ladder persistent`", "us a step", "over stage 03",
                  "PyTorch, eager", "a CUDA graph a step", "a CUDA graph an epoch", "over the fastest"], rows)


def streamed(bench):
    batches = (100,) if bench.quick else STREAMED_BATCHES
    forms = ("streamed", "streamed-graph")
    peer = bench.peer_rates([f"784-256-10@{batch}" for batch in batches], "--forms", ",".join(forms), "--limit", 0.7)
    rows = []
    for batch in batches:
        words = ["--batch-size", batch, "--stream-batches"]
        ours, reading = bench.rate(*words), bench.rate(*words, "--log-every", 1, epochs=4)
        rates = peer.get(f"784-256-10@{batch}", {})
        rows.append([f"{batch:,}", rate(ours), rate(reading), *against(ours, [rates.get(form) for form in forms])])
    return ("784-256-10 in float; a batch is copied from the host for every step. PyTorch's loops"
            " read the loss of every step, too.\n\n"
            + table(["batch", "stage 04", "`--log-every 1`", "PyTorch, eager", "a CUDA graph a step",
                     "over the fastest"], rows))


def what_each_part_buys(bench):
    forms = ("", "--fuse off", "--capture off", "--gather kernel", "--stream-batches")
    return table(["", "batch 100", "batch 1,000"],
                 [[f"`{form}`" if form else "everything",
                   *(rate(bench.rate("--batch-size", batch, *form.split())) for batch in (100, 1000))]
                  for form in forms])


def workers(bench):
    # Of one worker there is nothing to average.
    return table(["workers", "gradients", "weights, every step"],
                 [[count, *(rate(bench.rate("--batch-size", 1000, "--workers", count,
                                            *(["--average", average] if count > 1 else [])))
                            for average in ("gradients", "weights"))] for count in (1, 2, 4, 8)])


def explanations(bench):
    parts = []
    for case in ("784-256-10@100", "784-256-10@1000", "784-1000-10@800,sigmoid,double"):
        text = bench.run([*bench.words("stage04"), "train", "--dataset", bench.dataset, "--epochs", 2, "--explain",
                          *options_of(case), *(["--train-limit", 1000] if bench.quick else [])])
        parts.append(f"{name_of(case)}:\n\n{explained(text)}")
    return "\n".join(parts)


def latency(bench):
    rows = []
    limit = ["--test-limit", 50] if bench.quick else []
    for name, words in [("784-256-10, float", []),
                        ("784-256-10, double", ["--precision", "double"]),
                        ("784-512-512-10, float", ["--hidden", "512,512"])]:
        model = bench.folder / "model.h5"
        bench.train("stage04", "--dataset", bench.dataset, "--train-limit", 1000, "--save", model, *words, epochs=1)
        report = bench.report([*bench.words("ladder persistent"), "evaluate", "--load", model, "--batch-size", 1,
                               "--latency", *limit])
        rows += [[name, path["path"], *(f"{1e6 * path[key]:.1f}" for key in
                                        ("median_seconds", "p95_seconds", "p99_seconds"))]
                 for path in report["latency"]]
    return table(["network", "path", "median, us", "95 %, us", "99 %, us"], rows)


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
    forms = [("stage 02", "stage02", []), ("stage 03", "stage03", []),
             ("data on the GPU", "stage04", ["--fuse", "off", "--capture", "off"]),
             ("fused", "stage04", ["--capture", "off"]), ("captured", "stage04", [])]
    rows = []
    for form, program, words in forms:
        step = step_of(bench.traced([*bench.words(program), "train", "--dataset", bench.dataset, "--epochs", 1,
                                     "--train-limit", batch * steps, "--test-limit", 1, "--batch-size", batch,
                                     *words]), steps)
        if step is None:
            bench.problems.append(f"{form}: no kernel runs once in every step")
            continue
        streams = sorted({stream for _, _, stream, _ in step[0]})
        rows += [[form, f"`{short_name(name)}`", streams.index(stream), f"{begin:.2f}", f"{end:.2f}"]
                 for begin, end, stream, name in step[0]]
        rows.append([form, "the next step", 0, f"{step[1]:.2f}", "-"])
    return ("784-256-10, float, batch of 100; us since the step's first kernel began.\n\n"
            + table(["training", "kernel", "stream", "begins", "ends"], rows))


SECTIONS = [("Training beside PyTorch, images a second", training),
            ("Streamed batches, images a second", streamed),
            ("What each part buys, images a second", what_each_part_buys),
            ("Workers, batch of 1,000, images a second", workers),
            ("How far from its floor each line is (`--explain`)", explanations),
            ("Latency of one image, host to host", latency),
            ("When the kernels of a step run", timeline)]

if __name__ == "__main__":
    measuring.main(__doc__, "Stage 04", SECTIONS, Bench)
