#!/usr/bin/env python3
"""Stage 01 beside OpenBLAS and PyTorch, each on one thread: measures, and writes the results file.

    ./run.sh build                        builds everything
    python3 benchmarks/compare_cpu.py     writes benchmarks/results/cpu.md

Section 1 has the products of training 784-1000-10 in batches of 800 and 784-256-10 in batches of
100, each by itself (`--explain`). In section 2, training 784-256-10 and its peer run alternately, and
what counts is the median of the pairs' ratios: a machine that is busy with something else slows
both. The peer runs with --python, which needs PyTorch, on as many random images as MNIST has.

OpenBLAS chooses its kernels by the processor, unless the environment names others. Here the
variable OPENBLAS_CORETYPE is taken out of it, so that the library chooses itself; sections 3 and 4
are the same with its kernels for AVX2 (OPENBLAS_CORETYPE=Haswell), which is what most processors
without AVX-512 get. Debian's PyTorch calls the same library.
"""

import functools
import json
import statistics

import measuring
from measuring import HERE, PRECISIONS, rate, rate_of, report_of, run, table

FORMS = ("naive", "reordered", "blocked", "blas")
TARGET_PRODUCT, TARGET_TRAINING = 0.4, 0.9  # as a part of OpenBLAS's and PyTorch's speed


def report(bench, form, core, *words):
    """Of a training with stage 01's product in this form; `core` names OpenBLAS's kernels, or is empty."""
    program = bench.words("ladder blocked") if form == "blocked" else bench.words("stage01")
    choice = [] if form == "blocked" else ["--gemm", form]
    images = 400 if bench.quick else 4000 if form == "naive" else 60000 if bench.dataset == "mnist" else 10000
    return report_of([*program, "train", *choice, "--dataset", bench.dataset, "--train-limit", images, "--test-limit",
                      10, *words], limit=300, env=environment(core))


def environment(core):
    return measuring.environment() | ({"OPENBLAS_CORETYPE": core} if core else {})


def products(bench, core):
    """GFLOP/s of each product and form, and how fast that is beside OpenBLAS."""
    text = ""
    for hidden, batch in ((1000, 800), (256, 100)):
        for precision in PRECISIONS:
            speeds = {}
            for form in FORMS:
                lines = report(bench, form, core, "--hidden", hidden, "--batch-size", min(batch, 400) if bench.quick
                               else batch, "--precision", precision, "--epochs", 1, "--explain")["timings"]
                speeds[form] = {line["operation"]: line["operations"] / (line["forward_seconds"]
                                                                         + line["backward_seconds"])
                                for line in lines if line["operation"].startswith("gemm")}
            rows = [[f"`{name}`", *(f"{speeds[form][name] * 1e-9:.1f} ({speeds[form][name] / blas:.2f})"
                                    for form in FORMS)] for name, blas in speeds["blas"].items()]
            text += f"784-{hidden}-10, batches of {batch}, {precision}:\n\n" + table(["product", *FORMS], rows) + "\n"
            if (hidden, precision) == (1000, "float"):
                name, blas = next(iter(speeds["blas"].items()))
                text = verdict("`reordered` / OpenBLAS", speeds["reordered"][name] / blas, TARGET_PRODUCT) + text
    return "GFLOP/s, and in brackets the speed as a fraction of OpenBLAS's.\n\n" + text


def trainings(bench, core):
    words = ["--hidden", 256, "--batch-size", 100, "--epochs", 2 if bench.quick else 4]
    rows = [[form, rate(rate_of(report(bench, form, core, *words)))] for form in FORMS]
    pairs = []
    for number in range(1 if bench.quick else bench.options.rounds):
        ours = rate_of(report(bench, "blas", core, *words))
        peer = json.loads(run([bench.options.python, HERE / "peers/pytorch_mlp.py"], limit=300, env=environment(core)))
        pairs.append((ours, peer["images_per_second"], ours / peer["images_per_second"]))
    pairs.append([statistics.median(column) for column in zip(*pairs)])
    lines = [[number if pair is not pairs[-1] else "median", rate(pair[0]), rate(pair[1]), f"{pair[2]:.2f}"]
             for number, pair in enumerate(pairs, start=1)]
    return (verdict("training with `blas` / PyTorch", pairs[-1][2], TARGET_TRAINING)
            + "784-256-10 at a batch of 100 in float:\n\n" + table(["form", "images/s"], rows)
            + f"\nWith `blas` and PyTorch {peer['pytorch']} ({', '.join(peer['blas'])}), alternately:\n\n"
            + table(["pair", "Stagewise, images/s", "PyTorch, images/s", "ratio"], lines))


def verdict(what, value, target):
    return f"{what}: {value:.2f}, target {target}: {'met' if value >= target else 'MISSED'}\n\n"


KERNELS = {"": "kernels of OpenBLAS's own choice", "Haswell": "OPENBLAS_CORETYPE=Haswell"}
SECTIONS = [(f"{title}, {kernels}", functools.partial(section, core=core)) for core, kernels in KERNELS.items()
            for title, section in (("Products", products), ("Training", trainings))]


def add_options(parser):
    parser.add_argument("--python", default="/usr/bin/python3", help="a Python with PyTorch [%(default)s]")
    parser.add_argument("--rounds", type=int, default=7, help="pairs of trainings [%(default)s]")


if __name__ == "__main__":
    measuring.main(__doc__, "Stage 01 on one core", SECTIONS, add_options=add_options, is_about_gpus=False,
                   programs=measuring.ROOT / "build/auto/bin", output=HERE / "results/cpu.md")
