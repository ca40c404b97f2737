#!/usr/bin/env python3
"""Draws figures of stage 04 from a results file that measure_stage04.py wrote.

    python3 benchmarks/plot_stage04.py                 docs/figures/stage04_*.svg, from the H200's
    python3 benchmarks/plot_stage04.py --results FILE --folder FOLDER

Takes Matplotlib. The timelines are of the section "When the kernels of a step run", the bars of
"Training beside PyTorch". A section that the file does not have is left out.
"""

import argparse
import pathlib
import sys

from plotting import (AMBER, BLUE, INK, MUTED, PAPER, RED, TEAL, VIOLET, columns_of, number, pyplot,
                      save, style, table_of)

HERE = pathlib.Path(__file__).resolve().parent
UNITS = {"k": 1e3, "M": 1e6}
# What a kernel does, by words in its name; the first that fits counts.
KINDS = [("copy", "copies from and to the host", MUTED),
         ("one_shot", "sums over ranks", AMBER), ("two_shot", "sums over ranks", AMBER),
         ("NCCL", "sums over ranks", AMBER),
         ("output_layer", "last layer and loss", VIOLET), ("loss", "last layer and loss", VIOLET),
         ("softmax", "last layer and loss", VIOLET), ("argmax", "last layer and loss", VIOLET),
         ("sgd", "updates", RED), ("update", "updates", RED),
         ("gemm", "products", TEAL), ("tile", "products", TEAL), ("linear", "products", TEAL),
         ("layer", "products", TEAL),
         ("gradient", "products", TEAL), ("product", "products", TEAL),
         ("sums", "sums of columns, totals", BLUE), ("totals", "sums of columns, totals", BLUE),
         ("accumulate", "sums of columns, totals", BLUE)]
OTHER = ("bias, relu, picking rows", AMBER)


def kind_of(kernel):
    return next(((what, color) for word, what, color in KINDS if word in kernel), OTHER)


def timelines(rows, path, names=None):
    """A step of each form, one above the other, a bar for each stream; the steps repeat.

    :param names: labels of the streams, by number."""
    forms = list(dict.fromkeys(row[0] for row in rows))
    length = {row[0]: number(row[3]) for row in rows if row[1] == "the next step"}
    lanes = [(form, stream) for form in forms for stream in
             sorted({row[2] for row in rows if row[0] == form and row[4] != "-"}, key=int)]
    figure, axes = pyplot.subplots(figsize=(10, 0.45 * len(lanes) + 1.2))
    named = set()
    for form, kernel, stream, begin, end in rows:
        y = lanes.index((form, stream))
        if end == "-":
            axes.plot([number(begin)] * 2, [y - 0.45, y + 0.45], color=INK, linewidth=1.5)
            axes.text(number(begin), y, f" {number(begin):.0f} us", color=INK, va="center")
            continue
        what, color = kind_of(kernel)
        axes.barh(y, number(end) - number(begin), 0.62, number(begin), color=color,
                  edgecolor=PAPER, linewidth=0.5, label=None if what in named else what)
        named.add(what)
    labels = [(form if stream == "0" else "", (names or {}).get(stream, ""))
              for form, stream in lanes]
    axes.set_yticks(range(len(lanes)), [": ".join(filter(None, label)) for label in labels])
    axes.invert_yaxis()
    ends = [number(row[4]) for row in rows if row[4] != "-"]
    axes.set_xlim(0, max(1.1 * max(length.values()), *ends))
    axes.set_xlabel("microseconds since the beginning of a step; the line is where the next begins")
    style(axes)
    axes.legend(frameon=False, labelcolor=INK, fontsize=9, ncols=4, loc="lower center",
                bbox_to_anchor=(0.5, 1))
    save(figure, path)


def rate_of(cell):
    """Of "1.15 M"; None for an empty cell."""
    value, _, unit = cell.partition(" ")
    return number(value) * UNITS[unit] if number(value) is not None else None


def beside_pytorch(columns, path):
    """How many times as fast as PyTorch's forms, a group of bars for each network."""
    forms = {"a CUDA graph an epoch": TEAL, "a CUDA graph a step": BLUE}
    ours = [rate_of(cell) for cell in columns["stage 04"]]
    names = columns["network, batch"]
    figure, axes = pyplot.subplots(figsize=(8, 0.5 * len(names) + 1.2))
    for offset, (form, color) in zip((-0.2, 0.2), forms.items()):
        for i, cell in enumerate(columns[form]):
            theirs = rate_of(cell)
            if theirs is None:
                continue
            axes.barh(i + offset, ours[i] / theirs, 0.38, color=color,
                      label=f"PyTorch, {form}" if i == 0 else None)
            axes.text(ours[i] / theirs, i + offset, f" {ours[i] / theirs:.2f}", va="center",
                      color=INK, fontsize=9)
    axes.axvline(1, color=MUTED, linestyle="--", linewidth=1)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("how many times as fast stage 04 trains")
    style(axes)
    axes.legend(frameon=False, labelcolor=INK, fontsize=9)
    save(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path,
                        default=HERE / "results/h200_stage04_pytorch.md")
    parser.add_argument("--folder", type=pathlib.Path, default=HERE.parent / "docs/figures")
    options = parser.parse_args()
    try:
        rows = table_of(options.results, "When the kernels of a step run")[1:]
        if rows:
            timelines(rows, options.folder / "stage04_timelines.svg")
        columns = columns_of(options.results, "Training beside PyTorch, images a second")
        if any(map(rate_of, columns.get("a CUDA graph a step", []))):
            beside_pytorch(columns, options.folder / "stage04_pytorch.svg")
    except OSError as error:
        sys.exit(f"plot_stage04.py: {error.filename}: {error.strerror}.")


if __name__ == "__main__":
    main()
