"""What the scripts that draw figures share: Matplotlib, colors, and tables of a results file."""

import sys

try:
    import matplotlib
except ImportError:
    sys.exit(f"{sys.argv[0]}: there is no Matplotlib; install it with pip or your distribution "
             "(python3-matplotlib).")

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "gemm",
                            "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"]})
from matplotlib import pyplot  # noqa: E402: the backend comes first

INK, PAPER, MUTED = "#16302f", "#f6faf9", "#5b7572"  # as in the other figures
TEAL, AMBER, RED, BLUE, VIOLET = "#2a9d8f", "#e9963e", "#c8553d", "#3d6fb4", "#8e6bb0"


def style(axes):
    axes.set_facecolor(PAPER)
    axes.tick_params(colors=INK, which="both")
    for label in (axes.xaxis.label, axes.yaxis.label, axes.title):
        label.set_color(INK)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(MUTED)


def save(figure, path):
    figure.savefig(path, facecolor=PAPER, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)
    print(f"Wrote {path}")


def table_of(path, title):
    """The rows of the first table below a heading that ends so, head first; empty without one."""
    _, _, section = path.read_text(encoding="utf-8").partition(f". {title}\n")
    section = section.partition("\n## ")[0]
    rows = []
    for text in section.splitlines():
        if text.startswith("|"):
            rows.append([cell.strip(" `") for cell in text.strip("|").split("|")])
        elif rows:
            break
    return rows[:1] + rows[2:]  # without the line of dashes


def number(cell):
    """Of "1,024", "0.5" or "4.5x"; None for an empty cell."""
    text = cell.replace(",", "").removesuffix("x")
    try:
        return float(text)
    except ValueError:
        return None


def columns_of(path, title):
    """{heading: cells} of that table."""
    rows = table_of(path, title)
    return dict(zip(rows[0], zip(*rows[1:]))) if len(rows) > 1 else {}


def line(axes, x, cells, label, color, **how):
    """A curve through the cells that have a number."""
    points = [(a, b) for a, b in zip(map(number, x), map(number, cells)) if None not in (a, b)]
    if points:
        axes.plot(*zip(*points), color=color, label=label, markersize=4,
                  **{"marker": "o", "linewidth": 1.5, **how})
