"""Which network a checkpoint holds, as its attributes say."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Mapping

import numpy as np

from stagewise.command_line import Error

Parameters = dict[str, np.ndarray]  # by their names

CNN_FILTERS = (32, 64)  # of 5x5, each convolution followed by the mean of 2x2
CNN_SIDE = 5
CNN_POOL = 2
CNN_HIDDEN = (128,)

# What PyTorch calls the activations, a module each.
ACTIVATIONS = {"relu": "ReLU", "sigmoid": "Sigmoid"}

# The values that an attribute may have; the first is the default.
CHOICES = {"activation": tuple(ACTIVATIONS), "loss": ("cross-entropy", "squared-error"), "biases": ("on", "off")}


@dataclasses.dataclass
class Network:
    """What one must know to build it."""

    model: str  # mlp, cnn or neuron
    sample: tuple[int, ...]  # shape: (height, width, channels) or (features,)
    classes: int
    hidden: tuple[int, ...]  # widths
    activation: str  # of hidden layers
    loss: str
    biases: bool

    def is_of_images(self) -> bool:
        return len(self.sample) == 3

    def unit(self) -> str:
        """The activation of its fully connected layers."""
        return {"neuron": "sigmoid", "mlp": self.activation, "cnn": "relu"}[self.model]

    def ends_with_sigmoid(self) -> bool:
        """Whether the outputs are values of sigmoid units; else they are sums, such as logits."""
        return self.unit() == "sigmoid" and (self.model == "neuron" or self.loss == "squared-error")

    def layers(self) -> dict[str, tuple[int, ...]]:
        """The shape of each layer's weights, in this project's order of dimensions."""
        outputs = 1 if self.model == "neuron" else self.classes
        if self.model != "cnn":
            return _linear(math.prod(self.sample), (*self.hidden, outputs))
        layers: dict[str, tuple[int, ...]] = {}
        height, width, channels = self.sample
        for number, filters in enumerate(CNN_FILTERS, start=1):
            layers[f"conv{number}"] = (CNN_SIDE, CNN_SIDE, channels, filters)
            height, width = ((side - CNN_SIDE + 1) // CNN_POOL for side in (height, width))
            channels = filters
        return layers | _linear(height * width * channels, (*CNN_HIDDEN, outputs))

    def channels_of_rows(self) -> int:
        """How many channels the pixels have that become a row of numbers, before layer fc1."""
        if self.model == "cnn":
            return CNN_FILTERS[-1]
        return self.sample[2] if self.is_of_images() else 1


def _linear(inputs: int, widths: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {f"fc{number}": shape for number, shape in enumerate(zip((inputs, *widths), widths), start=1)}


def network_of(attributes: Mapping[str, str | int], what: str) -> Network:
    """The network that these attributes describe.

    :param what: has them, for errors: "the checkpoint FILE".
    :raise Error: if they do not say enough."""
    needed = ("model", "sample-shape", "class-count")
    if missing := [name for name in needed if name not in attributes]:
        raise Error(f"{what} has no '{missing[0]}', so its network is unknown; train --load FILE --save FILE adds it")
    model = attributes["model"]
    if model not in ("mlp", "cnn", "neuron"):
        raise Error(f"{what} holds a model '{model}'; known are mlp, cnn and neuron")
    chosen = {}
    for name, known in CHOICES.items():
        chosen[name] = attributes.get(name, known[0])
        if chosen[name] not in known:
            raise Error(f"the '{name}' of {what} is '{chosen[name]}'; known are {' and '.join(known)}")
    hidden = attributes.get("hidden", "none") if model == "mlp" else "none"
    try:
        sample = _numbers(attributes["sample-shape"])
        (classes,) = _numbers(attributes["class-count"])
        widths = () if hidden == "none" else _numbers(hidden)
    except ValueError:
        raise Error(f"the 'sample-shape', 'class-count' or 'hidden' of {what} is not made of whole "
                    "numbers from 1") from None
    network = Network(model, sample, classes, widths, chosen["activation"], chosen["loss"],
                      biases=model == "neuron" or chosen["biases"] == "on")
    if model == "cnn" and not network.is_of_images():
        raise Error(f"{what} holds a cnn, but its 'sample-shape' is {attributes['sample-shape']}, which is no image")
    return network


def expect_finite(parameters: Parameters, source: str) -> None:
    """
    :raise Error: if a number is not finite: the network is of no use then."""
    for name, values in parameters.items():
        wrong = np.flatnonzero(~np.isfinite(values))
        if wrong.size:
            kind = "NaN" if np.isnan(values.flat[wrong[0]]) else "infinite"
            raise Error(f"the parameter '{name}' of {source} is {kind} in its value number "
                        f"{wrong[0]} (counted from 0), so the network is of no use")


def _numbers(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"[1-9][0-9]{0,17}(,[1-9][0-9]{0,17})*", text):
        raise ValueError
    return tuple(map(int, text.split(",")))
