#!/usr/bin/env python3
"""Converts a checkpoint for PyTorch, or comes back from there. ./run.sh convert starts it.

The file's name says which way:

    model.h5  ->  model.safetensors    needs no PyTorch, neither here nor to be read
    model.h5  ->  model.pt             a state_dict, written by torch.save()
    and each of them back to a checkpoint

In PyTorch, the network takes images as [batch, channels, height, width]. The page "To PyTorch and
back" of the documentation (docs/pages/pytorch.md) shows how to build and load it.
"""

from __future__ import annotations

import pathlib
import sys
from typing import Sequence

import numpy as np

from stagewise import checkpoint, command_line, network, pytorch_layout, safetensors, state_dict
from stagewise.command_line import Error, UsageError

FORMATS = {".safetensors": safetensors, ".pt": state_dict, ".pth": state_dict}
CHECKPOINTS = (".h5", ".hdf5")
PREFIX = "stagewise."  # of our attributes, among the metadata of others


def metadata_of(attributes: dict[str, str | int]) -> dict[str, str]:
    """The attributes of a checkpoint as texts; others read in "format" whose layout it is."""
    ours = {PREFIX + name: str(value) for name, value in attributes.items()}
    return {"format": "pt"} | ours


def attributes_in(metadata: dict[str, str]) -> dict[str, str | int]:
    """The attributes that such metadata hold."""
    attributes: dict[str, str | int] = {}
    for key, text in metadata.items():
        name = key[len(PREFIX):]
        if not key.startswith(PREFIX):
            continue
        if name in checkpoint.NUMBER_TYPES:
            if not text.isdecimal() or int(text) > np.iinfo(checkpoint.NUMBER_TYPES[name]).max:
                raise Error(f"its '{key}' of '{text}' is no whole number that a checkpoint can hold")
            attributes[name] = int(text)
        else:
            attributes[name] = text
    return attributes


def describe(parameters: network.Parameters) -> str:
    count = sum(values.size for values in parameters.values())
    dtype = next(iter(parameters.values())).dtype
    return f"{count:,} parameters in {checkpoint.PRECISIONS[dtype]}"


def to_pytorch(source: pathlib.Path, target: pathlib.Path) -> None:
    contents = checkpoint.read(source)
    what = f"the checkpoint {source}"
    built = network.network_of(contents.attributes, what)
    try:
        state = pytorch_layout.to_pytorch(built, contents.parameters)
    except Error as error:
        raise Error(f"{what} cannot be converted: {error}") from None
    FORMATS[target.suffix].write(target, state, metadata_of(contents.attributes))
    command_line.say(f"saved  {target}, {describe(state)}")
    if contents.workers:
        command_line.say(f"note   the parameters of each of the {len(contents.workers)} workers "
                         "stay behind: what comes back cannot be resumed")


def to_checkpoint(source: pathlib.Path, target: pathlib.Path, like: pathlib.Path | None) -> None:
    state, metadata = FORMATS[source.suffix].read(source)
    if len({values.dtype for values in state.values()}) != 1:
        raise Error(f"{source} cannot be converted: its parameters must all be float, or all double")
    try:
        attributes = checkpoint.read(like).attributes if like else attributes_in(metadata)
        if not attributes:
            raise Error("it does not say which network it holds; --like names a checkpoint of the "
                        "same network")
        built = network.network_of(attributes, f"the checkpoint {like}" if like else str(source))
        parameters = pytorch_layout.from_pytorch(built, state)
    except Error as error:
        raise Error(f"{source} cannot be converted: {error}") from None
    contents = checkpoint.Checkpoint(attributes, parameters)
    attributes["precision"] = contents.precision()
    checkpoint.write(target, contents)
    command_line.say(f"saved  {target}, {describe(parameters)}")


def main(words: Sequence[str]) -> None:
    parser = command_line.Parser(prog="convert", description=__doc__)
    parser.add_argument("source", metavar="FROM", type=pathlib.Path, help="the file to convert")
    parser.add_argument("target", metavar="TO", type=pathlib.Path,
                        help="the file to write; an existing one is replaced")
    parser.add_argument("--like", metavar="CHECKPOINT", type=pathlib.Path,
                        help="a checkpoint of the same network, which says what a file does not that "
                        "PyTorch has written: model, data set, options")
    options = parser.parse_args(words)
    suffixes = (options.source.suffix, options.target.suffix)
    if suffixes[0] in CHECKPOINTS and suffixes[1] in FORMATS:
        if options.like:
            raise UsageError("--like is for the way back to a checkpoint")
        to_pytorch(options.source, options.target)
    elif suffixes[0] in FORMATS and suffixes[1] in CHECKPOINTS:
        to_checkpoint(options.source, options.target, options.like)
    else:
        raise UsageError(f"'{options.source}' and '{options.target}' are not a checkpoint (.h5) and "
                         "a file for PyTorch (.safetensors or .pt)")


if __name__ == "__main__":
    sys.exit(command_line.run("convert", main, sys.argv[1:]))
