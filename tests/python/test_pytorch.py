#!/usr/bin/env python3
"""Tests in PyTorch: converted networks say there what they say here. Skipped where it is not."""

import contextlib
import importlib.util
import io
import json
import re
import sys
import unittest

from support import NETWORKS, Case, made_up, samples_of, stage01  # first: it sets the paths

import numpy as np

import forward
from stagewise import safetensors, state_dict
from stagewise.network import Network, Parameters, network_of
from stagewise.pytorch_layout import to_pytorch

try:
    import torch
except ImportError:
    print("Skipped: PyTorch was not found.")
    sys.exit(0)

import run_in_pytorch

BOUNDS = {torch.float32: 1e-6, torch.float64: 1e-12}
HAS_H5PY = importlib.util.find_spec("h5py") is not None
NEEDS_H5PY = unittest.skipUnless(HAS_H5PY, "This python3 has PyTorch, but no h5py.")


def outputs(module: torch.nn.Module, samples: np.ndarray) -> np.ndarray:
    inputs = torch.from_numpy(np.ascontiguousarray(forward.to_channels_first(samples)))
    with torch.no_grad():
        return module(inputs.to(next(module.parameters()).dtype)).numpy()


class Pytorch(Case):
    def convert(self, source: str, target: str) -> None:
        import convert

        with contextlib.redirect_stdout(io.StringIO()):
            convert.main([str(self.folder / source), str(self.folder / target)])

    def expect_same(self, module: torch.nn.Module, network: Network,
                    parameters: Parameters) -> None:
        """Expects the outputs that NumPy computes."""
        samples = samples_of(network)
        expected = forward.ours(network, parameters, samples)
        bound = BOUNDS[next(module.parameters()).dtype] * max(1, np.abs(expected).max())
        self.assertLess(np.abs(outputs(module, samples) - expected).max(), bound, network)


class Outputs(Pytorch):
    def test_are_the_same(self):
        path = self.folder / "a.safetensors"
        for name in NETWORKS:
            for dtype in (np.float32, np.float64):
                attributes, parameters = made_up(name, dtype)
                network = network_of(attributes, name)
                metadata = {f"stagewise.{key}": str(value) for key, value in attributes.items()}
                safetensors.write(path, to_pytorch(network, parameters), metadata)
                self.expect_same(run_in_pytorch.load(path)[1], network, parameters)

    @NEEDS_H5PY
    def test_are_those_of_stage01(self):
        stage01("make_dataset", "--train", 60, "--test", 30, "--output", "digits",
                folder=self.folder)
        images = self.folder / "digits" / "t10k-images-idx3-ubyte"
        for options in (("--hidden", 9), ("--hidden", 9, "--precision", "double"),
                        ("--activation", "sigmoid", "--loss", "squared-error"), ("--model", "cnn")):
            stage01("train", "--train-limit", 60, "--test-limit", 20, "--batch-size", 20,
                    "--epochs", 1, "--save", "a.h5", *options, folder=self.folder)
            stage01("predict", "--load", "a.h5", "--dataset", images, "--format", "idx", "--csv",
                    "answers.csv", folder=self.folder)
            self.convert("a.h5", "a.safetensors")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                run_in_pytorch.main(self.folder / "a.safetensors", images,
                                    self.folder / "answers.csv")
            found = re.fullmatch(r"30 images, 30 answers are the same; the largest difference of a "
                                 r"probability is (\S+)\n", output.getvalue())
            self.assertTrue(found, output.getvalue())
            self.assertLess(float(found[1]), 1e-12 if "double" in options else 1e-6)


class StateDict(Pytorch):
    """Files of PyTorch's own."""

    @NEEDS_H5PY
    def test_there_and_back(self):
        from stagewise import checkpoint

        for name in NETWORKS:
            for dtype in (np.float32, np.float64):
                attributes, parameters = made_up(name, dtype)
                checkpoint.write(self.folder / "a.h5", checkpoint.Checkpoint(attributes, parameters))
                self.convert("a.h5", "a.pt")
                network = network_of(attributes, name)
                module = run_in_pytorch.build(network)
                module.to(torch.from_numpy(np.zeros(1, dtype)).dtype)
                module.load_state_dict(torch.load(self.folder / "a.pt"))  # strict, as it comes
                self.expect_same(module, network, parameters)
                self.convert("a.pt", "b.h5")
                self.expect_equal_files("a.h5", "b.h5", name)

    def test_of_a_module(self):
        attributes, parameters = made_up("cnn")
        network = network_of(attributes, "it")
        module = run_in_pytorch.build(network)
        torch.save(module.state_dict(), self.folder / "a.pt")
        tensors, metadata = state_dict.read(self.folder / "a.pt")
        self.assertEqual(metadata, {})
        self.assertEqual(list(tensors), list(to_pytorch(network, parameters)))
        samples = samples_of(network)
        found = forward.pytorchs(network, tensors, forward.to_channels_first(samples))
        self.assertLess(np.abs(outputs(module, samples) - found).max(), 1e-6)

    def test_other_files_are_refused(self):
        path = self.folder / "a.pt"
        failure = f"cannot read {path}: "
        damaged = "it is no state_dict that torch.save() has written, or damaged"
        cases = [(b"text", damaged), (torch.nn.Linear(2, 3), damaged),
                 ([torch.zeros(3)], "it is no state_dict, a dictionary of tensors"),
                 ({"a": torch.zeros(3), "b": 4}, "it is no state_dict, a dictionary of tensors"),
                 ({"a": torch.zeros(3).to_sparse()}, "it is no state_dict, a dictionary of tensors"),
                 ({"a": torch.zeros(3, dtype=torch.float16)}, "its 'a' is torch.float16, but only "
                  "float32 and float64 can be converted")]
        for contents, why in cases:
            if isinstance(contents, bytes):
                path.write_bytes(contents)
            else:
                torch.save(contents, path)
            with self.assertRaises(state_dict.Error) as caught:
                state_dict.read(path)
            self.assertEqual(str(caught.exception), failure + why)


if __name__ == "__main__":
    print(json.dumps({"PyTorch": torch.__version__, "h5py": HAS_H5PY}))
    unittest.main()
