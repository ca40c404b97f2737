#!/usr/bin/env python3
"""Counters of CUDA on the CPU beside those of Nsight Compute, as a table.

    for rung in naive tile-16 ...; do
        STAGEWISE_CPU_MULTIPROCESSORS=132 build/cpu/bin/observed/ladder gemm --m 800 --n 1000 --k 784 \\
            --precision float --rung $rung --report float-$rung.json
    done
    STAGEWISE_CPU_OBSERVE=counters STAGEWISE_CPU_COUNTERS=stage02.csv build/cpu/bin/observed/stage02_naive_cuda \\
        train --dataset digits --hidden 1000 --activation sigmoid --precision double --batch-size 800 \\
        --train-limit 800 --test-limit 800 --epochs 1
    python3 benchmarks/compare_counters.py *.json --stage stage02.csv

Plans of tiles depend on the number of multiprocessors, so it has to be that of the GPU. The other side is what
measure_counters.py and measure_kernels.py have written to benchmarks/results on a GPU.
"""

import argparse
import collections
import csv
import json
import sys
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"
HEAD = ["sectors a load", "Nsight", "sectors a store", "Nsight", "conflicts", "Nsight"]


def table_of(path, section):
    """The rows of a section's table, as dictionaries by heading; the first column is called name."""
    rows, heads, inside = [], None, False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            inside = line == f"## {section}"
        elif inside and line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if heads is None:
                heads = ["name", *cells[1:]]
            elif not cells[0].startswith("---"):
                rows.append(dict(zip(heads, cells)))
    return rows


def number(text):
    """Of "1,234.5"; None of anything else."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def shown(average):
    return "-" if average is None else f"{average:.1f}"


def close(ours, theirs):
    """Whether two averages are the same but for rounding, within 5 %, or neither."""
    if ours is None or theirs is None:
        return ""
    if abs(ours - theirs) <= 0.051:
        return "same"
    return "within 5 %" if abs(ours - theirs) <= 0.05 * theirs else "differs"


def rows_of(ours, theirs):
    """A line for each kernel that both have; `ours` is {name: (load, store, conflicts)}."""
    lines = []
    for row in theirs:
        name = row["name"].strip("`")
        if name not in ours:
            continue
        load, store, conflicts = ours[name]
        their_load, their_store = number(row["sectors a load"]), number(row["a store"])
        their_conflicts = (number(row["conflicts, loads"]) or 0) + (number(row["stores"]) or 0)
        verdicts = {close(load, their_load), close(store, their_store)} - {""}
        verdict = next((one for one in ("differs", "within 5 %", "same") if one in verdicts), "-")
        lines.append(f"| `{name}` | {load:.1f} | {shown(their_load)} | {store:.1f} | {shown(their_store)} | "
                     f"{conflicts:,.0f} | {their_conflicts:,.0f} | {verdict} |")
    return lines


def section_of(report):
    """What measure_counters.py calls the ladder of a report."""
    m, n, k = (report.get(size) for size in "mnk")
    title = {"gemm": f"Products: {m} x {n} x {k}", "transpose": f"Transposes of [{m}, {n}]",
             "reduce": f"The column sums of [{m}, {n}]" if m else f"The sum of {n:,} numbers"}[report["ladder"]]
    return f"{title}, {report['precision']}"


def ladder_counters(paths):
    """{section: {rung: counters}} of the reports of ladders."""
    found = collections.defaultdict(dict)
    for path in paths:
        report = json.loads(Path(path).read_text(encoding="utf-8"))
        for row in (row for table in report["tables"] for row in table["rows"] if "counters" in row):
            counters = row["counters"]
            found[section_of(report)][row["name"]] = (ratio(counters["load_sectors"], counters["loads"]),
                                                      ratio(counters["store_sectors"], counters["stores"]),
                                                      counters["bank_conflicts"])
    return found


def ratio(sectors, requests):
    return sectors / requests if requests else 0


def kernel_name(text):
    """"gemm_kernel" of "stagewise::naive_cuda::gemm_kernel<double>"."""
    return text.split("<")[0].split("(")[0].split("::")[-1].split(" ")[-1]


def stage_counters(path, theirs):
    """{kernel: counters} of the launches that a program has written.

    Which launch of a kernel takes longest on a GPU is not known here, so of each kernel it is the one that is nearest.
    """
    launches, last = collections.defaultdict(list), None
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = (row["kernel"], row["blocks"], row["threads"])
            all_of = launches[kernel_name(row["kernel"])]
            if key != last or row["accesses"] in all_of[-1]:
                all_of.append({})
                last = key
            all_of[-1][row["accesses"]] = row

    def counters(launch):
        def average(kind):
            row = launch.get(kind, {"sectors": 0, "requests": 0})
            return ratio(int(row["sectors"]), int(row["requests"]))
        return (average("global loads"), average("global stores"),
                sum(int(row["conflicts"]) for row in launch.values()))

    found = {}
    for row in theirs:
        name = row["name"].strip("`")
        wanted = [number(row["sectors a load"]) or 0, number(row["a store"]) or 0]
        if name in launches:
            found[name] = min(map(counters, launches[name]),
                              key=lambda one: sum(abs(ours - its) for ours, its in zip(one, wanted)))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="*", metavar="REPORT", help="of the observed ladder")
    parser.add_argument("--stage", metavar="CSV", help="of stage 02, as above")
    parser.add_argument("--nsight", nargs="*", type=Path, metavar="FILE",
                        default=[RESULTS / "h200_gemm_counters.md", RESULTS / "h200_sum_counters.md"],
                        help="what measure_counters.py has written [that of benchmarks/results]")
    options = parser.parse_args()
    head = ["| kernel | " + " | ".join(HEAD) + " | sectors |", "| --- |" + " ---: |" * len(HEAD) + " --- |"]
    for section, ours in ladder_counters(options.reports).items():
        theirs = [row for path in options.nsight for row in table_of(path, section)]
        print(f"## {section}\n")
        print("\n".join([*head, *rows_of(ours, theirs)]) + "\n")
    if options.stage:
        print("## Stage 02, a training step of 784-1000-10, sigmoid, double, 800 images\n")
        theirs = table_of(RESULTS / "h200_kernels.md", "Stage 02")
        print("\n".join([*head, *rows_of(stage_counters(options.stage, theirs), theirs)]))


if __name__ == "__main__":
    sys.exit(main())
