#!/usr/bin/env python3
"""What Nsight Compute counts on every rung of stage 03's ladders, as a table.

    ./run.sh bench --preset cuda              builds everything (and runs the benchmarks once)
    python3 benchmarks/measure_counters.py    writes benchmarks/results/counters.md

    python3 benchmarks/measure_counters.py --ladders reduce,transpose --precisions float

Each rung runs by itself below ncu, once and without timing, at the size of its ladder's section.
Counters take several passes over a kernel; between them, ncu restores the memory and empties the
caches, so that its times are longer than those of the ladder itself, and the GPU keeps its own clock
rate. A rung of several launches counts with the longest; `launches` says how many there were, and
`time` is that of all.

The file is written anew after every rung: what has been counted stays, whatever happens to the
rest. A rung that fails or takes too long becomes a line below its table. Without ncu, or without
the right to read the counters, the file says so. Counters that this version of ncu or this GPU does
not have stay empty.
"""

import argparse
import collections
import csv
import pathlib
import re
import shlex
import shutil
import sys
import time

from measuring import HERE, ROOT, Failed, heading, run, table

LIMIT = 60  # seconds, of a rung
PRECISIONS = ["float", "double"]
NOTHING = "-"

TIME = "gpu__time_duration.sum"
SECTORS = ["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
           "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"]
CONFLICTS = ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
             "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"]
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
PIPES = {  # by the name in the table; the busiest one is shown
    "FMA": "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
    "FP64": "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active",
    "DMMA": "sm__pipe_tensor_op_dmma_cycles_active.avg.pct_of_peak_sustained_active",
    "tensor": "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
    "ALU": "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active",
}
METRICS = [TIME, *SECTORS, *CONFLICTS, OCCUPANCY, DRAM, *PIPES.values()]
HEAD = ["rung", "kernel", "launches", "time", "sectors a load", "a store", "conflicts, loads",
        "stores", "occupancy", "busiest pipe", "DRAM"]
SECONDS_OF = {"ns": 1e-9, "nsecond": 1e-9, "us": 1e-6, "usecond": 1e-6, "ms": 1e-3,
              "msecond": 1e-3, "s": 1.0, "second": 1.0}

# Why nothing more can be counted on this machine.
OBSTACLES = {
    "ERR_NVGPUCTRPERM": "this user may not read the GPU's counters: it takes root, or the driver's "
                        "option `NVreg_RestrictProfilingToAdminUsers=0`",
    "driver resource was unavailable": "another profiler is using the GPU's counters",
    "No CUDA driver": "there is no GPU's driver",
}


class Blocked(Exception):
    """Nothing can be counted on this machine; says why."""


# What ncu prints


def number(text):
    """`12,345.67` as ncu prints it, or None: `n/a`, or nothing."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def launches_of(output):
    """[(kernel, {metric: value})], a launch each, from what `ncu --csv` printed. Times are in
    seconds. What the program itself has printed, and ncu's own remarks, are between the lines."""
    lines = output.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), None)
    if first is None:
        return []
    launches = collections.OrderedDict()
    for row in csv.DictReader(line for line in lines[first:] if line.startswith('"')):
        metric = row.get("Metric Name")
        value = number(row.get("Metric Value") or "")
        if not metric or not row["ID"].isdigit():
            continue
        _, counters = launches.setdefault(row["ID"], (row["Kernel Name"], {}))
        if value is not None and metric == TIME:
            value *= SECONDS_OF[row["Metric Unit"]]
        counters[metric] = value
    return list(launches.values())


def obstacle(output):
    """Why nothing can be counted at all, or nothing."""
    return next((why for sign, why in OBSTACLES.items() if sign in output), "")


# Rows


def shown(value, form):
    return NOTHING if value is None else format(value, form)


def shown_time(seconds):
    if seconds is None:
        return NOTHING
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def percent(value):
    return NOTHING if value is None else f"{value:.0f} %"


def busiest_pipe(counters):
    known = [(counters[metric], name) for name, metric in PIPES.items()
             if counters.get(metric) is not None]
    return f"{max(known)[1]} {max(known)[0]:.0f} %" if known else NOTHING


def name_of(kernel):
    """A kernel's own name, without namespace, arguments and parameters."""
    named = re.sub(r"\(anonymous namespace\)::|<unnamed>::", "", kernel)
    own = re.sub(r"<.*|\(.*", "", named)
    return own.split("::")[-1].split()[-1]


