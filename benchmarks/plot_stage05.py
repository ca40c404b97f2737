#!/usr/bin/env python3
"""Draws what runs when on two ranks, from a results file that measure_stage05.py wrote.

    python3 benchmarks/plot_stage05.py --results FILE      docs/figures/mpi_timelines.svg
    python3 benchmarks/plot_stage05.py --results FILE --folder FOLDER

Takes Matplotlib. The section is "What runs when on two ranks".
"""

import argparse
import pathlib
import sys

from plot_stage04 import timelines
from plotting import table_of

HERE = pathlib.Path(__file__).resolve().parent
LANES = {"0": "rank 0", "1": "its sums", "2": "rank 1", "3": "its sums"}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results/stage05.md")
    parser.add_argument("--folder", type=pathlib.Path, default=HERE.parent / "docs/figures")
    options = parser.parse_args()
    try:
        rows = table_of(options.results, "What runs when on two ranks")[1:]
    except OSError as error:
        sys.exit(f"plot_stage05.py: {error.filename}: {error.strerror}.")
    if not rows:
        sys.exit(f"plot_stage05.py: {options.results} has no table of what runs when.")
    timelines(rows, options.folder / "mpi_timelines.svg", LANES)


if __name__ == "__main__":
    main()
