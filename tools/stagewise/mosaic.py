"""Many small images as one: the weights of a network's first layer, the filters of its convolutions; and
the mistakes and confusions of other figures.

Where there are three channels, they are red, green and blue. Any other number of them stands side
by side.
"""

from __future__ import annotations

import math
import pathlib

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_rgb
from matplotlib.figure import Figure

from stagewise import checkpoint
from stagewise import theme as look
from stagewise.command_line import Error
from stagewise.network import network_of
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


def show(axes: Axes, picture: np.ndarray) -> None:
    """A picture of colours from 0 to 1, every pixel a square."""
    axes.imshow(enlarged(picture))
    look.hide_axes(axes)


def enlarged(picture: np.ndarray) -> np.ndarray:
    """The same picture in bytes, of at least PIXELS pixels."""
    times = max(1, -(-PIXELS // max(picture.shape[:2])))
    return np.round(picture * 255).astype(np.uint8).repeat(times, axis=0).repeat(times, axis=1)


def draw_weights(path: pathlib.Path, theme: Theme, most: int) -> Figure:
    """An image for each unit of the first layer: its weight of every pixel.

    :param most: at most so many units are drawn."""
    contents = checkpoint.read(path)
    network = network_of(contents.attributes, f"the checkpoint {path}")
    if network.model == "cnn":
        raise Error(f"the first layer of {path} is a convolution; plot filters draws it")
    if not network.is_of_images():
        raise Error(f"the network of {path} takes samples of shape "
                    f"{'x'.join(map(str, network.sample))}, which are no images")
    weight = contents.parameters.get("fc1/weight")
    if weight is None or weight.shape != network.layers()["fc1"]:
        raise Error(f"the checkpoint {path} has no 'fc1/weight' that fits its network")
    height, width, channels = network.sample
    units = weight.T.reshape(-1, height, width, channels)[:most].astype(float)
    return _draw(units, f"fc1/weight of {path.name}: {_count(units, weight, 'unit')}", theme)


def draw_filters(path: pathlib.Path, theme: Theme, layer: str, most: int) -> Figure:
    """An image for each filter of a convolution.

    :param most: at most so many filters are drawn."""
    parameters = checkpoint.read(path).parameters
    layers = [name.split("/")[0] for name in parameters if name.endswith("/filter")]
    if layer not in layers:
        there = f"it has {', '.join(layers)}" if layers else "it has no convolutions"
        raise Error(f"the checkpoint {path} has no layer '{layer}' with filters; {there}")
    filters = parameters[f"{layer}/filter"]
    if filters.ndim != 4 or filters.size == 0:
        raise Error(f"'{layer}/filter' of the checkpoint {path} is {list(filters.shape)}, but "
                    "filters have 4 dimensions, none of them 0")
    units = filters.transpose(3, 0, 1, 2)[:most].astype(float)
    return _draw(units, f"{layer}/filter of {path.name}: {_count(units, filters, 'filter')}", theme)


def _count(shown: np.ndarray, all_of_them: np.ndarray, what: str) -> str:
    count = all_of_them.shape[-1]
    units = f"{count:,} {what}{'s' if count > 1 else ''}"
    return units if len(shown) == count else f"the first {len(shown):,} of {units}"


def _draw(units: np.ndarray, title: str, theme: Theme) -> Figure:
    """Draws weights, [count, height, width, channels]. Without colours of their own, they get a bar that explains
    those that they have here."""
    count, height, width, channels = units.shape
    has_colors = channels == 3
    if not has_colors:
        units = units.transpose(0, 3, 1, 2).reshape(-1, height, width)
    colors, most = colored(units, theme)
    columns = columns_for(count, height, width)
    if channels > 1 and not has_colors:
        columns = channels
        title += f", a row each, a column for each of {channels} channels"
    picture = mosaic(colors, columns, theme)
    height, width = picture.shape[:2]
    across = 7.0
    figure = look.new_figure(theme, across + (0.0 if has_colors else 0.8), 0.4 + across * height / width)
    axes = figure.add_subplot()
    show(axes, picture)
    look.add_title(figure, title)
    if not has_colors:
        scale = ScalarMappable(Normalize(-most, most), theme.diverging())
        figure.colorbar(scale, ax=axes, shrink=0.7, aspect=30).outline.set_visible(False)
    return figure
