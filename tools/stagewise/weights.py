"""The weights of a network's first layer, and the filters of its convolutions, as images.

Where there are three channels, they are red, green and blue. Any other number of them stands side
by side.
"""

from __future__ import annotations

import pathlib

import numpy as np
from matplotlib.figure import Figure

from stagewise import checkpoint, mosaic
from stagewise.command_line import Error
from stagewise.network import network_of
from stagewise.theme import Theme


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
    """Draws weights, [count, height, width, channels]."""
    count, height, width, channels = units.shape
    if channels == 3:
        colors, _ = mosaic.colored(units, theme)
        columns = mosaic.columns_for(count, height, width)
        return mosaic.draw(mosaic.mosaic(colors, columns, theme), title, None, theme)
    colors, most = mosaic.colored(units.transpose(0, 3, 1, 2).reshape(-1, height, width), theme)
    columns = mosaic.columns_for(count, height, width)
    if channels > 1:
        columns = channels
        title += f", a row each, a column for each of {channels} channels"
    return mosaic.draw(mosaic.mosaic(colors, columns, theme), title, most, theme)
