#!/usr/bin/env python3
"""Counters of CUDA on the CPU beside those of Nsight Compute, as a table.

    for rung in naive tile-16 ...; do
        STAGEWISE_CPU_MULTIPROCESSORS=132 build/cpu/bin/instrumented/ladder gemm --m 800 --n 1000 --k 784 \\
            --precision float --rung $rung --report float-$rung.json
    done
    STAGEWISE_CPU_OBSERVE=counters STAGEWISE_CPU_COUNTERS=stage02.csv build/cpu/bin/instrumented/stage02_naive_cuda \\
        train --dataset digits --hidden 1000 --activation sigmoid --precision double --batch-size 800 \\
        --train-limit 800 --test-limit 800 --epochs 1
    python3 benchmarks/compare_counters.py *.json --stage stage02.csv

Plans of tiles depend on the number of multiprocessors, so it has to be that of the GPU. The other side is what
measure_counters.py has written to benchmarks/results on a GPU.
"""

import argparse
import collections
import csv
import json
from pathlib import Path

from measuring import NOTHING, number, own_name, shown, table, table_of

RESULTS = Path(__file__).resolve().parent / "results"
HEAD = ["kernel", "sectors a load", "Nsight", "sectors a store", "Nsight", "conflicts", "Nsight", "sectors"]


def close(ours, theirs):
    """Whether two averages are the same but for rounding, within 5 %, or neither."""
    if theirs is None:
        return ""
    if abs(ours - theirs) <= 0.051:
        return "same"
    return "within 5 %" if abs(ours - theirs) <= 0.05 * theirs else "differs"


def compared(ours, theirs):
    """A table with a line for each kernel that both have; `ours` is {name: (load, store, conflicts)}."""
    rows = []
    for name, row in theirs.items():
        if name not in ours:
            continue
        load, store, conflicts = ours[name]
        their_load, their_store = number(row["sectors a load"]), number(row["a store"])
        their_conflicts = (number(row["conflicts, loads"]) or 0) + (number(row["stores"]) or 0)
        verdicts = {close(load, their_load), close(store, their_store)}
        rows.append([f"`{name}`", f"{load:.1f}", shown(their_load, ".1f"), f"{store:.1f}", shown(their_store, ".1f"),
                     f"{conflicts:,.0f}", f"{their_conflicts:,.0f}",
                     next((one for one in ("differs", "within 5 %", "same") if one in verdicts), NOTHING)])
    return table(HEAD, rows)


def nsight(paths, section):
    """{name: {heading: cell}} of a section in the first of these files that has it."""
    for head, *rows in filter(None, (table_of(path, section) for path in paths)):
        return {row[0]: dict(zip(head, row)) for row in rows}
    return {}


def section_of(report):
    """What measure_counters.py calls the ladder of a report."""
    m, n, k = (report.get(size) for size in "mnk")
    title = {"gemm": f"Products: {m} x {n} x {k}", "transpose": f"Transposes of [{m}, {n}]",
             "reduce": f"The column sums of [{m}, {n}]" if m else f"The sum of {n:,} numbers"}[report["ladder"]]
    return f"{title}, {report['precision']}"


def average(sectors, requests):
    return int(sectors) / int(requests) if int(requests) else 0


def ladder_counters(paths):
    """{section: {rung: counters}} of the reports of ladders."""
    found = collections.defaultdict(dict)
    for path in paths:
        report = json.loads(Path(path).read_text(encoding="utf-8"))
        for row in (row for tables in report["tables"] for row in tables["rows"] if "counters" in row):
            counters = row["counters"]
            found[section_of(report)][row["name"]] = (average(counters["load_sectors"], counters["loads"]),
                                                      average(counters["store_sectors"], counters["stores"]),
                                                      counters["bank_conflicts"])
    return found


def stage_counters(path, theirs):
    """{kernel: counters} of the launches that a program has written.

    Which launch of a kernel takes longest on a GPU is not known here, so of each kernel it is the one that is nearest.
    """
    launches, last = collections.defaultdict(list), None
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = (row["kernel"], row["blocks"], row["threads"])
            all_of = launches[own_name(row["kernel"])]
            if key != last or row["accesses"] in all_of[-1]:
                all_of.append({})
                last = key
            all_of[-1][row["accesses"]] = row

    def counters(launch):
        averages = [average(row["sectors"], row["requests"]) if row else 0
                    for row in map(launch.get, ("global loads", "global stores"))]
        return *averages, sum(int(row["conflicts"]) for row in launch.values())

    found = {}
    for name, row in theirs.items():
        wanted = [number(row["sectors a load"]) or 0, number(row["a store"]) or 0]
        if name in launches:
            found[name] = min(map(counters, launches[name]),
                              key=lambda one: sum(abs(ours - its) for ours, its in zip(one, wanted)))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="*", metavar="REPORT", help="of the instrumented ladder")
    parser.add_argument("--stage", metavar="CSV", help="of stage 02, as above")
    parser.add_argument("--nsight", nargs="*", type=Path, metavar="FILE",
                        default=[RESULTS / f"h200_{name}.md" for name in ("gemm_counters", "sum_counters", "kernels")],
                        help="what measure_counters.py has written [that of benchmarks/results]")
    options = parser.parse_args()
    for section, ours in ladder_counters(options.reports).items():
        print(f"## {section}\n\n{compared(ours, nsight(options.nsight, section))}")
    if options.stage:
        theirs = nsight(options.nsight, "Stage 02")
        print("## Stage 02, a training step of 784-1000-10, sigmoid, double, 800 images\n\n"
              + compared(stage_counters(options.stage, theirs), theirs))


if __name__ == "__main__":
    main()
