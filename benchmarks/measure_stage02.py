#!/usr/bin/env python3
"""Stage 02 beside stage 01 on a machine with a GPU: measures, and writes the results file.

    ./run.sh bench --preset cuda          builds everything (and runs the benchmarks once)
    python3 benchmarks/measure_stage02.py --programs build/cuda/bin --output benchmarks/results/FILE

Every figure of a training is that of its fastest epoch, as the programs report it: gathering the
batches, copying them to the GPU and all computing included. What is compared is measured one after
the other in the same run. The table of report 001 needs its HDF5 file and MNIST below
STAGEWISE_DATA_DIR; without them it is left out.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FORMS = ["naive", "reordered", "blocked", "blas"]
BATCHES = [1, 10, 100, 1000]
BLOCKS = [4, 8, 16, 32]
NETWORK = ["--dataset", "digits", "--hidden", "256", "--test-limit", "10"]


def output_of(command):
    # OpenBLAS chooses its kernels itself, whatever the environment says.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    command = [str(word) for word in command]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)} failed (exit code {run.returncode}): {run.stderr.strip()}")
    return run.stdout


def report_of(command):
    """What the program wrote with --report."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        output_of([*command, "--report", path])
        return json.loads(path.read_text(encoding="utf-8"))


def images_per_second(command):
    return max(epoch["images_per_second"] for epoch in report_of(command)["epochs"])


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def rate(value):
    return f"{value:,.0f}"


def against_stage01(stage01, ladder, stage02):
    rows = []
    for batch in BATCHES:
        ours = images_per_second(
            [stage02, "train", *NETWORK, "--batch-size", batch, "--epochs", 3 if batch < 10 else 10])
        row = [rate(batch), rate(ours)]
        for form in FORMS:
            # So many images that a form takes about a second for an epoch.
            limit = 2000 if form == "naive" else 10000
            program = ([ladder, "blocked", "train"] if form == "blocked"
                       else [stage01, "train", "--gemm", form])
            theirs = images_per_second(
                [*program, *NETWORK, "--batch-size", batch,
                 "--train-limit", limit, "--epochs", 2 if form == "naive" else 3])
            row.append(f"{rate(theirs)} ({ours / theirs:.1f}x)")
        rows.append(row)
    return table(["batch", "stage 02", *(f"stage 01, {form}" for form in FORMS)], rows)


def block_sizes(programs):
    text = output_of([programs / "bench_naive_cuda", "--benchmark_format=json"])
    cells = {}
    for result in json.loads(text)["benchmarks"]:
        _, precision, size, block = result["name"].split("/")[:4]
        row = cells.setdefault(f"{size} {precision}", {})
        row[int(block.split("_")[1])] = f"{result['us']:.1f} us, {result['GFLOP/s']:,.0f}"
    return table(["m x n x k", *(f"{b} x {b}" for b in BLOCKS)],
                 [[name, *(row[b] for b in BLOCKS)] for name, row in cells.items()])


def training_by_block_size(stage02):
    rates = [images_per_second([stage02, "train", *NETWORK, "--batch-size", 1000, "--epochs", 10,
                                "--block-size", block]) for block in BLOCKS]
    return table(["training, batch of 1,000", *(f"{b} x {b}" for b in BLOCKS)],
                 [["images/s", *map(rate, rates)]])


def memory(stage02, per_step_memory):
    rows = []
    for batch in (10, 100, 1000):
        once, per_step = (
            images_per_second([program, "train", *NETWORK, "--batch-size", batch, "--epochs", 5])
            for program in (stage02, per_step_memory))
        rows.append([rate(batch), rate(once), rate(per_step), f"{once / per_step:.1f}"])
    return table(["batch", "allocated once, images/s", "per step, images/s", "ratio"], rows)


def report_001(stage01, stage02):
    data = pathlib.Path(os.environ.get("STAGEWISE_DATA_DIR", HERE.parent / "datasets"))
    models = sorted(data.rglob("model.hdf5"))
    if not models:
        return None
    evaluation = ["evaluate", "--model", "cnn", "--load", models[0], "--dataset", "mnist"]
    accuracy = report_of([stage02, *evaluation, "--batch-size", 1000])["test_accuracy"]
    text = f"Accuracy on the 10,000 test images: {accuracy}.\n\n"
    rows = []
    for batch in (2, 10, 100, 1000, 10000):
        times = []
        for program in (stage01, stage02):
            limit = batch if program == stage01 and batch > 100 else 10000
            report = report_of([program, *evaluation, "--batch-size", batch, "--latency",
                                "--test-limit", limit])
            times.append(report["latency"][0]["median_seconds"])
        serial, naive = times
        rows.append([rate(batch), f"{1e3 * serial:,.3f}", f"{1e3 * naive:,.3f}",
                     f"{serial / naive:.1f}"])
    return text + table(["images at once", "stage 01, ms", "stage 02, ms", "ratio"], rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=HERE.parent / "build/cuda/bin",
                        help="folder with the programs [build/cuda/bin]")
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "results/stage02.md",
                        help="where to write [benchmarks/results/stage02.md]")
    options = parser.parse_args()
    stage01 = options.programs / "stage01_serial"
    stage02 = options.programs / "stage02_naive_cuda"
    if not stage02.is_file():
        sys.exit(f"There is no {stage02}; build it with ./run.sh bench --preset cuda.")

    info = output_of([stage02, "info"])
    device = re.search(r"^runs on +(.*)$", info, re.MULTILINE).group(1)
    libraries = re.findall(r"^library +(.*)$", info, re.MULTILINE)
    driver = output_of(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    processor = re.search(r"^model name\s*: (.*)$", cpuinfo, re.MULTILINE).group(1)

    text = f"""# Stage 02: naive CUDA

Written by `python3 benchmarks/measure_stage02.py`; see there for how it measures.

- {device}
- driver {driver.split()[0]}, {'; '.join(libraries)}
- host: {processor}; stage 01 runs on one core of it
- date: {datetime.date.today()}

## Training 784-256-10 in float

`stage02_naive_cuda train --dataset digits --hidden 256 --batch-size B` and the same with
`stage01_serial --gemm FORM` or `ladder blocked`, images/s; in brackets, how many times as fast stage 02 is:

{against_stage01(stage01, options.programs / "ladder", stage02)}
## The size of the blocks

`bench_naive_cuda`, time and GFLOP/s of a product for square blocks of threads:

{block_sizes(options.programs)}
{training_by_block_size(stage02)}
## Allocating once, or per step

`stage02_naive_cuda train ...` and `per_step_memory train ...`:

{memory(stage02, options.programs / "per_step_memory")}"""
    batches = report_001(stage01, stage02)
    if batches is not None:
        text += f"""
## Report 001's network, forward

`evaluate --load model.hdf5 --model cnn --dataset mnist --batch-size B --latency`: median time from
images on the host to classes on the host.

{batches}"""
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(text, encoding="utf-8")
    print(f"Wrote {options.output}")


main()
