#!/usr/bin/env python3
"""Damaged checkpoints and safetensors files: each is refused with one sentence, and no byte of another file gets into a
result."""

import contextlib
import json
import struct
import unittest

from support import Case, made_up  # first: it sets the paths

import h5py
import numpy as np

from stagewise import checkpoint, safetensors
from stagewise.checkpoint import Checkpoint

SECRET = np.arange(1000, dtype="<f4")


class Checkpoints(Case):
    def setUp(self):
        super().setUp()
        contents = Checkpoint(*made_up("mlp"))
        contents.workers = [made_up("mlp", seed=seed)[1] for seed in (5, 6)]
        contents.optimizer = {f"velocity/{name}": values for name, values in contents.parameters.items()}
        checkpoint.write(self.folder / "good.h5", contents)
        self.whole = (self.folder / "good.h5").read_bytes()
        self.run_well("convert", "good.h5", "good.safetensors")
        (self.folder / "secret").write_bytes(SECRET.tobytes())
        with h5py.File(self.folder / "secret.h5", "w") as file:
            file["x/weight"] = SECRET

    @contextlib.contextmanager
    def damaged(self, keeps_checksum: bool = True):
        """A copy to damage."""
        (self.folder / "a.h5").write_bytes(self.whole)
        with h5py.File(self.folder / "a.h5", "r+") as file:
            if not keeps_checksum:
                del file.attrs["checksum"]
            yield file

    def expect_refused(self, about: object) -> str:
        sentence = self.expect_sentence(about, "convert", "a.h5", "a.safetensors")
        self.assertIn("a.h5", sentence, about)
        self.assertFalse((self.folder / "a.safetensors").exists(), about)
        return sentence

    def expect_refused_or_equal(self, about: object) -> bool:
        """Returns whether it was refused."""
        if self.run_here("convert", "a.h5", "a.safetensors").returncode != 0:
            self.expect_refused(about)
            return True
        self.expect_equal_files("good.safetensors", "a.safetensors", about)
        (self.folder / "a.safetensors").unlink()
        return False

    def test_attributes(self):
        with h5py.File(self.folder / "good.h5") as file:
            names = list(file.attrs)
        self.assertIn("checksum", names)
        others = ("x", "", b"\xff\xfe", 7, -7, 2**41, 1.5, True, np.arange(3), np.zeros((2, 2), "S3"),
                  ["a", "b"], h5py.Empty("f"), h5py.Empty("S1"), None)
        for name in names:
            for other in others:
                with self.damaged() as file:
                    del file.attrs[name]
                    if other is not None:
                        file.attrs[name] = other
                if f"{name}, {other}" in ("checksum, None", "precision, None", "precision, "):  # as of other programs
                    self.run_well("convert", "a.h5", "a.safetensors")
                    (self.folder / "a.safetensors").unlink()
                else:
                    self.expect_refused(f"{name} is {other!r}")

    def test_attributes_without_checksum(self):
        """Then only what they say can be wrong."""
        for name in ("model", "sample-shape", "class-count"):
            with self.damaged(False) as file:
                del file.attrs[name]
            self.assertIn(f"has no '{name}'", self.expect_refused(name))
        for name, other in (("model", "x"), ("precision", "half"), ("precision", "double"), ("activation", "x"),
                            ("loss", ""), ("biases", "maybe"), ("hidden", "6"), ("hidden", "6,x"), ("hidden", ""),
                            ("sample-shape", "4,4"), ("sample-shape", "0"), ("sample-shape", "9" * 5000),
                            ("class-count", "7,7"), ("class-count", "-7"), ("class-count", "\u0667"),
                            ("epoch", -1), ("step", -1), ("seed", -1), ("seed", 1.5), ("epoch", True),
                            ("epoch", 2**64 - 1), ("seed", "7"), ("other", 7)):
            with self.damaged(False) as file:
                file.attrs[name] = other
            self.expect_refused(f"{name} is {other}")
        with self.damaged(False) as file:
            file.attrs.update({"model": "cnn", "sample-shape": "12"})
        self.assertIn("which is no image", self.expect_refused("a cnn of a table"))

    def paths(self, kind: type) -> list[str]:
        found: list[str] = []
        with h5py.File(self.folder / "good.h5") as file:
            file.visititems(lambda name, item: found.append(name) if isinstance(item, kind) else None)
        return found

    def replacements(self, values: np.ndarray) -> dict:
        """What may be where a data set was: functions of the file and the path."""
        def external(file, path):
            file.create_dataset(path, values.shape, values.dtype, external=[("secret", 0, values.nbytes)])

        def virtual(file, path):
            layout = h5py.VirtualLayout((1000,), "<f4")
            layout[:] = h5py.VirtualSource("secret.h5", "x/weight", (1000,))
            file.create_virtual_dataset(path, layout)

        def late(file, path):
            h5py.h5d.create(file.id, path.encode(), h5py.h5t.IEEE_F32LE,
                            h5py.h5s.create_simple(values.shape))

        def assigned(value):
            return lambda file, path: file.__setitem__(path, value)

        return {
            "nothing": lambda file, path: None, "a group": lambda file, path: file.create_group(path),
            "integers": assigned(values.astype(int)), "halves": assigned(values.astype("f2")),
            "doubles": assigned(values.astype("f8")), "texts": assigned(np.full(values.shape, b"x")),
            "complex": assigned(values.astype("c8")), "a scalar": assigned(np.float32(1)),
            "an empty space": assigned(h5py.Empty("f4")), "a type": assigned(np.dtype("f4")),
            "no elements": assigned(np.zeros((0, 3), "f4")), "5 dimensions": assigned(np.zeros((1, 1, 1, 1, 3), "f4")),
            "more": assigned(np.zeros((3, *values.shape), "f4")), "turned": assigned(values.T[..., None]),
            "NaN": assigned(np.full_like(values, np.nan)), "infinite": assigned(np.full_like(values, -np.inf)),
            "chunks": lambda file, path: file.create_dataset(path, data=values, chunks=values.shape),
            "compressed": lambda file, path: file.create_dataset(path, data=values, compression="gzip"),
            "a soft link": assigned(h5py.SoftLink("/parameters/fc1/weight")),
            "a link to nothing": assigned(h5py.SoftLink("/no")),
            "a link to another file": assigned(h5py.ExternalLink("secret.h5", "/x/weight")),
            "a link to no file": assigned(h5py.ExternalLink("no.h5", "/x")),
            "another file": external, "parts of another file": virtual, "never written": late,
        }

    def test_data_sets(self):
        paths = self.paths(h5py.Dataset)
        self.assertEqual(len(paths), 4 * 6)
        for path in paths[::5] + ["parameters/fc1/weight"]:
            with h5py.File(self.folder / "good.h5") as file:
                values = file[path][...]
            for name, replace in self.replacements(values).items():
                for keeps_checksum in (True, False):
                    with self.damaged(keeps_checksum) as file:
                        del file[path]
                        replace(file, path)
                    about = f"{name} at {path}"
                    if keeps_checksum or path.startswith("parameters"):
                        self.expect_refused(about)
                    elif "link" in name or "file" in name or name in ("NaN", "infinite", "doubles", "halves"):
                        self.expect_refused(about)
                    else:  # convert leaves workers and the optimizer behind
                        self.expect_refused_or_equal(about)

    def test_groups(self):
        def loop(file, path):
            file.create_group(path)
            file[f"{path}/again"] = file[path]

        for path in ("parameters", "parameters/fc2", "workers", "workers/1", "optimizer", "optimizer/velocity/fc1"):
            for name, replace in self.replacements(SECRET).items() | {("a loop", loop)}:
                with self.damaged() as file:
                    del file[path]
                    replace(file, path)
                self.expect_refused(f"{name} at {path}")
            with self.damaged(False) as file:
                del file[path]
                file[path] = h5py.ExternalLink("secret.h5", "/x")
            self.assertIn(f"/{path} is a link to elsewhere", self.expect_refused(path))

    def test_files_that_are_cut(self):
        for length in range(0, len(self.whole), 151):
            (self.folder / "a.h5").write_bytes(self.whole[:length])
            self.expect_refused(f"{length} bytes")

    def test_bytes_that_are_flipped(self):
        refused = 0
        for place in range(0, len(self.whole), 61):
            data = bytearray(self.whole)
            data[place] ^= 1 << place % 8
            (self.folder / "a.h5").write_bytes(data)
            refused += self.expect_refused_or_equal(f"byte {place}")
        self.assertGreater(refused, 100)


