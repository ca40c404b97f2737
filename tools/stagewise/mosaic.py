"""Many small images as one."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_rgb
from matplotlib.figure import Figure

from stagewise import theme as look
from stagewise.theme import Theme

PIXELS = 200  # of a side, at least: programs that blur the pixels of an SVG then blur their edges


def columns_for(count: int, height: int, width: int) -> int:
    """How many images stand side by side, so that all of them take twice as much room across as
    down."""
    return max(1, min(count, round(math.sqrt(2 * count * (height + 1) / (width + 1)))))


def mosaic(images: np.ndarray, columns: int, theme: Theme) -> np.ndarray:
    """Puts images side by side, row after row.

    :param images: [count, height, width, 3], colours from 0 to 1.
    :return: [height, width, 3]; between the images, a pixel is left free."""
    count, height, width, _ = images.shape
    rows = -(-count // columns)
    result = np.empty((rows * (height + 1) - 1, columns * (width + 1) - 1, 3))
    result[:] = to_rgb(theme.paper)
    for number, image in enumerate(images):
        top, left = (number // columns) * (height + 1), (number % columns) * (width + 1)
        result[top:top + height, left:left + width] = image
    return result


def colored(values: np.ndarray, theme: Theme) -> tuple[np.ndarray, float]:
    """Weights as colours.

    :param values: [count, height, width], or [count, height, width, 3] in red, green and blue, for
        which 0 is a medium grey.
    :return: the colours, [count, height, width, 3], and the absolute value that is in full."""
    most = float(np.abs(values).max(initial=0.0)) or 1.0
    if values.ndim == 4:
        return (values / most + 1) / 2, most
    return theme.diverging()((values / most + 1) / 2)[..., :3], most


def draw(picture: np.ndarray, title: str, scale: float | None, theme: Theme) -> Figure:
    """A figure of a picture.

    :param picture: [height, width, 3].
    :param scale: for a bar that explains the colours, from -scale to scale."""
    height, width = picture.shape[:2]
    across = 7.0
    figure = look.new_figure(theme, across + (0.8 if scale else 0.0), 0.4 + across * height / width)
    axes = figure.add_subplot()
    show(axes, picture, theme)
    look.add_title(figure, theme, title)
    if scale:
        _add_bar(figure, axes, scale, theme)
    return figure


def show(axes: Axes, picture: np.ndarray, theme: Theme) -> None:
    """A picture of colours from 0 to 1, every pixel a square."""
    axes.imshow(enlarged(picture))
    look.style_picture(axes, theme)


def enlarged(picture: np.ndarray) -> np.ndarray:
    """The same picture in bytes, of at least PIXELS pixels."""
    times = max(1, -(-PIXELS // max(picture.shape[:2])))
    return np.round(picture * 255).astype(np.uint8).repeat(times, axis=0).repeat(times, axis=1)


def _add_bar(figure: Figure, axes: Axes, scale: float, theme: Theme) -> None:
    bar = figure.colorbar(ScalarMappable(Normalize(-scale, scale), theme.diverging()), ax=axes, shrink=0.7, aspect=30)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=theme.muted, labelcolor=theme.ink)
