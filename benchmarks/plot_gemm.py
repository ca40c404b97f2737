#!/usr/bin/env python3
"""Draws the figures of the page on the GEMM ladder from a results file that measure_gemm.py wrote.

    python3 benchmarks/plot_gemm.py                    the figures in docs/figures/, from the H200's
    python3 benchmarks/plot_gemm.py --results FILE --folder FOLDER

Takes Matplotlib. The bars are the rates of the rungs, from the section "Every rung", but for those
beside the ladder. The roofline sets them against the bytes that a rung's loads ask for, as its page
counts them ("The napkin math in one table"); a point above the roof gets bytes from the caches.
"""

import argparse
import pathlib
import re
import sys

from plotting import AMBER, INK, MUTED, TEAL, pyplot, save, style, table_of

HERE = pathlib.Path(__file__).resolve().parent
OPERATIONS = 2 * 800 * 1000 * 784
PEAK = 66.9e12  # of an H200 in float, and in double on tensor cores: operations per second
MEMORY = 4.8e12  # bytes per second
COLORS = {"float": TEAL, "double": AMBER}
UNITS = {"us": 1e-6, "ms": 1e-3}
BESIDE = ("dot-", "tile-4", "tile-8", "tile-32", "conflicts", "padded")  # begin with one of these
MEGABYTES = {"naive": 5018, "tile-16": 314, "register-column": 59, "register-tile": 78,
             "vector-loads": 59, "double-buffering": 59, "async-copies": 59, "fitted-tiles": 65}
NUDGED = {"tile-16": (-6, 8), "register-tile": (-64, -4), "double-buffering": (6, -9),
          "async-copies": (6, 0)}  # labels that would lie upon others, in points


def seconds_of(text):
    """Of "35.4 us"; None for an empty cell."""
    found = re.fullmatch(r"([\d.,]+) (us|ms)", text)
    return float(found[1].replace(",", "")) * UNITS[found[2]] if found else None


def rungs_of(path):
    """{rung: {"float": seconds, "double": seconds}}, in the ladder's order."""
    rungs = {}
    for cells in table_of(path, "Every rung")[1:]:
        times = {"float": seconds_of(cells[1]), "double": seconds_of(cells[3])}
        rungs[cells[0]] = {precision: time for precision, time in times.items() if time}
    return rungs


def bars(rungs, path):
    """A bar for each rung and precision, and cuBLAS as lines."""
    names = [name for name in rungs if name != "cuBLAS" and not name.startswith(BESIDE)]
    figure, axes = pyplot.subplots(figsize=(8, 5.2))
    for offset, (precision, color) in zip((-0.2, 0.2), COLORS.items()):
        present = [i for i, name in enumerate(names) if precision in rungs[name]]
        rates = [OPERATIONS / rungs[names[i]][precision] / 1e12 for i in present]
        axes.barh([i + offset for i in present], rates, 0.38, color=color, label=precision)
        axes.axvline(OPERATIONS / rungs["cuBLAS"][precision] / 1e12, color=color, linestyle="--",
                     linewidth=1, label=f"cuBLAS, {precision}")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("TFLOP/s, 800 x 1000 x 784 on an H200 (peak without rounding: 66.9)")
    style(axes)
    axes.legend(frameon=False, labelcolor=INK)
    save(figure, path)


def roofline(rungs, path):
    """Rates in float over operations for each byte that is asked for."""
    figure, axes = pyplot.subplots(figsize=(8, 5))
    edge = PEAK / MEMORY
    axes.loglog([0.1, edge, 1000], [0.1 * MEMORY / 1e12, PEAK / 1e12, PEAK / 1e12], color=MUTED)
    axes.text(0.25, 0.8, "4.8 TB/s", color=MUTED)
    axes.text(150, 1.1 * PEAK / 1e12, "66.9 TFLOP/s", color=MUTED)
    for name, megabytes in MEGABYTES.items():
        intensity = OPERATIONS / (megabytes * 1e6)
        rate = OPERATIONS / rungs[name]["float"] / 1e12
        axes.plot(intensity, rate, "o", color=COLORS["float"])
        axes.annotate(name, (intensity, rate), NUDGED.get(name, (6, -4)), color=MUTED, fontsize=9,
                      textcoords="offset points")
    axes.set_xlabel("operations per byte asked for")
    axes.set_ylabel("TFLOP/s, float")
    axes.set_ylim(0.4, 120)
    style(axes)
    save(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results/h200_gemm.md")
    parser.add_argument("--folder", type=pathlib.Path, default=HERE.parent / "docs/figures")
    options = parser.parse_args()
    try:
        rungs = rungs_of(options.results)
        if "cuBLAS" not in rungs:
            sys.exit(f"plot_gemm.py: {options.results} has no section \"Every rung\" with cuBLAS.")
        bars(rungs, options.folder / "gemm_speed.svg")
        roofline(rungs, options.folder / "gemm_roofline.svg")
    except OSError as error:
        sys.exit(f"plot_gemm.py: {error.filename}: {error.strerror}.")


if __name__ == "__main__":
    main()
