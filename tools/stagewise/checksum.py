"""The checksum that common/io/checksum.hpp describes."""

from __future__ import annotations

import struct
import zlib
from typing import Iterator, Mapping

import numpy as np

NUMBERS = {"seed": 0, "epoch": 0, "step": 0}  # and what they are in a file without them
UNCHECKED = ("model", "precision", "checksum", *NUMBERS)


def checksum_of(attributes: Mapping[str, str | int], *networks: Mapping[str, np.ndarray]) -> int:
    """The CRC-32 of a checkpoint's contents.

    :param attributes: of its root.
    :param networks: its parameters, those of its workers, and what its optimizer keeps, by their
        names."""
    value = 0
    for part in _parts(attributes, networks):
        value = zlib.crc32(part, value)
    return value


def _parts(attributes, networks) -> Iterator[bytes]:
    yield _text(attributes.get("model", ""))
    yield _text(attributes["precision"])
    for name, absent in NUMBERS.items():
        yield struct.pack("<Q", int(attributes.get(name, absent)))
    for name in sorted(attributes.keys() - set(UNCHECKED), key=_bytes):
        yield _text(name)
        yield _text(attributes[name])
    for parameters in networks:
        for name in sorted(parameters, key=_bytes):
            values = parameters[name]
            yield _text(name)
            yield struct.pack(f"<{values.ndim}Q", *values.shape)
            yield np.where(np.isnan(values), np.array(np.nan, values.dtype), values).tobytes()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(text: str) -> bytes:
    return _bytes(text) + b"\0"
