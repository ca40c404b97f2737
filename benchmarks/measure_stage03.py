#!/usr/bin/env python3
"""Sums, transposes and two reports' products on a machine with a GPU: measures, and writes the file.

    ./run.sh build --preset cuda              builds everything
    python3 benchmarks/measure_stage03.py     writes benchmarks/results/stage03.md

Without a GPU, to try the script itself (the figures mean nothing then, and the file says so):

    python3 benchmarks/measure_stage03.py --quick --programs build/cpu/bin --output FILE

The program ladder verifies each kernel, then times it: the median of 20 measurements of a CUDA
graph with many launches, the reference (cuBLAS, CUB, a copy) in the same run. The matrix products
are measure_gemm.py's, convolutions measure_cnn.py's, trainings those of measure_stage02.py and
measure_stage04.py.
"""

import re

import measuring
from measuring import (NOTHING, PRECISIONS, by, code, command_line, digits, duration, percent, ratio, seconds_of,
                       shown, table)

# Report 000, section 3.1 and table 2, on a Tesla K80: the difference to cuBLAS, and seconds by the
# side of the blocks; the last is what section 4.4 made of 16 x 16, coalesced and padded.
REPORT_000_BOUND = 4e-15
REPORT_000_RUNGS = ("tile-4", "tile-8", "tile-16", "tile-32", "padded")
REPORT_000 = {(800, 1000, 784): (1.85746e-16, (0.654227, 0.140203, 0.128672, 0.132084, 0.0652142)),
              (800, 10, 1000): (3.2505e-16, (0.009971, 0.00299, 0.002807, 0.004545, 0.00172805))}

# Report 004, table 2, on a Tesla K80: seconds for 100 epochs.
REPORT_004_SECONDS = {"interleaved": 45.18, "non-divergent": 30.79, "sequential": 27.83, "last-warp": 23.64}


class Bench(measuring.Bench):
    def size(self, *sizes):
        """With --quick, a small part of each."""
        return tuple(min(size, 20 + size % 50) for size in sizes) if self.quick else sizes


def rows_of(tables, index=0):
    """The rows of a ladder's table by their names, with its reference as the last."""
    found = tables[index]
    return {row["name"]: row for row in [*found["rows"], *filter(None, [found.get("reference")])]}


def cells(row, copy_seconds):
    """Time, GB/s, share of the reference, and of a copy's speed if there is one."""
    if "seconds" not in row:
        return [NOTHING] * (4 if copy_seconds else 3)
    speed = row["bytes"] / row["seconds"]
    found = [duration(row["seconds"]) + (" *" if row.get("picked") else ""), digits(speed / 1e9),
             percent(row.get("fraction_of_reference"))]
    return found + ([percent(speed * copy_seconds)] if copy_seconds else [])


def in_both(bench, name, *words, index=(0,), copy=None):
    """A ladder in float and double side by side: its command, its floors, its tables.

    `copy` is the shape of a reduction whose reference, a copy, its speed is compared with, too.
    """
    tables, floors, copies = {}, [], {}
    for precision in PRECISIONS:
        tables[precision], text = bench.ladder(name, *words, "--precision", precision)
        floor = re.search(r"^floor +(.*(?:\n {7}.*)*)", text, re.MULTILINE)
        floors += [f"- {precision}: at least {' '.join(floor.group(1).split())}"] if floor else []
        if copy:
            found, _ = bench.ladder("reduce", "--m", copy[0], "--n", copy[1], "--precision", precision, "--rung",
                                    "one-pass")
            row = found[0].get("reference", {})
            copies[precision] = row["seconds"] / row["bytes"] if "seconds" in row else None
    text = code(command_line(["ladder", name, *words, "--precision", "PRECISION"]))
    text += "\nBy the GPU's clocks and units:\n\n" + "\n".join(floors) + "\n" if floors else ""
    for i in index:
        rows = {precision: rows_of(found, i) for precision, found in tables.items()}
        head = ["rung"]
        for precision in PRECISIONS:
            head += [precision, "GB/s", "of the reference", *(["of a copy"] if copies.get(precision) else [])]
        names = dict.fromkeys(name for of_precision in rows.values() for name in of_precision)
        text += "\n" + table(head, [[name, *(cell for precision in PRECISIONS for cell in
                                             cells(rows[precision].get(name, {}), copies.get(precision)))]
                                    for name in names])
    return text