class Safetensors(Case):
    def setUp(self):
        super().setUp()
        checkpoint.write(self.folder / "good.h5", Checkpoint(*made_up("mlp")))
        self.run_well("convert", "good.h5", "good.safetensors")
        self.whole = (self.folder / "good.safetensors").read_bytes()
        self.length = struct.unpack_from("<Q", self.whole)[0]
        self.header = json.loads(self.whole[8:8 + self.length])

    def expect_read_or_refused(self, about: object) -> bool:
        """Returns whether it was refused."""
        outcome = self.run_here("convert", "a.safetensors", "a.h5")
        if outcome.returncode != 0:
            self.expect_sentence(about, "convert", "a.safetensors", "a.h5")
            return True
        self.assertEqual(outcome.stderr, "", about)
        checkpoint.read(self.folder / "a.h5")  # what is written can be read
        return False

    def put(self, header: object) -> None:
        text = json.dumps(header).encode()
        (self.folder / "a.safetensors").write_bytes(
            struct.pack("<Q", len(text)) + text + self.whole[8 + self.length:])

    def test_parts_of_the_header(self):
        others = (None, 7, -1, 1.5, "", "x", "9" * 5000, "\u0667", "\ud800", "a\0b", [], {}, [0, 2**70], [[]], True)
        metadata = self.header["__metadata__"]
        for key in metadata:
            for other in others:
                self.put(self.header | {"__metadata__": metadata | {key: other}})
                self.expect_read_or_refused(f"{key} is {other!r}")
        for key in ("", "\0", "checksum", "a/b", "\ud800", "x" * 70000):
            self.put(self.header | {"__metadata__": metadata | {f"stagewise.{key}": "7"}})
            self.expect_read_or_refused(f"metadata {key[:9]!r}")
        for key in self.header:
            for other in others:
                self.put(self.header | {key: other})
                self.expect_read_or_refused(f"{key} is {other!r}")
        for key in self.header["fc1.weight"]:
            for other in others:
                self.put(self.header | {"fc1.weight": self.header["fc1.weight"] | {key: other}})
                self.assertTrue(self.expect_read_or_refused(f"{key} of fc1.weight is {other!r}"))

    def test_bytes(self):
        for place in range(0, len(self.whole), 13):
            data = bytearray(self.whole)
            data[place] ^= 1 << place % 8
            (self.folder / "a.safetensors").write_bytes(data)
            self.expect_read_or_refused(f"byte {place}")
            (self.folder / "a.safetensors").write_bytes(self.whole[:place])
            self.assertTrue(self.expect_read_or_refused(f"{place} bytes"))

    def test_numbers_that_are_not_finite(self):
        tensors, metadata = safetensors.read(self.folder / "good.safetensors")
        for value, kind in ((np.nan, "NaN"), (np.inf, "infinite")):
            changed = tensors["fc2.bias"].copy()
            changed[3] = value
            safetensors.write(self.folder / "a.safetensors", tensors | {"fc2.bias": changed}, metadata)
            self.expect_failure(1, f"the parameter 'fc2.bias' of a.safetensors is {kind} in its value number 3 "
                                "(counted from 0), so the network is of no use", "convert", "a.safetensors", "b.h5")


if __name__ == "__main__":
    unittest.main()
