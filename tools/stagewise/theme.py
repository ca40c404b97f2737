"""The look of the figures, light and dark, and how a figure becomes a file.

The same figure gives the same bytes: no dates, no settings of the user, fonts that come with
Matplotlib.
"""

from __future__ import annotations

import dataclasses
import pathlib
import textwrap

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from stagewise.command_line import UsageError, printable
from stagewise.files import replacing


@dataclasses.dataclass(frozen=True)
class Theme:
    """Colours."""

    paper: str
    ink: str  # of texts
    muted: str  # of axes and captions
    series: tuple[str, ...]  # what is told apart; the first is also good, the second also bad

    def diverging(self) -> LinearSegmentedColormap:
        """From negative over 0, which is paper, to positive."""
        return LinearSegmentedColormap.from_list("diverging", [self.series[1], self.paper, self.series[0]])

    def rising(self, number: int) -> LinearSegmentedColormap:
        """From paper to a series' colour."""
        return LinearSegmentedColormap.from_list("rising", [self.paper, self.series[number]])


THEMES = {
    "light": Theme(paper="#f6faf9", ink="#16302f", muted="#5b7572",
                   series=("#1f8a7e", "#d9822b", "#3b6fb6", "#b8405e", "#7a5195", "#6b7f1e",
                           "#5c5148", "#0b4f6c")),
    "dark": Theme(paper="#17201f", ink="#e3efed", muted="#93aaa7",
                  series=("#4cc3b2", "#f0a35a", "#7fb0ee", "#ef8aa3", "#bd9be0", "#b9cc62",
                          "#cbbcae", "#6fc6ea")),
}

FORMATS = ("svg", "png")
DOTS_PER_INCH = 144  # of PNG

SETTINGS = {  # besides the colours
    "svg.fonttype": "none",  # texts remain texts
    "svg.hashsalt": "stagewise",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Helvetica", "Arial"],
    "font.size": 9,
    "image.interpolation": "none",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def new_figure(theme: Theme, width: float, height: float) -> Figure:
    """An empty figure, in inches."""
    matplotlib.rcdefaults()
    inked = ("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor")
    muted = ("axes.edgecolor", "xtick.color", "ytick.color")
    matplotlib.rcParams.update(SETTINGS | dict.fromkeys(("figure.facecolor", "axes.facecolor"), theme.paper)
                               | dict.fromkeys(inked, theme.ink) | dict.fromkeys(muted, theme.muted))
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)  # inches
    return figure


def hide_axes(axes: Axes) -> None:
    """Leaves the picture, and the label below it."""
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def add_title(figure: Figure, text: str) -> None:
    figure.suptitle(escaped(text), x=0.012, ha="left", fontsize=10)


def escaped(text: str) -> str:
    """Text to be drawn as it is: Matplotlib would take what is between two $ for a formula, and
    copy control characters, which XML does not allow, to an SVG."""
    return "\n".join(map(printable, text.split("\n"))).replace("$", r"\$")


def wrapped(text: str, columns: int) -> str:
    """The same in lines of at most so many columns, so that a long name is not cut."""
    return escaped(textwrap.fill(text, columns))


def format_of(path: pathlib.Path) -> str:
    """What the name asks for.

    :raise UsageError: if it is neither SVG nor PNG."""
    suffix = path.suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise UsageError(f"the figure's name '{path}' must end in .svg or .png")
    return suffix


def save(figure: Figure, path: pathlib.Path) -> None:
    """Writes it, as a whole or not at all.

    :raise Error: naming the file and the reason."""
    kind = format_of(path)
    metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    with replacing(path, "figure") as partial:
        figure.savefig(partial, format=kind, dpi=DOTS_PER_INCH if kind == "png" else 72, metadata=metadata)