def report_000(bench):
    results = {}
    for size in REPORT_000:
        m, n, k = bench.size(*size)
        tables, _ = bench.ladder("gemm", "--m", m, "--n", n, "--k", k, "--precision", "double", "--alpha", 2, "--beta",
                                 5)
        results[size] = {row["name"]: row for row in tables[0]["rows"]}
    head = ["rung", *(f"{by(*size)}: to {whom}" for size in results for whom in ("cuBLAS", "stage 01"))]
    lines = [["report 000", *(cell for theirs, _ in REPORT_000.values() for cell in (f"{theirs:.2e}", NOTHING))]]
    lines += [[name, *(shown(rows.get(name, {}).get(key), ".2e") for rows in results.values()
                       for key in ("difference_from_reference", "difference"))]
              for name in dict.fromkeys(name for rows in results.values() for name in rows)]
    found = [(row["difference_from_reference"], name) for rows in results.values() for name, row in rows.items()
             if "difference_from_reference" in row]
    beyond = sorted({name for value, name in found if not value <= REPORT_000_BOUND})
    verdict = ("Nothing was compared with cuBLAS." if not found else
               f"BEYOND {REPORT_000_BOUND:g} of cuBLAS: {', '.join(beyond)}." if beyond else
               f"All {len(found)} differences to cuBLAS are within {REPORT_000_BOUND:g}; the largest is "
               f"{max(found)[0]:.1e}.")
    sides = []
    for size, (_, theirs) in REPORT_000.items():
        ours = [results[size].get(rung, {}).get("seconds") for rung in REPORT_000_RUNGS]
        sides += [[f"{by(*size)}: report 000, Tesla K80", *theirs], [f"{by(*size)}: here", *map(duration, ours)],
                  ["times as fast", *map(ratio, theirs, ours)]]
    return (f"`ladder gemm --precision double --alpha 2 --beta 5`. {verdict} Stage 01's result is OpenBLAS's. Norms of "
            f"differences, relative to the norm:\n\n{table(head, lines)}\n"
            "The size of the blocks, as in the report's table 2. Its last figure is 16 x 16 after section 4.4; the "
            "rung `padded` has 32 x 32:\n\n"
            + table(["seconds", "4 x 4", "8 x 8", "16 x 16", "32 x 32", "coalesced, padded"], sides))


def sums(bench):
    parts = []
    for n, copy in ((2**20, (1024, 1024)), (2**28, (8192, 8192))):
        (n,), copy = bench.size(n), bench.size(*copy)
        parts.append(f"### The sum of {n:,} numbers\n\nThe copy is of {by(*copy)} / 2 numbers.\n\n"
                     + in_both(bench, "reduce", "--n", n, copy=copy))
    for shape in ((1000, 256), (10000, 1000)):
        m, n = bench.size(*shape)
        parts.append(f"### The column sums of [{m}, {n}]: the gradient of a bias\n\n"
                     + in_both(bench, "reduce", "--m", m, "--n", n))
    return "\n".join(parts)


def report_004(bench):
    samples, batch, hidden = (32, 16, 4) if bench.quick else (10240, 256, 256)
    words = ["--dataset", "gaussian", "--samples", samples, "--features", 1024, "--hidden", hidden, "--activation",
             "sigmoid", "--loss", "squared-error", "--batch-size", batch]
    seconds = {}
    for name in REPORT_004_SECONDS:
        report = bench.attempt(bench.train, "ladder rungs", *words, "--gemm", f"dot-{name}", "--reduce", name)
        seconds[name] = seconds_of(report) if report else None
    rows = [[name, f"{theirs / 100:.3f} s", ratio(REPORT_004_SECONDS["interleaved"], theirs), duration(seconds[name]),
             ratio(seconds["interleaved"], seconds[name])] for name, theirs in REPORT_004_SECONDS.items()]
    command = ["ladder", "rungs", "train", *words, "--gemm", "dot-REDUCTION", "--reduce", "REDUCTION"]
    return ("A block an element, in all products, sums of columns and totals; the report does not give the width of "
            "its hidden layer nor the batch. Its table says 1.91x for the last one, its text nearly 2x.\n\n"
            + code(command_line(command)) + "\n"
            + table(["reduction", "report 004, Tesla K80, an epoch", "speed-up", "here, an epoch", "speed-up"], rows))


def transposes(bench):
    parts = []
    for shape in ((2048, 2048), (10000, 784), (16384, 16384)):
        m, n = bench.size(*shape)
        parts.append(f"### [{m}, {n}], then its column of ones, in place and out of place\n\n"
                     + in_both(bench, "transpose", "--m", m, "--n", n, index=(0, 1)))
    return "\n".join(parts)


SECTIONS = [("Report 000: alpha 2, beta 5, double", report_000),
            ("Reductions", sums),
            ("Report 004: the reductions in training", report_004),
            ("Transposes and shifts", transposes)]

if __name__ == "__main__":
    measuring.main(__doc__, "Stage 03: sums, transposes, and two reports' products", SECTIONS, Bench)
