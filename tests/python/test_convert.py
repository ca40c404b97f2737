#!/usr/bin/env python3
"""Tests of tools/convert.py: the same network comes out, and the same numbers come back."""

import contextlib
import io
import json
import sys
import unittest

from support import NETWORKS, REPOSITORY, Case, made_up, samples_of, stage01  # first: it sets the paths

import h5py
import numpy as np

import convert
import forward
from stagewise import checkpoint, safetensors
from stagewise.checkpoint import Checkpoint
from stagewise.network import network_of
from stagewise.pytorch_layout import to_pytorch

BOUNDS = {np.float32: 1e-6, np.float64: 1e-12}


class Layout(unittest.TestCase):
    def test_is_the_same_network(self):
        for name in NETWORKS:
            for dtype, bound in BOUNDS.items():
                attributes, parameters = made_up(name, dtype)
                network = network_of(attributes, name)
                samples = samples_of(network)
                expected = forward.ours(network, parameters, samples)
                found = forward.pytorchs(network, to_pytorch(network, parameters),
                                         forward.to_channels_first(samples))
                scale = np.abs(expected).max()
                self.assertGreater(scale, 0.01, name)
                self.assertLess(np.abs(found - expected).max(), bound * max(1, scale), name)


class Program(Case):
    def test_there_and_back(self):
        paths = [str(self.folder / name) for name in ("a.h5", "a.safetensors", "b.h5")]
        for name in NETWORKS:
            for dtype in (np.float32, np.float64):
                contents = Checkpoint(*made_up(name, dtype))
                contents.parameters["fc1/weight"].flat[0] = -0.0
                checkpoint.write(self.folder / "a.h5", contents)
                with contextlib.redirect_stdout(io.StringIO()):
                    convert.main(paths[:2])
                    convert.main(paths[1:])
                self.expect_equal_files("a.h5", "b.h5", name)
        self.assertEqual(self.run_well("convert", "b.h5", "b.safetensors"),
                         "saved  b.safetensors, 68,768 parameters in double\n")

    def test_from_somebody_else(self):
        contents = Checkpoint(*made_up("cnn"))
        checkpoint.write(self.folder / "a.h5", contents)
        network = network_of(contents.attributes, "it")
        state = {name: values.astype(float) + 1
                 for name, values in to_pytorch(network, contents.parameters).items()}
        safetensors.write(self.folder / "tuned.safetensors", state, {"format": "pt"})
        self.expect_failure(1, "tuned.safetensors does not say which network it holds; --like "
                            "names a checkpoint of the same one",
                            "convert", "tuned.safetensors", "b.h5")
        self.run_well("convert", "tuned.safetensors", "b.h5", "--like", "a.h5")
        found = checkpoint.read(self.folder / "b.h5")
        self.assertEqual(found.attributes, contents.attributes | {"precision": "double"})
        for key, values in contents.parameters.items():
            self.assertTrue((found.parameters[key] == values.astype(float) + 1).all(), key)

    def test_parameters_of_another_network(self):
        contents = Checkpoint(*made_up("mlp"))
        checkpoint.write(self.folder / "a.h5", contents)
        network = network_of(contents.attributes, "it")
        failure = "a.safetensors cannot be converted: "
        for change, sentence in (
                ({"fc2.bias": None}, "it has no 'fc2.bias', which the network needs, [5]"),
                ({"fc2.bias": np.zeros(4, "<f4")},
                 "its 'fc2.bias' is [4], but the network's is [5]"),
                ({"fc9.bias": np.zeros(4, "<f4")},
                 "its 'fc9.bias' is no parameter of the network, which has fc1.weight to fc3.bias"),
                ({"fc2.bias": np.zeros(5)}, "its parameters must all be float, or all double"),
        ):
            state = to_pytorch(network, contents.parameters) | change
            state = {name: values for name, values in state.items() if values is not None}
            safetensors.write(self.folder / "a.safetensors", state, {})
            self.expect_failure(1, failure + sentence,
                                "convert", "a.safetensors", "b.h5", "--like", "a.h5")
        self.assertFalse((self.folder / "b.h5").exists())

    def test_checkpoints_that_do_not_say_enough(self):
        for name, other, sentence in (
                ("sample-shape", None, "the checkpoint a.h5 has no 'sample-shape', so its network is unknown; train "
                 "--load FILE --save FILE adds it"),
                ("hidden", "6,five", "the 'sample-shape', 'class-count' or 'hidden' of the checkpoint a.h5 is not made "
                 "of whole numbers from 1")):
            attributes, parameters = made_up("mlp")
            del attributes[name]
            checkpoint.write(self.folder / "a.h5",
                             Checkpoint(attributes | ({name: other} if other else {}), parameters))
            self.expect_failure(1, sentence, "convert", "a.h5", "a.safetensors")

    def test_workers_stay_behind(self):
        contents = Checkpoint(*made_up("mlp"))
        contents.workers = [made_up("mlp", seed=seed)[1] for seed in (5, 6)]
        checkpoint.write(self.folder / "a.h5", contents)
        self.assertIn("note   the parameters of each of the 2 workers stay behind",
                      self.run_well("convert", "a.h5", "a.safetensors"))

    def test_wrong_usage(self):
        self.run_table("convert")
        self.assertIn("usage: convert", self.run_well("convert", "--help"))

    def test_what_is_read_is_kept(self):
        checkpoint.write(self.folder / "a.h5", Checkpoint(*made_up("mlp")))
        for link in self.put_links("a.h5", ".safetensors"):
            self.expect_kept("a.h5", link, "convert", "a.h5", link)
        self.run_well("convert", "a.h5", "b.safetensors")
        for link in ["a.h5", *self.put_links("b.safetensors", ".hdf5")]:
            read = "a.h5" if link == "a.h5" else "b.safetensors"
            self.expect_kept(read, link, "convert", "b.safetensors", link, "--like", "a.h5")
        (self.folder / "new.safetensors").symlink_to("c.safetensors")
        self.run_well("convert", "a.h5", "new.safetensors")
        self.expect_equal_files("b.safetensors", "c.safetensors")

    def test_files_that_cannot_be_written(self):
        checkpoint.write(self.folder / "a.h5", Checkpoint(*made_up("mlp")))
        (self.folder / "folder.safetensors").mkdir()
        (self.folder / "loop.safetensors").symlink_to("loop.safetensors")
        for name, why in (("folder.safetensors", "it is a folder"),
                          ("no/a.safetensors", f"there is no folder {self.folder.resolve()}/no"),
                          ("loop.safetensors", "Too many levels of symbolic links"),
                          (300 * "x" + ".safetensors", "File name too long")):
            self.expect_failure(1, f"the file {name} cannot be written: {why}", "convert", "a.h5", name)
        self.assertEqual(len(list(self.folder.iterdir())), 3)

    def test_folder_that_is_read_only(self):
        checkpoint.write(self.folder / "a.h5", Checkpoint(*made_up("mlp")))
        self.run_well("convert", "a.h5", "a.safetensors")
        self.make_read_only("folder")
        for source, target, what in (("a.h5", "folder/a.safetensors", "file"),
                                     ("a.safetensors", "folder/b.h5", "checkpoint")):
            self.expect_failure(1, f"the {what} {target} cannot be written: Permission denied",
                                "convert", source, target)

    def test_disk_that_is_full(self):
        checkpoint.write(self.folder / "a.h5", Checkpoint(*made_up("mlp of colours")))
        self.run_well("convert", "a.h5", "a.safetensors")
        program = REPOSITORY / "tools" / "convert.py"
        for words, what in (("a.h5 b.safetensors", "file b.safetensors"), ("a.safetensors b.h5", "checkpoint b.h5")):
            outcome = self.run_command("sh", "-c", f"ulimit -f 1; '{sys.executable}' '{program}' {words}")
            self.assertEqual((outcome.returncode, outcome.stderr),
                             (1, f"convert: the {what} cannot be written: File too large.\n"))


