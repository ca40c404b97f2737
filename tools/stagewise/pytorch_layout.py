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

import numpy as np

from stagewise.command_line import Error
from stagewise.network import Network, Parameters


def to_pytorch(network: Network, parameters: Parameters) -> Parameters:
    """The network's state_dict, from its parameters.

    :raise Error: if they are not the network's."""
    _expect_shapes(parameters, _our_shapes(network))
    state = {}
    for layer, shape in network.layers().items():
        values = parameters[_weight(layer)]
        if len(shape) == 4:
            values = values.transpose(3, 2, 0, 1)
        elif layer == "fc1":
            pixels = values.reshape(-1, network.channels_of_rows(), shape[1])
            values = pixels.transpose(2, 1, 0).reshape(shape[1], shape[0])
        else:
            values = values.T
        state[f"{layer}.weight"] = np.ascontiguousarray(values)
        if network.biases:
            state[f"{layer}.bias"] = parameters[f"{layer}/bias"]
    return state


def from_pytorch(network: Network, state: Parameters) -> Parameters:
    """The network's parameters, from its state_dict.

    :raise Error: if it is not the network's."""
    _expect_shapes(state, _pytorch_shapes(network))
    parameters = {}
    for layer, shape in network.layers().items():
        values = state[f"{layer}.weight"]
        if len(shape) == 4:
            values = values.transpose(2, 3, 1, 0)
        elif layer == "fc1":
            pixels = values.reshape(shape[1], network.channels_of_rows(), -1)
            values = pixels.transpose(2, 1, 0).reshape(shape)
        else:
            values = values.T
        parameters[_weight(layer)] = np.ascontiguousarray(values)
        if network.biases:
            parameters[f"{layer}/bias"] = state[f"{layer}.bias"]
    return parameters


def _weight(layer: str) -> str:
    return layer + ("/filter" if layer.startswith("conv") else "/weight")


def _our_shapes(network: Network) -> dict[str, tuple[int, ...]]:
    shapes = {}
    for layer, shape in network.layers().items():
        shapes[_weight(layer)] = shape
        if network.biases:
            shapes[f"{layer}/bias"] = shape[-1:]
    return shapes


def _pytorch_shapes(network: Network) -> dict[str, tuple[int, ...]]:
    shapes = {}
    for layer, shape in network.layers().items():
        turned = (shape[3], shape[2], *shape[:2]) if len(shape) == 4 else shape[::-1]
        shapes[f"{layer}.weight"] = turned
        if network.biases:
            shapes[f"{layer}.bias"] = shape[-1:]
    return shapes


def _expect_shapes(found: Parameters, expected: dict[str, tuple[int, ...]]) -> None:
    def text(shape: tuple[int, ...]) -> str:
        return "[" + ", ".join(map(str, shape)) + "]"

    for name, shape in expected.items():
        if name not in found:
            raise Error(f"it has no '{name}', which the network needs, {text(shape)}")
        if found[name].shape != shape:
            raise Error(f"its '{name}' is {text(found[name].shape)}, but the network's is "
                        f"{text(shape)}")
    if more := [name for name in found if name not in expected]:
        first, *_, last = expected
        raise Error(f"its '{more[0]}' is no parameter of the network, which has {first} to {last}")
