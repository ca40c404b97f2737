#!/usr/bin/env python3
"""The same network in PyTorch: classifies images with a checkpoint that was converted.

    ./run.sh convert best.h5 best.safetensors
    python3 tools/run_in_pytorch.py best.safetensors digits/t10k-images-idx3-ubyte answers.csv

The images are a file in IDX format, as make_dataset writes it. answers.csv is what `predict --csv`
says about them; the program compares the probabilities. Takes PyTorch and NumPy.
"""

from __future__ import annotations

import collections
import csv
import pathlib
import sys

try:
    import numpy as np
    import torch
except ImportError as missing:
    sys.exit(f"run_in_pytorch: this python3 has no {missing.name}; it needs PyTorch and NumPy.")

from stagewise import command_line, safetensors
from stagewise.command_line import Error
from stagewise.network import ACTIVATIONS, Network, network_of

PREFIX = "stagewise."


## [build]
def build(network: Network) -> torch.nn.Module:
    """Takes images as [batch, channels, height, width], or rows of features."""
    unit = getattr(torch.nn, ACTIVATIONS[network.unit()])
    modules: dict[str, torch.nn.Module] = collections.OrderedDict()
    layers = network.layers()
    for name, shape in layers.items():
        if name.startswith("conv"):
            height, width, inputs, filters = shape
            modules[name] = torch.nn.Conv2d(inputs, filters, (height, width), bias=network.biases)
            modules[f"{name}-unit"] = torch.nn.ReLU()
            modules[f"{name}-pool"] = torch.nn.AvgPool2d(2)
            continue
        if name == "fc1":
            modules["flatten"] = torch.nn.Flatten()
        modules[name] = torch.nn.Linear(*shape, bias=network.biases)
        if name != list(layers)[-1] or network.ends_with_sigmoid():
            modules[f"{name}-unit"] = unit()
    return torch.nn.Sequential(modules)
## [build]


## [load]
def load(path: pathlib.Path) -> tuple[Network, torch.nn.Module]:
    """The network of a converted checkpoint, in words and as a module."""
    tensors, metadata = safetensors.read(path)
    network = network_of({key[len(PREFIX):]: text for key, text in metadata.items()}, str(path))
    state = {name: torch.from_numpy(values.copy()) for name, values in tensors.items()}
    module = build(network).to(next(iter(state.values())).dtype)
    module.load_state_dict(state)
    return network, module
## [load]


def read_idx(path: pathlib.Path) -> np.ndarray:
    """Images as [count, 1, height, width], their bytes divided by 255."""
    data = path.read_bytes()
    if data[:4] != bytes([0, 0, 8, 3]):
        raise Error(f"{path} is no file of images in IDX format")
    count, height, width = np.frombuffer(data, ">u4", 3, offset=4)
    pixels = np.frombuffer(data, np.uint8, offset=16)
    return pixels.reshape(count, 1, height, width) / 255


def scores(network: Network, outputs: torch.Tensor) -> torch.Tensor:
    """What the network says about each class, as `predict` has it."""
    if network.model == "neuron":
        return torch.hstack([1 - outputs, outputs])
    return torch.softmax(outputs, dim=1) if network.loss == "cross-entropy" else outputs


def read_answers(path: pathlib.Path) -> np.ndarray:
    """The probabilities in a table of `predict --csv`, [count, classes]."""
    with open(path, newline="", encoding="utf-8") as file:
        return np.array([[float(value) for column, value in row.items()
                          if column.startswith(("probability ", "output "))]
                         for row in csv.DictReader(file)])


def main(model: pathlib.Path, images: pathlib.Path, answers: pathlib.Path) -> None:
    network, module = load(model)
    dtype = next(module.parameters()).dtype
    with torch.no_grad():
        outputs = module(torch.from_numpy(read_idx(images)).to(dtype)).double()
    found = scores(network, outputs).numpy()
    expected = read_answers(answers)
    if expected.shape != found.shape:
        raise Error(f"{answers} is not what predict --csv says about these images")
    same = np.sum(found.argmax(axis=1) == expected.argmax(axis=1))
    print(f"{len(expected)} images, {same} answers are the same; "
          f"the largest difference of a probability is {np.abs(found - expected).max():.1e}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(command_line.run("run_in_pytorch", lambda words: main(*map(pathlib.Path, words)), sys.argv[1:]))
