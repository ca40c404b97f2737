#!/usr/bin/env python3
"""Counters of CUDA on the CPU beside those of Nsight Compute, as a table.

    build/observed/bin/ladder gemm --m 800 --n 1000 --k 784 --precision float --report float.json
    build/observed/bin/ladder gemm --m 800 --n 1000 --k 784 --precision double --report double.json
    STAGEWISE_CPU_OBSERVE=counters STAGEWISE_CPU_COUNTERS=stage02.csv build/observed/bin/stage02_naive_cuda \\
        train --dataset digits --hidden 1000 --activation sigmoid --precision double --batch-size 800 \\
        --train-limit 800 --test-limit 800 --epochs 1
    python3 benchmarks/compare_counters.py --ladder float.json double.json --stage stage02.csv

The other side is what measure_counters.py and measure_kernels.py have written to benchmarks/results on a GPU.
Of a kernel that was launched several times, the launch that asks for most is compared.
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


def ladder_counters(path):
    """{rung: counters} of a ladder's report."""
    report = json.loads(Path(path).read_text(encoding="utf-8"))
    counted = {row["name"]: row["counters"] for table in report["tables"] for row in table["rows"]
               if "counters" in row}
    return report, {name: (ratio(row["load_sectors"], row["loads"]), ratio(row["store_sectors"], row["stores"]),
                           row["bank_conflicts"]) for name, row in counted.items()}


def ratio(sectors, requests):
    return sectors / requests if requests else 0


def kernel_name(text):
    """"gemm_kernel" of "stagewise::naive_cuda::gemm_kernel<double>"."""
    return text.split("<")[0].split("(")[0].split("::")[-1].split(" ")[-1]


def stage_counters(path):
    """{kernel: counters} of the launches that a program has written; of each kernel the largest."""
    launches, last = collections.defaultdict(list), None
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = (row["kernel"], row["blocks"], row["threads"])
            all_of = launches[kernel_name(row["kernel"])]
            if key != last or row["accesses"] in all_of[-1]:
                all_of.append({})
                last = key
            all_of[-1][row["accesses"]] = row
    found = {}
    for kernel, all_of in launches.items():
        largest = max(all_of, key=lambda launch: sum(int(row["sectors"]) for row in launch.values()))

        def average(kind, of=largest):
            row = of.get(kind, {"sectors": 0, "requests": 0})
            return ratio(int(row["sectors"]), int(row["requests"]))
        found[kernel] = (average("global loads"), average("global stores"),
                         sum(int(row["conflicts"]) for row in largest.values()))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ladder", nargs="*", default=[], metavar="REPORT")
    parser.add_argument("--stage", metavar="CSV")
    options = parser.parse_args()
    head = ["| kernel | " + " | ".join(HEAD) + " | sectors |", "| --- |" + " ---: |" * len(HEAD) + " --- |"]
    for path in options.ladder:
        report, ours = ladder_counters(path)
        section = f"Products: 800 x 1000 x 784, {report['precision']}"
        print(f"## {section}\n")
        print("\n".join([*head, *rows_of(ours, table_of(RESULTS / "h200_gemm_counters.md", section))]) + "\n")
    if options.stage:
        print("## Stage 02, a training step of 784-1000-10, sigmoid, double, 800 images\n")
        theirs = table_of(RESULTS / "h200_kernels.md", "Stage 02")
        print("\n".join([*head, *rows_of(stage_counters(options.stage), theirs)]))


if __name__ == "__main__":
    sys.exit(main())
