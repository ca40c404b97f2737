#!/usr/bin/env python3
"""Where a training spends its time, kernel by kernel: report 000's table 3, with today's counters.

    ./run.sh bench --preset cuda             builds everything (and runs the benchmarks once)
    python3 benchmarks/measure_kernels.py    writes benchmarks/results/kernels.md

Report 000's network, 784-1000-10 with sigmoid in double, runs below ncu for three steps of 800
images and an evaluation of 800 more, in stages 02, 03 and 04. A kernel's row has the average of its
launches, its share of the time of all of them, and the counters of its longest launch; see
measure_counters.py for what these mean. Kernels with a share below 0.1 % are left out.
"""

import argparse
import collections
import pathlib
import sys

from measure_counters import (CONFLICTS, DRAM, LIMIT, OCCUPANCY, SECTORS, TIME, Blocked, File,
                              Profiler, busiest_pipe, name_of, percent, shown, shown_time)
from measuring import HERE, ROOT, Failed, heading, run, table

STEPS = 3
BATCH = 800
MIN_SHARE = 0.001
HEAD = ["kernel", "launches", "average", "of all", "sectors a load", "a store", "conflicts, loads",
        "stores", "occupancy", "busiest pipe", "DRAM"]
STAGES = {2: [], 3: [], 4: ["--capture", "off"]}  # and what each takes in addition


def training(program, more):
    """The command of a training of report 000's network."""
    return [program, "train", "--dataset", "digits", "--hidden", 1000, "--activation", "sigmoid",
            "--precision", "double", "--batch-size", BATCH, "--train-limit", STEPS * BATCH,
            "--test-limit", BATCH, "--epochs", 1, *more]


def rows_of(launches):
    """A line of the table for each kernel, the one with the longest average first."""
    kernels = collections.defaultdict(list)
    for kernel, counters in launches:
        if counters.get(TIME) is not None:
            kernels[name_of(kernel)].append(counters)
    total = sum(counters[TIME] for all_of in kernels.values() for counters in all_of)
    rows = []
    for name, all_of in kernels.items():
        seconds = sum(counters[TIME] for counters in all_of)
        if seconds < MIN_SHARE * total:
            continue
        longest = max(all_of, key=lambda counters: counters[TIME])
        rows.append((seconds / len(all_of), [
            f"`{name}`", len(all_of), shown_time(seconds / len(all_of)), f"{seconds / total:.1%}",
            *(shown(longest.get(metric), ".1f") for metric in SECTORS),
            *(shown(longest.get(metric), ",.0f") for metric in CONFLICTS),
            percent(longest.get(OCCUPANCY)), busiest_pipe(longest), percent(longest.get(DRAM))]))
    return [row for _, row in sorted(rows, key=lambda entry: -entry[0])]


def program_of(programs, stage):
    program = next(programs.glob(f"stage{stage:02}_*"), None)
    if program is None:
        raise Failed(f"the program of stage {stage:02} is not in {programs}")
    return program


def section(stage, profiler, options):
    """The table of a stage, or why there is none."""
    title = f"## Stage {stage:02}\n\n"
    try:
        command = training(program_of(options.programs, stage), STAGES[stage])
        rows = rows_of(profiler.launches("training", command, options.limit))
    except Failed as failure:
        return title + f"Not measured: {failure}.\n"
    return title + table(HEAD, rows)


def top_of(options):
    """Title, machine, and how to read the tables."""
    libraries = []
    try:
        info = run([program_of(options.programs, 3), "info"])
        libraries = [line for line in info.splitlines() if line.startswith("library")]
    except Failed:
        pass
    options.sections, options.quick = "", False
    return f"""# The kernels of a training in Nsight Compute

{heading("measure_kernels.py", options, libraries)}
Report 000's network, 784-1000-10, sigmoid, double: {STEPS} steps of {BATCH} images and an evaluation of
{BATCH} more, by average time of a launch, as in the report's table 3. The counters are those of a
kernel's longest launch; benchmarks/measure_counters.py says what they mean.
"""


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/cuda/bin",
                        help="folder with the programs [build/cuda/bin]")
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "results/kernels.md")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS",
                        help=f"a stage that takes longer is stopped [{LIMIT}]")
    options = parser.parse_args(arguments)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    file = File(options.output, top_of(options))
    try:
        profiler = Profiler(options.limit)
        for stage in STAGES:
            file.add(section(stage, profiler, options))
    except Blocked as blocked:
        file.add(f"Not counted: {blocked}.\n")
    print(f"Wrote {options.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
