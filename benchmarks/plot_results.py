#!/usr/bin/env python3
"""Draws the figures of the pages from results files that measure_*.py wrote.

    python3 benchmarks/plot_results.py                        all of them in docs/figures/, from the H200's
    python3 benchmarks/plot_results.py gemm_speed --results FILE --folder FOLDER

Takes Matplotlib. A figure whose section a file does not have is left out. The roofline sets the rungs' rates against the
bytes that their loads ask for, as the page of the ladder counts them ("The napkin math in one table"); a point above the
roof gets bytes from the caches.
"""

import functools
import pathlib
import re
import sys

from measuring import HERE, ROOT, number, table_of

sys.path.append(str(ROOT / "tools"))
from stagewise import command_line  # noqa: E402: the path comes first

command_line.make_matplotlib_quiet()
try:
    from stagewise import theme as look
except ImportError as missing:
    sys.exit(f"plot_results.py: there is no {missing.name}; install it with pip or your distribution "
             "(python3-matplotlib).")

THEME = look.THEMES["light"]
TEAL, AMBER, BLUE, RED, VIOLET, *_ = THEME.series
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1, "k": 1e3, "M": 1e6}

# 800 x 1000 x 784 on an H200
OPERATIONS = 2 * 800 * 1000 * 784
PEAK, MEMORY = 66.9e12, 4.8e12  # operations (in double on tensor cores) and bytes a second
BESIDE = ("dot-", "tile-4", "tile-8", "tile-32", "conflicts", "padded")  # rungs that are no bars begin with one of these
MEGABYTES = {"naive": 5018, "tile-16": 314, "register-column": 59, "register-tile": 78,
             "vector-loads": 59, "double-buffering": 59, "async-copies": 59, "fitted-tiles": 65}
NUDGED = {"tile-16": (-6, 8), "register-tile": (-64, -4), "double-buffering": (6, -9),
          "async-copies": (6, 0)}  # labels that would lie upon others, in points

# What a kernel does, by words in its name; the first that fits counts.
KINDS = [("copy", "copies from and to the host", THEME.muted),
         ("one_shot|two_shot|NCCL", "sums over ranks", AMBER),
         ("output_layer|loss|softmax|argmax", "last layer and loss", VIOLET), ("sgd|update", "updates", RED),
         ("gemm|tile|linear|layer|gradient|product", "products", TEAL),
         ("sums|totals|accumulate", "sums of columns, totals", BLUE), ("", "bias, relu, picking rows", AMBER)]
LANES = {"0": "rank 0", "1": "its sums", "2": "rank 1", "3": "its sums"}


def quantity(cell):
    """Of "35.4 us" or "1.15 M"; None for an empty cell."""
    found = re.fullmatch(rf"([\d.,]+) ({'|'.join(UNITS)})", cell)
    return number(found[1]) * UNITS[found[2]] if found else None


def axes_of(height, width=8, count=1):
    figure = look.new_figure(THEME, width, height)
    return figure, figure.subplots(1, count, sharey=count > 1)


def bars(axes, names, values, colors, texts=None, label=None, offset=0.0, height=0.7):
    """A bar for each name that has a value, and a text behind it."""
    present = [(place, value, color) for place, (value, color) in enumerate(zip(values, colors)) if value]
    axes.barh([place + offset for place, *_ in present], [value for _, value, _ in present], height,
              color=[color for *_, color in present], label=label)
    for place, value, _ in present if texts else []:
        axes.text(value, place + offset, f" {texts[place]}", va="center")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)


def columns_of(rows):
    return dict(zip(rows[0], zip(*rows[1:])))


# Each takes the rows of a table, and returns a figure.


def gemm_speed(rows):
    """A bar for each rung and precision, and cuBLAS as lines."""
    times = {cells[0]: {"float": quantity(cells[1]), "double": quantity(cells[3])} for cells in rows[1:]}
    rate = lambda name, precision: times[name][precision] and OPERATIONS / times[name][precision] / 1e12
    names = [name for name in times if name != "cuBLAS" and not name.startswith(BESIDE)]
    figure, axes = axes_of(5.2)
    for offset, precision, color in ((-0.2, "float", TEAL), (0.2, "double", AMBER)):
        bars(axes, names, [rate(name, precision) for name in names], [color] * len(names), None, precision, offset, 0.38)
        if rate("cuBLAS", precision):
            axes.axvline(rate("cuBLAS", precision), color=color, linestyle="--", linewidth=1,
                         label=f"cuBLAS, {precision}")
    axes.set_xlabel("TFLOP/s, 800 x 1000 x 784 on an H200 (peak without rounding: 66.9)")
    axes.legend()
    return figure


