#!/usr/bin/env python3
"""Tests of tools/stagewise/safetensors.py against the format, byte by byte."""

import json
import struct
import unittest

from support import Case  # first: it sets the paths

import numpy as np

from stagewise import safetensors
from stagewise.command_line import Error


def bytes_of(header: object, numbers: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + numbers


def entry(begin: int, end: int, shape: list, dtype: str = "F32") -> dict:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


class Format(Case):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "a.safetensors"

    def test_a_file_by_hand(self):
        numbers = np.array([1, 2, 3, 4, 5, 6, -0.0, np.inf], "<f4").tobytes()
        header = {"b": entry(24, 32, [2]), "__metadata__": {"x": "y"}, "a": entry(0, 24, [2, 3])}
        self.path.write_bytes(bytes_of(header, numbers))
        tensors, metadata = safetensors.read(self.path)
        self.assertEqual(metadata, {"x": "y"})
        self.assertEqual(tensors["a"].tolist(), [[1, 2, 3], [4, 5, 6]])
        self.assertEqual(tensors["b"].tobytes(), numbers[24:])

    def test_what_is_written(self):
        tensors = {"a": np.arange(6, dtype="<f8").reshape(2, 3), "b": np.array([0.1], "<f8"),
                   "c": np.array(7, "<f8"), "d": np.zeros((0, 3), "<f8")}
        safetensors.write(self.path, tensors, {"größe": "1"})
        data = self.path.read_bytes()
        (length,) = struct.unpack_from("<Q", data)
        self.assertEqual(length % 8, 0)
        header = json.loads(data[8:8 + length])
        self.assertEqual(header["a"], entry(0, 48, [2, 3], "F64"))
        self.assertEqual(header["b"], entry(48, 56, [1], "F64"))
        self.assertEqual(data[8 + length:56 + length], tensors["a"].tobytes())
        found, metadata = safetensors.read(self.path)
        self.assertEqual(metadata, {"größe": "1"})
        for name, values in tensors.items():
            self.assertEqual(found[name].tobytes(), values.tobytes())
            self.assertEqual(found[name].shape, values.shape)

    def test_damage_is_refused(self):
        eight = bytes(8)
        good = {"a": entry(0, 8, [2])}
        damaged = [
            b"", b"1234567", bytes_of(good, eight)[:-1], bytes_of(good, eight + b"x"),
            struct.pack("<Q", 2**63) + b"{}", bytes_of(b"{", eight), bytes_of(b"\xff", eight),
            bytes_of([], b""), bytes_of({"a": 3}, b""), bytes_of({"a": {}}, b""),
            bytes_of({"a": entry(0, 8, [3])}, eight), bytes_of({"a": entry(0, 8, [-2])}, eight),
            bytes_of({"a": entry(0, 8, ["2"])}, eight), bytes_of({"a": entry(4, 8, [1])}, eight),
            bytes_of({"a": entry(0, 8, [2]), "b": entry(4, 8, [1])}, eight),
            bytes_of({"a": entry(0, 2**62, [2**60])}, eight),
            bytes_of({"a": entry(0, 8, [1])}, bytes(4)), bytes_of({"a": entry(0, 8, None)}, eight),
            bytes_of({"__metadata__": {"x": 1}}, b""),
            bytes_of({"__metadata__": []}, b""), bytes_of(b"[" * 100000, b""),
        ]
        for data in damaged:
            self.path.write_bytes(data)
            with self.assertRaises(Error, msg=data[:60]) as caught:
                safetensors.read(self.path)
            self.assertEqual(str(caught.exception),
                             f"cannot read {self.path}: it is no safetensors file, or damaged")

    def test_other_types_are_named(self):
        self.path.write_bytes(bytes_of({"a": entry(0, 2, [1], "BF16")}, b"xx"))
        with self.assertRaises(Error) as caught:
            safetensors.read(self.path)
        self.assertIn("its 'a' is BF16", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
