#!/usr/bin/env python3
"""Tests of checkpoint.py and safetensors.py in tools/stagewise, also against files that stage 01 has written."""

import json
import pathlib
import struct
import unittest

from support import Case, made_up, stage01  # first: it sets the paths

import h5py
import numpy as np

from stagewise import checkpoint, safetensors
from stagewise.checkpoint import Checkpoint
from stagewise.command_line import Error


class Checkpoints(Case):
    def expect_equal_contents(self, expected: Checkpoint, found: Checkpoint) -> None:
        """Bit by bit. The files may differ where they are of different versions of HDF5."""
        self.assertEqual(found.attributes, expected.attributes)
        networks = [one.networks() for one in (expected, found)]
        self.assertEqual(len(networks[0]), len(networks[1]))
        for mine, others in zip(*networks):
            self.assertEqual(sorted(mine), sorted(others))
            for name, values in others.items():
                self.assertTrue(mine[name].tobytes() == values.tobytes(), name)


class Files(Checkpoints):
    def sentence(self, path: pathlib.Path) -> str:
        with self.assertRaises(Error) as caught:
            checkpoint.read(path)
        return str(caught.exception).replace(str(self.folder) + "/", "")

    def test_what_is_written_is_read(self):
        path = self.folder / "a.h5"
        for dtype in (np.float32, np.float64):
            written = Checkpoint(*made_up("mlp", dtype))
            written.parameters["fc1/weight"][0, 0] = -0.0
            written.workers = [made_up("mlp", dtype, seed)[1] for seed in (5, 6)]
            written.optimizer = {"velocity/fc1/bias": written.parameters["fc1/bias"] + 1}
            checkpoint.write(path, written)
            found = checkpoint.read(path)
            self.assertEqual(list(found.parameters), ["fc1/weight", "fc1/bias", "fc2/weight",
                                                      "fc2/bias", "fc3/weight", "fc3/bias"])
            self.expect_equal_contents(written, found)
        self.assertEqual([file.name for file in self.folder.iterdir()], ["a.h5"])

    def test_names_are_in_the_order_of_the_network(self):
        names = [f"fc{number}/{leaf}" for number in (1, 2, 10, 11) for leaf in ("weight", "bias")]
        self.assertEqual(sorted(reversed(names), key=checkpoint.network_order), names)

    def test_what_is_not_finite_is_refused(self):
        sentence = ("the parameter '{}' of {}the checkpoint a.h5 is {} in its value number 2 (counted from 0), "
                    "so the network is of no use")
        for part, whose, name in (("parameters", "", "fc1/bias"), ("workers", "worker 2 in ", "fc1/bias"),
                                  ("optimizer", "the optimizer in ", "velocity/fc1/bias")):
            for value, kind in ((np.nan, "NaN"), (-np.inf, "infinite")):
                written = Checkpoint(*made_up("mlp"))
                written.workers = [made_up("mlp", seed=seed)[1] for seed in (5, 6)]
                written.optimizer = {"velocity/fc1/bias": written.parameters["fc1/bias"].copy()}
                values = getattr(written, part)
                (values[1] if part == "workers" else values)[name][2] = value
                checkpoint.write(self.folder / "a.h5", written)
                self.assertEqual(self.sentence(self.folder / "a.h5"), sentence.format(name, whose, kind))

    def test_a_long_text(self):
        written = Checkpoint(*made_up("mlp"))
        written.attributes["table"] = 100_000 * "x"
        checkpoint.write(self.folder / "a.h5", written)
        self.expect_equal_contents(written, checkpoint.read(self.folder / "a.h5"))

    def test_damage_is_noticed(self):
        path = self.folder / "a.h5"
        checkpoint.write(path, Checkpoint(*made_up("mlp")))
        with h5py.File(path, "r+") as file:
            file["parameters/fc2/bias"][1] += 1
        self.assertEqual(self.sentence(path), "the checkpoint a.h5 cannot be read: its contents do "
                         "not match its checksum, so it has been damaged or changed")
        data = path.read_bytes()
        path.write_bytes(data[:len(data) // 2])
        self.assertEqual(self.sentence(path), "the checkpoint a.h5 cannot be read: it is damaged, "
                         "cut short, or may not be opened")

    def test_other_files_are_refused(self):
        failure = "the checkpoint {} cannot be read: {}"
        self.assertEqual(self.sentence(self.folder / "no.h5"),
                         failure.format("no.h5", "there is no such file"))
        path = self.folder / "a.h5"
        path.write_text("text")
        self.assertEqual(self.sentence(path), failure.format("a.h5", "it is not an HDF5 file"))
        for name, change, why in (
                ("parameters/x", np.zeros(3, int),
                 "/parameters/x does not hold floating-point numbers of 4 or 8 bytes"),
                ("parameters/x", np.zeros(3), "some of its parameters are float, others double"),
        ):
            checkpoint.write(path, Checkpoint(*made_up("mlp")))
            with h5py.File(path, "r+") as file:
                file[name] = change
            self.assertEqual(self.sentence(path), failure.format("a.h5", why))
        with h5py.File(path, "w") as file:
            file.create_group("parameters")
        self.assertEqual(self.sentence(path), failure.format("a.h5", "it holds no parameters"))
        with h5py.File(path, "w") as file:
            file.attrs["seed"] = "seven"
            file["parameters/x"] = np.zeros(3)
        self.assertEqual(self.sentence(path),
                         failure.format("a.h5", "its attribute 'seed' is not a whole number"))

    def test_parameters_at_the_root(self):
        path = self.folder / "model.hdf5"
        with h5py.File(path, "w") as file:
            file["conv1"] = np.zeros((5, 5, 1, 2), "<f4")
            file["fc1"] = np.zeros((3, 2), ">f4")
        found = checkpoint.read(path)
        self.assertEqual(list(found.parameters), ["conv1/filter", "fc1/weight"])
        self.assertEqual(found.attributes, {"precision": "float"})


class OfStage01(Checkpoints):
    def test_its_files_come_back(self):
        """Both check the other's checksum, which covers workers and optimizer, too."""
        for precision, optimizer, kept in (("float", "momentum", 1), ("double", "momentum", 1),
                                           ("float", "adam", 2), ("double", "adam", 2)):
            stage01("train", "--train-limit", 60, "--test-limit", 20, "--hidden", "8,4", "--epochs",
                    1, "--batch-size", 20, "--precision", precision, "--workers", 2, "--average",
                    "weights", "--optimizer", optimizer, "--save", "a.h5", folder=self.folder)
            contents = checkpoint.read(self.folder / "a.h5")
            self.assertEqual(contents.attributes["hidden"], "8,4")
            self.assertEqual(len(contents.workers), 2)
            self.assertEqual(len(contents.optimizer), kept * 2 * 6)
            checkpoint.write(self.folder / "b.h5", contents)
            self.expect_equal_contents(contents, checkpoint.read(self.folder / "b.h5"))
            stage01("evaluate", "--load", "b.h5", "--test-limit", 20, folder=self.folder)
            stage01("train", "--resume", "b.h5", "--epochs", 2, folder=self.folder)


def bytes_of(header: object, numbers: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + numbers


def entry(begin: int, end: int, shape: list, dtype: str = "F32") -> dict:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


class Safetensors(Case):
    """Against the format, byte by byte."""

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