class OfStage01(Case):
    """Networks that stage 01 has trained, and what it says about samples."""

    def trained(self, *options: object) -> checkpoint.Checkpoint:
        stage01("train", "--epochs", 1, "--batch-size", 10, "--save", "a.h5", *options,
                folder=self.folder)
        return checkpoint.read(self.folder / "a.h5")

    def expect_equal(self, samples: np.ndarray) -> None:
        """Compares the converted network's outputs with what `predict` says about the samples."""
        with h5py.File(self.folder / "samples.h5", "w") as file:
            file["x"] = samples
        stage01("predict", "--load", "a.h5", "--dataset", "samples.h5", "--format", "hdf5",
                "--report", "a.json", folder=self.folder)
        report = json.loads((self.folder / "a.json").read_text())
        expected = np.array([entry["scores"] for entry in report["predictions"]])

        self.run_well("convert", "a.h5", "a.safetensors")
        state, _ = safetensors.read(self.folder / "a.safetensors")
        contents = checkpoint.read(self.folder / "a.h5")
        network = network_of(contents.attributes, "it")
        found = forward.pytorchs(network, state, forward.to_channels_first(samples)).astype(float)
        if network.model == "neuron":
            found = np.hstack([1 - found, found])
        elif network.loss == "cross-entropy":
            powers = np.exp(found - found.max(axis=1, keepdims=True))
            found = powers / powers.sum(axis=1, keepdims=True)
        bound = BOUNDS[next(iter(state.values())).dtype.type]
        self.assertLess(np.abs(found - expected).max(), bound)
        self.assertGreater(np.ptp(expected, axis=0).max(), 1000 * bound, "all look the same")

        self.run_well("convert", "a.safetensors", "b.h5")
        # This reads and checks all of it.
        stage01("evaluate", "--load", "b.h5", "--test-limit", 10, folder=self.folder)
        back = checkpoint.read(self.folder / "b.h5")
        self.assertEqual(back.attributes, contents.attributes)
        for name, values in contents.parameters.items():
            self.assertTrue(back.parameters[name].tobytes() == values.tobytes(), name)

    def images(self, name: str, count: int, *shape: int) -> None:
        """A data set of images, and their classes."""
        random = np.random.default_rng(3)
        with h5py.File(self.folder / name, "w") as file:
            file["x"] = random.random((count, *shape), np.float32)
            file["y"] = np.eye(4)[np.arange(count) % 4]

    def test_networks(self):
        """Of images in grey and in colours, and of one feature."""
        for data, shape, options in (
                ("digits", (28, 28, 1), "--train-limit 100 --test-limit 10 --hidden 12,7 --precision float"),
                ("digits", (28, 28, 1), "--train-limit 100 --test-limit 10 --hidden 12,7 --precision double"),
                ("train.h5", (6, 5, 3), "--hidden 9 --activation sigmoid --loss squared-error --precision double"),
                ("train.h5", (16, 20, 3), "--model cnn --biases on --precision double"),
                ("train.h5", (16, 20, 3), "--model cnn --biases off --precision double"),
                ("digits", (28, 28, 1), "--train-limit 20 --test-limit 10 --model cnn"),
                ("step", (1,), "--train-limit 100 --model neuron")):
            with self.subTest(data=data, options=options):
                if data == "train.h5":
                    self.images(data, 40, *shape)
                form = ["--format", "hdf5"] if data == "train.h5" else []
                contents = self.trained("--dataset", data, *form, *options.split())
                self.assertEqual(contents.attributes["sample-shape"], ",".join(map(str, shape)))
                self.expect_equal(np.random.default_rng(1).random((6, *shape), np.float32))


if __name__ == "__main__":
    unittest.main()