def gemm_roofline(rows):
    """Rates in float over operations for each byte that is asked for."""
    times = {cells[0]: quantity(cells[1]) for cells in rows[1:]}
    figure, axes = axes_of(5)
    axes.loglog([0.1, PEAK / MEMORY, 1000], [0.1 * MEMORY / 1e12, PEAK / 1e12, PEAK / 1e12], color=THEME.muted)
    axes.text(0.25, 0.8, "4.8 TB/s", color=THEME.muted)
    axes.text(150, 1.1 * PEAK / 1e12, "66.9 TFLOP/s", color=THEME.muted)
    for name, megabytes in MEGABYTES.items():
        if times.get(name):
            point = OPERATIONS / (megabytes * 1e6), OPERATIONS / times[name] / 1e12
            axes.plot(*point, "o", color=TEAL)
            axes.annotate(name, point, NUDGED.get(name, (6, -4)), color=THEME.muted, textcoords="offset points")
    axes.set(xlabel="operations per byte asked for", ylabel="TFLOP/s, float", ylim=(0.4, 120))
    return figure


def beside_pytorch(rows):
    """How many times as fast as PyTorch's forms, a group of bars for each network."""
    columns = columns_of(rows)
    ours, names = [*map(quantity, columns["stage 04"])], columns["network, batch"]
    figure, axes = axes_of(0.5 * len(names) + 1.2)
    for offset, form, color in ((-0.2, "a CUDA graph an epoch", TEAL), (0.2, "a CUDA graph a step", BLUE)):
        values = [theirs and one / theirs for one, theirs in zip(ours, map(quantity, columns[form]))]
        bars(axes, names, values, [color] * len(names), [f"{value or 0:.2f}" for value in values], f"PyTorch, {form}",
             offset, 0.38)
    axes.axvline(1, color=THEME.muted, linestyle="--", linewidth=1)
    axes.set_xlabel("how many times as fast stage 04 trains")
    axes.legend()
    return figure


def timelines(rows, lane_names=None):
    """A step of each form, one above the other, a bar for each stream, which `lane_names` names; the steps repeat."""
    rows = rows[1:]
    forms = list(dict.fromkeys(row[0] for row in rows))
    lanes = [(form, stream) for form in forms for stream in
             sorted({row[2] for row in rows if row[0] == form and row[4] != "-"}, key=int)]
    figure, axes = axes_of(0.45 * len(lanes) + 1.2, 10)
    named = set()
    for form, kernel, stream, begin, end in rows:
        y = lanes.index((form, stream))
        if end == "-":
            axes.plot([number(begin)] * 2, [y - 0.45, y + 0.45], color=THEME.ink, linewidth=1.5)
            axes.text(number(begin), y, f" {number(begin):.0f} us", va="center")
            continue
        what, color = next((what, color) for words, what, color in KINDS if re.search(words, kernel))
        axes.barh(y, number(end) - number(begin), 0.62, number(begin), color=color,
                  edgecolor=THEME.paper, linewidth=0.5, label=None if what in named else what)
        named.add(what)
    labels = [(form if stream == "0" else "", (lane_names or {}).get(stream, "")) for form, stream in lanes]
    axes.set_yticks(range(len(lanes)), [": ".join(filter(None, label)) for label in labels])
    axes.invert_yaxis()
    axes.set_xlim(0, max(1.1 * max(number(row[3]) for row in rows if row[4] == "-"),
                         *(number(row[4]) for row in rows if row[4] != "-")))
    axes.set_xlabel("microseconds since the beginning of a step; the line is where the next begins")
    axes.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))
    return figure


FIGURES = {  # by name: the results file, its section, what draws it
    "gemm_speed": ("h200_gemm", "Every rung", gemm_speed),
    "gemm_roofline": ("h200_gemm", "Every rung", gemm_roofline),
    "stage04_pytorch": ("h200_stage04_pytorch", "Training beside PyTorch, images a second", beside_pytorch),
    "stage04_timelines": ("h200_stage04_pytorch", "When the kernels of a step run", timelines),
    "mpi_timelines": ("h200_stage05_two", "What runs when on two ranks",
                      functools.partial(timelines, lane_names=LANES))}


def main(words):
    parser = command_line.Parser(prog="plot_results.py", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"{', '.join(FIGURES)} [all]")
    parser.add_argument("--results", type=pathlib.Path, metavar="FILE", help="[the H200's in benchmarks/results]")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "docs/figures", help="[docs/figures]")
    options = parser.parse_args(words)
    for name in options.figures or FIGURES:
        if name not in FIGURES:
            raise command_line.UsageError(f"there is no figure '{name}'; there are {', '.join(FIGURES)}")
        file, section, draw = FIGURES[name]
        rows = table_of(options.results or HERE / f"results/{file}.md", section)
        if len(rows) > 1:
            path = options.folder / f"{name}.svg"
            look.save(draw(rows), path)
            command_line.say(f"saved  {path}")


if __name__ == "__main__":
    sys.exit(command_line.run("plot_results.py", main, sys.argv[1:]))
