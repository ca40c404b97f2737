#!/usr/bin/env python3
"""Draws the figures of the reports' experiments from a results file that measure_reports.py wrote.

    python3 benchmarks/plot_reports.py                 docs/figures/report_*.svg, from the H200's
    python3 benchmarks/plot_reports.py --results FILE --folder FOLDER

Takes Matplotlib. A section that the file does not have is left out.
"""

import argparse
import pathlib
import sys

from plotting import (AMBER, BLUE, INK, MUTED, RED, TEAL, VIOLET, columns_of, line, number, pyplot,
                      save, style)

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = {"stage 01": MUTED, "stage 02": AMBER, "stage 03": BLUE, "stage 04": TEAL,
            "PyTorch": RED}
TILES = {4: "#f3c58f", 8: AMBER, 16: "#bd7626", 32: "#7d4c12"}


def legend(axes, **where):
    axes.legend(frameon=False, labelcolor=INK, fontsize=9, **where)


def times(columns, what, label, path):
    """Seconds by the size of something, both logarithmic."""
    figure, axes = pyplot.subplots(figsize=(8, 4.5))
    for name, color in PROGRAMS.items():
        line(axes, columns[what], columns[f"{name}, s"], name, color)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks([number(cell) for cell in columns[what]], columns[what])
    axes.set_xlabel(label)
    axes.set_ylabel("seconds")
    style(axes)
    legend(axes)
    save(figure, path)


def latency(columns, path):
    """A bar for each program: microseconds."""
    figure, axes = pyplot.subplots(figsize=(8, 4.5))
    names = columns["program"]
    values = [number(cell) for cell in columns["us"]]
    colors = [next(color for program, color in PROGRAMS.items() if name.startswith(program))
              for name in names]
    axes.barh(range(len(names)), values, 0.7, color=colors)
    for i, (value, over) in enumerate(zip(columns["us"], columns["over sequential"])):
        axes.text(values[i], i, f" {value} us, {over}", va="center", color=INK, fontsize=9)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(right=4 * max(values))
    axes.set_xlabel("microseconds for one image, and how many times as fast as the first")
    style(axes)
    save(figure, path)


def throughput(columns, path):
    figure, axes = pyplot.subplots(figsize=(8, 5))
    batches = columns["batch"]
    for tile, color in TILES.items():
        line(axes, batches, columns[f"stage 02, {tile} x {tile}"], f"stage 02, {tile} x {tile}",
             color)
    line(axes, batches, columns["stage 03"], "stage 03", BLUE)
    line(axes, batches, columns["stage 04, streamed"], "stage 04, batches copied", TEAL,
         linestyle=":")
    line(axes, batches, columns["stage 04"], "stage 04, data on the GPU", TEAL)
    line(axes, batches, columns["PyTorch, copies"], "PyTorch, batches copied", RED, linestyle=":")
    line(axes, batches, columns["PyTorch, copies, CUDA graph"], "the same, a CUDA graph a step",
         VIOLET, linestyle=":")
    line(axes, batches, columns["PyTorch, resident, fastest"], "PyTorch, data on the GPU", RED)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([number(cell) for cell in batches], batches)
    axes.minorticks_off()
    axes.set_xlabel("batch")
    axes.set_ylabel("images a second in training")
    style(axes)
    legend(axes, loc="center left", bbox_to_anchor=(1, 0.5))
    save(figure, path)


def neuron(columns, path):
    """The curves of losses, a panel for each way of averaging."""
    figure, panels = pyplot.subplots(1, 2, figsize=(10, 4), sharey=True)
    steps = [cell for cell in columns["step"] if number(cell) is not None]
    for axes, average in zip(panels, ("gradients", "weights")):
        for workers, color in zip((2, 4, 8, 16), (AMBER, TEAL, BLUE, VIOLET)):
            line(axes, steps, columns[f"{average}, {workers} workers"][:len(steps)],
                 f"{workers} workers", color, marker="")
        axes.set_title(f"averaging {average}", fontsize=10)
        axes.set_xlabel("step")
        style(axes)
    panels[0].set_ylabel("squared error")
    legend(panels[1])
    save(figure, path)


def history(columns, path):
    """A bar for each version of the program: seconds for 40 epochs."""
    figure, axes = pyplot.subplots(figsize=(8, 4.5))
    names = columns["training"]
    values = [number(cell) for cell in columns["40 epochs, s"]]
    axes.barh(range(len(names)), values, 0.7,
              color=[RED if name.startswith("PyTorch") else TEAL for name in names])
    for i, (value, before) in enumerate(zip(columns["40 epochs, s"],
                                            columns["over the one before"])):
        text = f" {value} s" + (f", {before} the one before" if number(before) else "")
        axes.text(values[i], i, text, va="center", color=INK, fontsize=9)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(right=6 * max(values))
    axes.set_xlabel("seconds for 40 epochs of 54,000 images, 784-1000-10 in double, one GPU")
    style(axes)
    save(figure, path)


FIGURES = [("Report 004, figure 1: the dimension of the input", "report_004_inputs.svg",
            lambda columns, path: times(columns, "inputs", "inputs, 1,000 epochs", path)),
           ("Report 004, figure 2 and table 1: the size of a batch", "report_004_batch.svg",
            lambda columns, path: times(columns, "batch", "batch, 1,024 updates", path)),
           ("Report 002, figure 1: latency by tile size", "report_002_latency.svg", latency),
           ("Report 002, figures 2 and 3: throughput by tile size and batch",
            "report_002_throughput.svg", throughput),
           ("Report 003, figure 2.1: a neuron and its workers", "report_003_neuron.svg", neuron),
           ("Report 000: what each change of the program bought", "report_000_history.svg",
            history)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results/h200_reports.md")
    parser.add_argument("--folder", type=pathlib.Path, default=HERE.parent / "docs/figures")
    options = parser.parse_args()
    try:
        for title, name, draw in FIGURES:
            columns = columns_of(options.results, title)
            if columns:
                draw(columns, options.folder / name)
    except OSError as error:
        sys.exit(f"plot_reports.py: {error.filename}: {error.strerror}.")


if __name__ == "__main__":
    main()
