"""Checkpoints for PyTorch, and the way back.

Besides its parameters, in PyTorch's order, a file holds the checkpoint's attributes as metadata: so
the checkpoint comes back as it was.
"""

from __future__ import annotations

import pathlib
import re

import numpy as np

from stagewise import checkpoint, command_line, network, pytorch_layout, safetensors, state_dict
from stagewise.command_line import Error

FORMATS = {".safetensors": safetensors, ".pt": state_dict, ".pth": state_dict}
PREFIX = "stagewise."  # of our attributes, among the metadata of others
LONGEST_NAME = 1000  # letters of an attribute's name


def metadata_of(attributes: dict[str, str | int]) -> dict[str, str]:
    """The attributes of a checkpoint as texts; others read in "format" whose layout it is."""
    ours = {PREFIX + name: str(value) for name, value in attributes.items()}
    return {"format": "pt"} | ours


def attributes_in(metadata: dict[str, str], source: pathlib.Path) -> dict[str, str | int]:
    """The attributes that such metadata hold.

    :param source: the file that they are of, for errors."""
    attributes: dict[str, str | int] = {}
    for key, text in metadata.items():
        name = key[len(PREFIX):]
        if not key.startswith(PREFIX):
            continue
        if name in checkpoint.NUMBER_TYPES:
            limit = np.iinfo(checkpoint.NUMBER_TYPES[name]).max
            if not re.fullmatch(r"[0-9]{1,20}", text) or int(text) > limit:
                raise Error(f"{source} cannot be converted: its '{key}' of '{text}' is no number "
                            "that a checkpoint can hold")
            attributes[name] = int(text)
        elif not 0 < len(name) <= LONGEST_NAME or not _is_storable(name + text):
            raise Error(f"{source} cannot be converted: its '{key}' is no text that a checkpoint can hold")
        else:
            attributes[name] = text
    attributes.pop("checksum", None)
    return attributes


def _is_storable(text: str) -> bool:
    try:
        return b"\0" not in text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False


def describe(parameters: network.Parameters) -> str:
    count = sum(values.size for values in parameters.values())
    dtype = next(iter(parameters.values())).dtype
    return f"{count:,} parameters in {checkpoint.PRECISIONS[dtype]}"


def to_pytorch(source: pathlib.Path, target: pathlib.Path) -> None:
    """Converts a checkpoint.

    :raise Error: if something cannot be read or written, or is no network of this project."""
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
    """Converts a file of PyTorch's.

    :param like: a checkpoint whose attributes it gets; without one, those that the file holds.
    :raise Error: as above."""
    state, metadata = FORMATS[source.suffix].read(source)
    network.expect_finite(state, str(source))
    if len({values.dtype for values in state.values()}) != 1:
        raise Error(f"{source} cannot be converted: its parameters must all be float, or all double")
    attributes = checkpoint.read(like).attributes if like else attributes_in(metadata, source)
    if not attributes:
        raise Error(f"{source} does not say which network it holds; --like names a checkpoint of the same one")
    built = network.network_of(attributes, f"the checkpoint {like}" if like else str(source))
    try:
        parameters = pytorch_layout.from_pytorch(built, state)
    except Error as error:
        raise Error(f"{source} cannot be converted: {error}") from None
    contents = checkpoint.Checkpoint(attributes, parameters)
    attributes["precision"] = contents.precision()
    checkpoint.write(target, contents)
    command_line.say(f"saved  {target}, {describe(parameters)}")
