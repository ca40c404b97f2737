"""The same parameters in PyTorch's order of dimensions.

                      here                           PyTorch
    images            [batch, height, width, in]     [batch, in, height, width]
    fcN's weights     [in, out]                      [out, in]
    convN's filters   [height, width, in, out]       [out, in, height, width]

Where the pixels of an image become a row of numbers, before fc1, their channels come last here and
first there; so the inputs of fc1 are put in another order. Nothing is computed: every number keeps
its bits.
"""

from __future__ import annotations

import math
from typing import Iterator, NamedTuple

import numpy as np

from stagewise.command_line import Error
from stagewise.network import Network, Parameters


class Layout(NamedTuple):
    """How a parameter becomes PyTorch's."""

    ours: str
    theirs: str
    shape: tuple[int, ...]  # here
    turned: tuple[int, ...]  # there
    view: tuple[int, ...]  # `shape`, with the channels of pixels as a dimension of their own
    axes: tuple[int, ...]  # of the view, in PyTorch's order

    def to_pytorch(self, values: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(values.reshape(self.view).transpose(self.axes)).reshape(self.turned)

    def from_pytorch(self, values: np.ndarray) -> np.ndarray:
        pixels = values.reshape([self.view[axis] for axis in self.axes])
        return np.ascontiguousarray(pixels.transpose(np.argsort(self.axes))).reshape(self.shape)


def layouts(network: Network) -> Iterator[Layout]:
    """Of all parameters, in the network's order."""
    for layer, shape in network.layers().items():
        axes: tuple[int, ...] = (3, 2, 0, 1) if len(shape) == 4 else (1, 0)
        turned = tuple(shape[axis] for axis in axes)
        view = shape
        if layer == "fc1":
            channels = network.channels_of_rows()
            view, axes = (math.prod(shape) // (channels * shape[1]), channels, shape[1]), (2, 1, 0)
        name = "filter" if layer.startswith("conv") else "weight"
        yield Layout(f"{layer}/{name}", f"{layer}.weight", shape, turned, view, axes)
        if network.biases:
            yield Layout(f"{layer}/bias", f"{layer}.bias", shape[-1:], shape[-1:], shape[-1:], (0,))


def to_pytorch(network: Network, parameters: Parameters) -> Parameters:
    """The network's state_dict, from its parameters.

    :raise Error: if they are not the network's."""
    _expect_shapes(parameters, {one.ours: one.shape for one in layouts(network)})
    return {one.theirs: one.to_pytorch(parameters[one.ours]) for one in layouts(network)}


def from_pytorch(network: Network, state: Parameters) -> Parameters:
    """The network's parameters, from its state_dict.

    :raise Error: if it is not the network's."""
    _expect_shapes(state, {one.theirs: one.turned for one in layouts(network)})
    return {one.ours: one.from_pytorch(state[one.theirs]) for one in layouts(network)}


def _expect_shapes(found: Parameters, expected: dict[str, tuple[int, ...]]) -> None:
    def text(shape: tuple[int, ...]) -> str:
        return "[" + ", ".join(map(str, shape)) + "]"

    for name, shape in expected.items():
        if name not in found:
            raise Error(f"it has no '{name}', which the network needs, {text(shape)}")
        if found[name].shape != shape:
            raise Error(f"its '{name}' is {text(found[name].shape)}, but the network's is {text(shape)}")
    if more := [name for name in found if name not in expected]:
        first, *_, last = expected
        raise Error(f"its '{more[0]}' is no parameter of the network, which has {first} to {last}")
