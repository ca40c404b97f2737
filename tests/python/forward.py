"""What networks say about samples, computed with NumPy alone.

Twice: with the checkpoint's parameters as this project orders them, and with those of a state_dict
as PyTorch does, each by its own loops over dimensions, to show that both are the same network.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from stagewise.network import Network, Parameters


def unit(network: Network, values: np.ndarray) -> np.ndarray:
    """The activation of fully connected layers."""
    functions = {"relu": lambda x: np.maximum(x, 0), "sigmoid": lambda x: 1 / (1 + np.exp(-x))}
    return functions[network.unit()](values)


def ours(network: Network, parameters: Parameters, samples: np.ndarray) -> np.ndarray:
    """The outputs, [count, outputs]; samples are [count, height, width, channels]."""
    values = samples.astype(next(iter(parameters.values())).dtype)
    last = list(network.layers())[-1]
    for layer in network.layers():
        bias = parameters.get(f"{layer}/bias", 0)
        if layer.startswith("conv"):
            windows = sliding_window_view(values, (5, 5), axis=(1, 2))  # [n, y, x, in, 5, 5]
            values = np.einsum("nyxcij,ijco->nyxo", windows, parameters[f"{layer}/filter"]) + bias
            values = np.maximum(values, 0)
            count, height, width, channels = values.shape
            values = values.reshape(count, height // 2, 2, width // 2, 2, channels).mean((2, 4))
            continue
        values = values.reshape(len(values), -1) @ parameters[f"{layer}/weight"] + bias
        if layer != last or network.ends_with_sigmoid():
            values = unit(network, values)
    return values


def pytorchs(network: Network, state: Parameters, samples: np.ndarray) -> np.ndarray:
    """The outputs; samples are [count, channels, height, width]."""
    values = samples.astype(next(iter(state.values())).dtype)
    last = list(network.layers())[-1]
    for layer in network.layers():
        bias = state.get(f"{layer}.bias", np.zeros(len(state[f"{layer}.weight"]), values.dtype))
        if layer.startswith("conv"):
            windows = sliding_window_view(values, (5, 5), axis=(2, 3))  # [n, in, y, x, 5, 5]
            values = np.einsum("ncyxij,ocij->noyx", windows, state[f"{layer}.weight"])
            values = np.maximum(values + bias[:, None, None], 0)
            count, channels, height, width = values.shape
            values = values.reshape(count, channels, height // 2, 2, width // 2, 2).mean((3, 5))
            continue
        values = values.reshape(len(values), -1) @ state[f"{layer}.weight"].T + bias
        if layer != last or network.ends_with_sigmoid():
            values = unit(network, values)
    return values


def to_channels_first(samples: np.ndarray) -> np.ndarray:
    """PyTorch's order of the same images; rows of a table stay as they are."""
    return samples.transpose(0, 3, 1, 2) if samples.ndim == 4 else samples