def row_of(rung, launches):
    """A line of the table."""
    times = [counters.get(TIME) for _, counters in launches]
    known = [seconds for seconds in times if seconds is not None]
    kernel, counters = max(launches, key=lambda launch: launch[1].get(TIME) or 0)
    return [f"`{rung}`", f"`{name_of(kernel)}`", len(launches), shown_time(sum(known) if known else None),
            *(shown(counters.get(metric), ".1f") for metric in SECTORS),
            *(shown(counters.get(metric), ",.0f") for metric in CONFLICTS),
            percent(counters.get(OCCUPANCY)), busiest_pipe(counters), percent(counters.get(DRAM))]


# The ladders


class Section:
    """A ladder at a size: what its rungs are, and the command that runs one of them."""

    def __init__(self, ladder, title, words, rung_option="--rung", rungs=None):
        self.ladder = ladder
        self.title = title
        self._words = words
        self._rung_option = rung_option
        self._rungs = rungs

    def rungs(self, programs):
        """What the program's help lists."""
        if self._rungs:
            return self._rungs
        text = run([programs / "ladder", self.ladder, "--help"])
        found = re.search(r"^ *--rung NAME +((?:.|\n)*?)\[all\]", text, re.MULTILINE)
        if not found:
            raise Failed(f"`ladder {self.ladder} --help` names no rungs")
        names = [name.strip() for name in " ".join(found.group(1).split()).split(",")]
        return [name for name in names if name not in ("", "all")]

    def command(self, programs, precision, rung):
        program, *words = self._words
        return [programs / program, *words, "--precision", precision, self._rung_option, rung]


ONE_TRAINING_STEP = ["--model", "cnn", "--dataset", "digits", "--train-limit", 100, "--test-limit",
                     10, "--batch-size", 100, "--epochs", 1]
SECTIONS = [
    Section("gemm", "Products: 800 x 1000 x 784",
            ["ladder", "gemm", "--m", 800, "--n", 1000, "--k", 784, "--repetitions", 0]),
    Section("reduce", "The sum of 16,777,216 numbers",
            ["ladder", "reduce", "--n", 2**24, "--repetitions", 0]),
    Section("reduce", "The column sums of [10000, 784]",
            ["ladder", "reduce", "--m", 10000, "--n", 784, "--repetitions", 0]),
    Section("transpose", "Transposes of [4096, 4096]",
            ["ladder", "transpose", "--m", 4096, "--n", 4096, "--repetitions", 0]),
    Section("convolution", "Convolutions: a step of report 001's network, 100 images",
            ["stage03_shared_memory", "train", *ONE_TRAINING_STEP], "--convolution",
            ["direct", "implicit"]),
    Section("convolution", "The same by im2col",
            ["ladder", "rungs", "train", *ONE_TRAINING_STEP], "--convolution", ["im2col"]),
]
CONVOLUTION_KERNELS = "convolution_kernel|im2col|col2im|_gradient|Window|Taps"


class Profiler:
    """ncu, with those of the metrics that it has."""

    def __init__(self, limit):
        self._ncu = shutil.which("ncu")
        if self._ncu is None:
            raise Blocked("ncu, of Nsight Compute, is not there; it comes with the CUDA toolkit")
        self._limit = limit
        self._metrics = self._known_metrics()

    def _known_metrics(self):
        """Those that ncu lists for this GPU; it refuses to count the others. If it lists none, all."""
        try:
            listed = set(re.findall(r"^\s*(\w+__\w+)", run([self._ncu, "--query-metrics"]),
                                    re.MULTILINE))
        except Failed:
            listed = set()
        known = [metric for metric in METRICS if metric.split(".")[0] in listed]
        return known or METRICS

    def words(self, ladder):
        """The command up to the program. The libraries that the ladder compares with have kernels
        of other names."""
        kernels = CONVOLUTION_KERNELS if ladder == "convolution" else "stagewise::"
        return [self._ncu, "--csv", "--print-units", "base", "--clock-control", "none",
                "--kernel-name-base", "demangled", "--kernel-name", f"regex:{kernels}",
                "--metrics", ",".join(self._metrics)]

    def launches(self, ladder, command, limit):
        """What the launches of a command count.

        Raises Failed, or Blocked where no other command would fare better.
        """
        try:
            output = run([*self.words(ladder), *command], limit=min(limit, self._limit),
                         name=shlex.join(["ncu", "...", command[0].name, *map(str, command[1:])]))
        except Failed as failure:
            if obstacle(failure.output):
                raise Blocked(obstacle(failure.output)) from None
            reason = re.search(r"^==ERROR== (.*)$", failure.output, re.MULTILINE)
            raise Failed(f"{failure}" + (f" ({reason.group(1)})" if reason else "")) from None
        if obstacle(output):  # the program itself may have run through
            raise Blocked(obstacle(output))
        found = launches_of(output)
        if not found:
            raise Failed(f"ncu saw no kernel of `{shlex.join(map(str, command[1:]))}`")
        return found


