"""PyTorch's own files: a state_dict that torch.save() has written.

Such a file is a program for Python's unpickler, so it is left to PyTorch, which reads it without
executing what is not on its list.
"""

from __future__ import annotations

import collections
import io
import pathlib
import types

import numpy as np

from stagewise.command_line import Error
from stagewise.files import expect_file, replacing

# The metadata are an attribute of the dictionary, as PyTorch's own `_metadata`: torch.save() and
# torch.load() keep it, and load_state_dict() finds no key that it does not know.
ATTRIBUTE = "stagewise"


def _pytorch(path: pathlib.Path) -> types.ModuleType:
    """PyTorch, which takes a second to load: only the files that need it wait for it."""
    try:
        import torch
    except ImportError:
        raise Error(f"{path} needs PyTorch, which this python3 does not have; install it, or use "
                    ".safetensors") from None
    return torch


def write(path: pathlib.Path, tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> None:
    """Writes a file, as a whole or not at all.

    :raise Error: naming the file and the reason; or there is no PyTorch."""
    torch = _pytorch(path)
    state = collections.OrderedDict((name, torch.from_numpy(values.copy())) for name, values in tensors.items())
    setattr(state, ATTRIBUTE, metadata)
    data = io.BytesIO()  # PyTorch's own error for a full disk is misleading
    torch.save(state, data)
    with replacing(path, "file") as partial:
        partial.write_bytes(data.getvalue())


def read(path: pathlib.Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Reads a file's tensors, and its metadata if write() has written it.

    :raise Error: naming the file and what is wrong with it; or there is no PyTorch."""
    torch = _pytorch(path)
    expect_file(path, f"cannot read {path}")
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # of many kinds, from PyTorch, its unpickler and its zip file
        raise Error(f"cannot read {path}: it is no state_dict that torch.save() has written, or damaged") from None
    if not isinstance(state, dict) or not all(
            isinstance(value, torch.Tensor) and value.layout == torch.strided
            for value in state.values()):
        raise Error(f"cannot read {path}: it is no state_dict, a dictionary of tensors")
    tensors = {}
    for name, value in state.items():
        if value.dtype not in (torch.float32, torch.float64):
            raise Error(f"cannot read {path}: its '{name}' is {value.dtype}, but only float32 "
                        "and float64 can be converted")
        tensors[name] = value.detach().numpy()
    metadata = getattr(state, ATTRIBUTE, {})
    is_ours = isinstance(metadata, dict) and all(isinstance(text, str) for item in metadata.items() for text in item)
    return tensors, metadata if is_ours else {}
