#!/usr/bin/env python3
"""What Nsight Compute counts on every rung of the ladders, and on the kernels of a training.

    ./run.sh build --preset cuda              builds everything
    python3 benchmarks/measure_counters.py    writes benchmarks/results/counters.md

Each rung runs by itself below ncu, once and without timing, at the size of its section. Counters
take several passes over a kernel; between them, ncu restores the memory and empties the caches, so
that its times are longer than those of the ladder itself, and the GPU keeps its own clock rate. A
rung of several launches counts with the longest; `launches` says how many there were, and `time` is
that of all.

The last three sections are report 000's table 3 with today's counters: its network, 784-1000-10
with sigmoid in double, runs for three steps of 800 images and an evaluation of 800 more. A kernel's
row has the average of its launches, its share of the time of all of them, and the counters of its
longest launch; kernels with a share below 0.1 % are left out.

A rung that fails or takes too long becomes a line below its table. Without ncu, or without the right
to read the counters, the file says so. Counters that this version of ncu or this GPU does not have
stay empty.
"""

import collections
import csv
import functools
import re
import shlex

import measuring
from measuring import NOTHING, PRECISIONS, REPORT_000, Failed, duration, own_name, run, shown, table

LIMIT = 60  # seconds, of a rung
STEPS, BATCH, MIN_SHARE = 3, 800, 0.001

TIME = "gpu__time_duration.sum"
SECTORS = ["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
           "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"]
CONFLICTS = ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
             "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"]
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
PIPES = {name: f"sm__pipe_{unit}_cycles_active.avg.pct_of_peak_sustained_active"  # by the name in the table
         for name, unit in (("FMA", "fma"), ("FP64", "fp64"), ("DMMA", "tensor_op_dmma"), ("tensor", "tensor_op_hmma"),
                            ("ALU", "alu"))}
METRICS = [TIME, *SECTORS, *CONFLICTS, OCCUPANCY, DRAM, *PIPES.values()]
COUNTERS = ["sectors a load", "a store", "conflicts, loads", "stores", "occupancy", "busiest pipe", "DRAM"]
SECONDS_OF = {"ns": 1e-9, "nsecond": 1e-9, "us": 1e-6, "usecond": 1e-6, "ms": 1e-3,
              "msecond": 1e-3, "s": 1.0, "second": 1.0}
CONVOLUTION_KERNELS = "convolution_kernel|im2col|col2im|_gradient|Window|Taps"

# Why nothing can be counted on this machine.
OBSTACLES = {
    "ERR_NVGPUCTRPERM": "this user may not read the GPU's counters: it takes root, or the driver's "
                        "option `NVreg_RestrictProfilingToAdminUsers=0`",
    "driver resource was unavailable": "another profiler is using the GPU's counters",
    "No CUDA driver": "there is no GPU's driver",
}


def launches_of(output):
    """[(kernel, {metric: value})], a launch each, from what `ncu --csv` printed. Times are in
    seconds. What the program itself has printed, and ncu's own remarks, are between the lines."""
    lines = output.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), len(lines))
    launches = {}
    for row in csv.DictReader(line for line in lines[first:] if line.startswith('"')):
        metric = row.get("Metric Name")
        value = measuring.number(row.get("Metric Value") or "")
        if not metric or not row["ID"].isdigit():
            continue
        _, counters = launches.setdefault(row["ID"], (row["Kernel Name"], {}))
        if value is not None and metric == TIME:
            value *= SECONDS_OF[row["Metric Unit"]]
        counters[metric] = value
    return list(launches.values())


def cells(counters):
    """Those of COUNTERS."""
    busy = max(((counters[metric], name) for name, metric in PIPES.items() if counters.get(metric) is not None),
               default=None)
    return [*(shown(counters.get(metric), ".1f") for metric in SECTORS),
            *(shown(counters.get(metric), ",.0f") for metric in CONFLICTS),
            percent(counters.get(OCCUPANCY)), f"{busy[1]} {busy[0]:.0f} %" if busy else NOTHING,
            percent(counters.get(DRAM))]


def percent(value):
    return NOTHING if value is None else f"{value:.0f} %"


def row_of(rung, launches):
    """A line of a ladder's table."""
    times = [counters[TIME] for _, counters in launches if counters.get(TIME) is not None]
    kernel, counters = max(launches, key=lambda launch: launch[1].get(TIME) or 0)
    return [f"`{rung}`", f"`{own_name(kernel)}`", len(launches), duration(sum(times) if times else None),
            *cells(counters)]


def rows_of(launches):
    """A line for each kernel of a training, the one with the longest average first."""
    kernels = collections.defaultdict(list)
    for kernel, counters in launches:
        if counters.get(TIME) is not None:
            kernels[own_name(kernel)].append(counters)
    total = sum(counters[TIME] for all_of in kernels.values() for counters in all_of)
    rows = []
    for name, all_of in kernels.items():
        seconds = sum(counters[TIME] for counters in all_of)
        if seconds >= MIN_SHARE * total:
            longest = max(all_of, key=lambda counters: counters[TIME])
            rows.append((seconds / len(all_of), [f"`{name}`", len(all_of), duration(seconds / len(all_of)),
                                                 f"{seconds / total:.1%}", *cells(longest)]))
    return [row for _, row in sorted(rows, key=lambda entry: -entry[0])]


