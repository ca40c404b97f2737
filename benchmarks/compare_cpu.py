#!/usr/bin/env python3
"""Stage 01 beside OpenBLAS and PyTorch, each on one thread: measures, and writes the results file.

    ./run.sh bench                        builds the benchmarks (and runs them once)
    python3 benchmarks/compare_cpu.py     writes benchmarks/results/cpu.md

Training and its peer run alternately, and what counts is the median of the pairs' ratios: a machine
that is busy with something else slows both. The peer runs with --python, which needs PyTorch.

OpenBLAS chooses its kernels by the processor, unless the environment names others. Here the
variables OPENBLAS_* are taken out of it, so that the library chooses itself; where it does not
choose its kernels for AVX2, everything is measured a second time with those
(OPENBLAS_CORETYPE=Haswell), which is what most processors without AVX-512 get. Debian's PyTorch
calls the same library.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PEER = HERE / "peers" / "pytorch_mlp.py"
TRAINING = "training/784-256-10/float/{}/real_time"
AVX2_KERNELS = "Haswell"
TARGET_GEMM = 0.4
TARGET_TRAINING = 0.9


def output_of(command, core):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    if core:
        environment["OPENBLAS_CORETYPE"] = core
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{command[0]} failed (exit code {run.returncode}): {run.stderr.strip()}")
    return run.stdout


def benchmark(program, pattern, core):
    """The context of a benchmark program's run, and its results by name."""
    command = [program, f"--benchmark_filter={pattern}", "--benchmark_format=json"]
    report = json.loads(output_of(command, core))
    return report["context"], {result["name"]: result for result in report["benchmarks"]}


def measure(options, core):
    """Everything, with the kernels that OpenBLAS chooses itself or those named by `core`."""
    context, gemm = benchmark(options.programs / "bench_gemm", ".", core)
    _, forms = benchmark(options.programs / "bench_training", ".", core)
    pairs = []
    for number in range(options.rounds):
        print(f"  pair {number + 1} of {options.rounds}", flush=True)
        name = TRAINING.format("blas")
        _, ours = benchmark(options.programs / "bench_training", "/blas", core)
        peer = json.loads(output_of([options.python, PEER], core))
        pairs.append((ours[name]["items_per_second"], peer["images_per_second"]))
    return {"context": context, "gemm": gemm, "forms": forms, "pairs": pairs, "peer": peer}


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def verdict(value, target):
    return f"{value:.2f}, target {target}: {'met' if value >= target else 'MISSED'}"


def section(result, core):
    context = result["context"]
    prefix = f"OPENBLAS_CORETYPE={core} " if core else ""
    chosen = prefix.strip() or f"OpenBLAS's own choice, {context['openblas_kernels']}"
    text = f"## Kernels: {chosen}\n\n"

    ratios = [ours / peer for ours, peer in result["pairs"]]
    gemm = result["gemm"]["gemm/float/reordered/800x1000x784/manual_time"]
    of_openblas = verdict(gemm["of_openblas"], TARGET_GEMM)
    of_pytorch = verdict(statistics.median(ratios), TARGET_TRAINING)
    text += f"- `reordered` / OpenBLAS at 800x1000x784 in float: {of_openblas}\n"
    text += f"- training with `blas` / PyTorch: {of_pytorch}\n\n"

    text += f"`{prefix}bench_gemm`: GFLOP/s of the fastest product, and its speed as a fraction\n"
    text += "of OpenBLAS's, measured in turns (at, bt: A, B transposed):\n\n"
    rows = {}
    for name, row in result["gemm"].items():
        _, kind, form, size, _ = name.split("/")
        cells = rows.setdefault(f"{size.replace('_', ' ')} {kind}", {})
        cells[form] = f"{row['GFLOP/s']:.1f} ({row['of_openblas']:.2f})"
    forms = list(next(iter(rows.values())))
    text += table(
        ["m x n x k", *forms],
        [[size, *(cells[form] for form in forms)] for size, cells in rows.items()],
    )

    text += f"\n`{prefix}bench_training`, 784-256-10 at a batch of 100 in float:\n\n"
    rows = [
        [name.split("/")[3], f"{row['items_per_second']:,.0f}"]
        for name, row in result["forms"].items()
    ]
    text += table(["form", "images/s"], rows)

    text += f"\n`{prefix}bench_training --benchmark_filter=/blas` and\n"
    text += f"`{prefix}/usr/bin/python3 benchmarks/peers/pytorch_mlp.py`, alternately:\n\n"
    rows = [
        [str(i), f"{ours:,.0f}", f"{peer:,.0f}", f"{ours / peer:.2f}"]
        for i, (ours, peer) in enumerate(result["pairs"], start=1)
    ]
    ours, peers = zip(*result["pairs"])
    rows.append(
        [
            "median",
            f"{statistics.median(ours):,.0f}",
            f"{statistics.median(peers):,.0f}",
            f"{statistics.median(ratios):.2f}",
        ]
    )
    return text + table(["pair", "Stagewise, images/s", "PyTorch, images/s", "ratio"], rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=pathlib.Path, default=HERE.parent / "build/auto/bin",
                        help="folder with bench_gemm and bench_training [build/auto/bin]")
    parser.add_argument("--python", default="/usr/bin/python3",
                        help="a Python with PyTorch [%(default)s]")
    parser.add_argument("--rounds", type=int, default=7, help="pairs of trainings [%(default)s]")
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "results/cpu.md",
                        help="where to write [benchmarks/results/cpu.md]")
    options = parser.parse_args()

    if not (options.programs / "bench_training").is_file():
        sys.exit(f"There is no {options.programs}/bench_training; build it with ./run.sh bench.")
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    name, family, model = (
        re.search(rf"^{key}\s*: (.*)$", cpuinfo, re.MULTILINE).group(1)
        for key in ("model name", "cpu family", "model")
    )
    load_before = os.getloadavg()[0]

    print("With OpenBLAS's own choice of kernels", flush=True)
    results = {"": measure(options, "")}
    kernels = results[""]["context"]["openblas_kernels"]
    if kernels != AVX2_KERNELS:
        print(f"With OPENBLAS_CORETYPE={AVX2_KERNELS}", flush=True)
        results[AVX2_KERNELS] = measure(options, AVX2_KERNELS)

    context = results[""]["context"]
    peer = results[""]["peer"]
    openblas = context["openblas"].split()[1]
    text = f"""# Stage 01 on one core

Written by `python3 benchmarks/compare_cpu.py`; see there for how it measures.

- processor: {name}, family {family}, model {model}
- cores: {context['num_cpus']}; load before the run: {load_before:.1f}
- compiler: {context['compiler']}, {context['build']}
- OpenBLAS: {openblas}, kernels chosen: {kernels}
- PyTorch: {peer['pytorch']}, {peer['threads']} thread, with {', '.join(peer['blas'])}
- date: {datetime.date.today()}

"""
    text += "\n".join(section(result, core) for core, result in results.items())
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(text, encoding="utf-8")
    print(f"Wrote {options.output}")


main()
