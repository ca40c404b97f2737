"""The safetensors format, as far as a network of float or double needs it.

A file is the header's length in 8 bytes, the header in JSON, then the numbers of all tensors, in
little-endian order:

    {"__metadata__": {"text": "text"},
     "fc1.weight": {"dtype": "F32", "shape": [256, 784], "data_offsets": [0, 802816]}, ...}

The package `safetensors` reads and writes it too, but Debian and Ubuntu do not have it, and these
few lines need nothing but NumPy. Like that package, they believe no header: every tensor must have
the bytes that its shape takes, and all of them together must be the file.
"""

from __future__ import annotations

import json
import math
import pathlib
import struct

import numpy as np

from stagewise.command_line import Error
from stagewise.files import expect_file, reason, replacing

TYPES = {"F32": np.dtype("<f4"), "F64": np.dtype("<f8")}
LENGTH = struct.Struct("<Q")


def write(path: pathlib.Path, tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> None:
    """Writes a file, as a whole or not at all.

    :raise Error: naming the file and the reason."""
    names = {dtype: name for name, dtype in TYPES.items()}
    header: dict[str, object] = {"__metadata__": metadata}
    begin = 0
    for name, values in tensors.items():
        end = begin + values.nbytes
        header[name] = {"dtype": names[values.dtype], "shape": list(values.shape), "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the numbers are aligned
    with replacing(path, "file") as partial, open(partial, "wb") as file:
        file.write(LENGTH.pack(len(text)) + text)
        for values in tensors.values():
            file.write(values.tobytes())


def read(path: pathlib.Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Reads a file's tensors and its metadata.

    :raise Error: naming the file and what is wrong with it."""
    expect_file(path, f"cannot read {path}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Error(f"cannot read {path}: {reason(error)}") from None
    try:
        return _contents(data)
    except Error as error:
        raise Error(f"cannot read {path}: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, struct.error):
        raise Error(f"cannot read {path}: it is no safetensors file, or damaged") from None


def _contents(data: bytes) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    (length,) = LENGTH.unpack_from(data)
    if length > len(data) - LENGTH.size:
        raise ValueError
    header = json.loads(data[LENGTH.size:LENGTH.size + length])
    numbers = memoryview(data)[LENGTH.size + length:]
    metadata = header.pop("__metadata__", {})
    if not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError
    tensors = {}
    end = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        if entry["dtype"] not in TYPES:
            raise Error(f"its '{name}' is {entry['dtype']}, but only F32 and F64 can be converted")
        tensors[name], end = _tensor(entry, numbers, end)
    if end != len(numbers):
        raise ValueError
    return tensors, metadata


def _tensor(entry: dict, numbers: memoryview, begin: int) -> tuple[np.ndarray, int]:
    """The tensor that begins there, and where it ends."""
    dtype = TYPES[entry["dtype"]]
    shape = entry["shape"]
    if not all(isinstance(size, int) and size >= 0 for size in shape):
        raise ValueError
    end = begin + math.prod(shape) * dtype.itemsize
    if entry["data_offsets"] != [begin, end] or end > len(numbers):
        raise ValueError
    return np.frombuffer(numbers[begin:end], dtype).reshape(shape), end