# The file


class File:
    """The results, written anew with every row."""

    def __init__(self, path, top):
        self._path = path
        self._parts = [top]

    def add(self, text):
        """A part that stays."""
        self._parts.append(text)
        self.show("")

    def show(self, text):
        """A part that is not complete."""
        self._path.write_text("\n".join(self._parts + ([text] if text else [])), encoding="utf-8")


def counted(section, precision, profiler, options, end, file):
    """The table of a ladder in one precision, below it what went wrong. Adds it to the file."""
    rows = []
    problems = []

    def text():
        lines = "".join(f"\n- {problem}" for problem in problems)
        return (f"## {section.title}, {precision}\n\n" + (table(HEAD, rows) if rows else "")
                + (f"\nNot as planned:\n{lines}\n" if problems else ""))

    try:
        rungs = section.rungs(options.programs)
    except Failed as failure:
        rungs = []
        problems.append(f"{failure}.")
    for rung in rungs:
        left = end - time.monotonic()
        if left <= 0:
            problems.append(f"`{rung}` and what follows: the time for everything was over.")
            break
        command = section.command(options.programs, precision, rung)
        try:
            rows.append(row_of(rung, profiler.launches(section.ladder, command, left)))
        except Failed as failure:
            problems.append(f"`{rung}`: {failure}.")
        except Blocked:
            file.add(text())
            raise
        print(f"{section.title}, {precision}: {rung}", file=sys.stderr)
        file.show(text())
    file.add(text())


def top_of(options):
    """Title, machine, and how to read the tables."""
    libraries = []
    try:
        info = run([options.programs / "stage03_shared_memory", "info"])
        libraries = [line for line in info.splitlines() if line.startswith("library")]
    except Failed:
        pass  # the ladder alone may have been built
    options.sections, options.quick = "", False
    return f"""# Stage 03's ladders in Nsight Compute

{heading("measure_counters.py", options, libraries)}
Counters of the longest launch of a rung: 32-byte sectors for each request of a warp to global
memory (4 are the least for 32 neighbouring floats, 8 for doubles, 16 for vectors of 16 bytes; 32
the worst), bank conflicts in shared memory, warps that were resident of those that could be, the
pipe that was busiest, and the memory's throughput.
"""


def parse_list(choices):
    def parse(text):
        words = text.split(",")
        if not all(word in choices for word in words):
            raise argparse.ArgumentTypeError(f"'{text}' is no list of {', '.join(choices)}")
        return words
    return parse


def parse_arguments(arguments):
    ladders = list(dict.fromkeys(section.ladder for section in SECTIONS))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/cuda/bin",
                        help="folder with the programs [build/cuda/bin]")
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "results/counters.md")
    parser.add_argument("--ladders", type=parse_list(ladders), default=ladders,
                        metavar="NAME,...", help=f"{', '.join(ladders)} [all]")
    parser.add_argument("--precisions", type=parse_list(PRECISIONS), default=PRECISIONS,
                        metavar="NAME,...", help="float, double [both]")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS",
                        help=f"what takes longer is stopped [{LIMIT}]")
    parser.add_argument("--budget", type=float, default=540, metavar="SECONDS",
                        help="what is not begun by then is left out [540]")
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse_arguments(arguments)
    end = time.monotonic() + options.budget
    options.output.parent.mkdir(parents=True, exist_ok=True)
    file = File(options.output, top_of(options))
    try:
        profiler = Profiler(options.limit)
        for section in SECTIONS:
            for precision in options.precisions:
                if section.ladder in options.ladders:
                    counted(section, precision, profiler, options, end, file)
    except Blocked as blocked:
        file.add(f"Not counted: {blocked}.\n")
    print(f"Wrote {options.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