class Bench(measuring.Bench):
    @functools.cached_property
    def metrics(self):
        """Those that ncu lists for this GPU; it refuses to count the others. If it lists none, all."""
        try:
            listed = set(re.findall(r"^\s*(\w+__\w+)", run(["ncu", "--query-metrics"]), re.MULTILINE))
        except Failed:
            listed = set()
        return [metric for metric in METRICS if metric.split(".")[0] in listed] or METRICS

    def launches(self, command, kernels="stagewise::"):
        """What the launches of a command count. The libraries that a ladder compares with have kernels of other
        names."""
        words = ["ncu", "--csv", "--print-units", "base", "--clock-control", "none", "--kernel-name-base", "demangled",
                 "--kernel-name", f"regex:{kernels}", "--metrics", ",".join(self.metrics), *command]
        try:
            output = run(words, limit=self.limit(LIMIT),
                         name=shlex.join(["ncu", "...", command[0].name, *map(str, command[1:])]))
            failure = None
        except Failed as failed:
            output, failure = failed.output, failed
        for sign, why in OBSTACLES.items():
            if sign in output:  # the program itself may have run through
                raise Failed(why)
        if failure:
            reason = re.search(r"^==ERROR== (.*)$", output, re.MULTILINE)
            raise Failed(f"{failure}" + (f" ({reason.group(1)})" if reason else ""))
        found = launches_of(output)
        if not found:
            raise Failed(f"ncu saw no kernel of `{shlex.join(map(str, command[1:]))}`")
        return found


def rungs_of(bench, ladder):
    """What the program's help lists."""
    text = bench.run([*bench.words("ladder"), ladder, "--help"])
    found = re.search(r"^ *--rung NAME +((?:.|\n)*?)\[all\]", text, re.MULTILINE)
    names = [name.strip() for name in " ".join(found.group(1).split()).split(",")]
    return [name for name in names if name not in ("", "all")]


def counted(bench, rows_and_commands, kernels="stagewise::"):
    """A ladder's table: [(rung, its command)]."""
    rows = []
    for rung, command in rows_and_commands:
        launches = bench.attempt(bench.launches, command, kernels)
        if launches:
            rows.append(row_of(rung, launches))
    return table(["rung", "kernel", "launches", "time", *COUNTERS], rows)


def ladder(name, *sizes, precision):
    def section(bench):
        command = [*bench.words("ladder"), name, *sizes, "--repetitions", 0, "--precision", precision, "--rung"]
        return counted(bench, [(rung, [*command, rung]) for rung in rungs_of(bench, name)])

    return section


def convolutions(precision):
    def section(bench):
        words = ["train", "--model", "cnn", "--dataset", "digits", "--train-limit", 100, "--test-limit", 10,
                 "--batch-size", 100, "--epochs", 1, "--precision", precision, "--convolution"]
        return counted(bench, [(form, [*bench.words(program), *words, form]) for form, program in
                               (("direct", "stage03"), ("implicit", "stage03"), ("im2col", "ladder rungs"))],
                       CONVOLUTION_KERNELS)

    return section


def training(program, *more):
    def section(bench):
        words = ["train", "--dataset", "digits", *REPORT_000, "--precision", "double", "--batch-size", BATCH,
                 "--train-limit", STEPS * BATCH, "--test-limit", BATCH, "--epochs", 1, *more]
        return table(["kernel", "launches", "average", "of all", *COUNTERS],
                     rows_of(bench.launches([*bench.words(program), *words])))

    return section


LADDERS = [("Products: 800 x 1000 x 784", ("gemm", "--m", 800, "--n", 1000, "--k", 784)),
           ("The sum of 16,777,216 numbers", ("reduce", "--n", 2**24)),
           ("The column sums of [10000, 784]", ("reduce", "--m", 10000, "--n", 784)),
           ("Transposes of [4096, 4096]", ("transpose", "--m", 4096, "--n", 4096))]
SECTIONS = [*((f"{title}, {precision}", ladder(*words, precision=precision))
              for title, words in LADDERS for precision in PRECISIONS),
            *((f"Convolutions: a step of report 001's network, 100 images, {precision}", convolutions(precision))
              for precision in PRECISIONS),
            ("Stage 02", training("stage02")), ("Stage 03", training("stage03")),
            ("Stage 04", training("stage04", "--capture", "off"))]
NOTE = """
Counters of the longest launch of a rung or kernel: 32-byte sectors for each request of a warp to global
memory (4 are the least for 32 neighbouring floats, 8 for doubles, 16 for vectors of 16 bytes; 32
the worst), bank conflicts in shared memory, warps that were resident of those that could be, the
pipe that was busiest, and the memory's throughput.
"""

if __name__ == "__main__":
    measuring.main(__doc__, "Stage 03's ladders and kernels of a training in Nsight Compute", SECTIONS, Bench,
                   note=NOTE, budget=540)
