#!/usr/bin/env python3
"""Tests of reports/002/matrix_files.py: the bytes and their orientation, there and back, and what is refused."""

import sys
import unittest

from support import NETWORKS, REPOSITORY, Case, made_up, stage01  # first: it sets the paths

import numpy as np

sys.path.append(str(REPOSITORY / "reports/002"))
import matrix_files
from stagewise import checkpoint
from stagewise.checkpoint import Checkpoint

# 2 x 3: 1, -2, 0.5; 0, -0, 256.
EXAMPLE = bytes.fromhex("93 43 53 33 37 38 48 00  02000000 03000000  0000803f 000000c0 0000003f"
                        "00000000 00000080 00008043")
NAMES = {"fc1/weight": "w1", "fc1/bias": "b1", "fc12/weight": "w12", "conv1/filter": "conv1_filter",
         "fc/weight": "fc_weight", "fc01/weight": "fc01_weight", "fc1/weight/x": "fc1_weight_x", "w": "w"}


class Names(unittest.TestCase):
    def test_are_those_of_report_002_and_tell_the_parameter(self):
        for parameter, stem in NAMES.items():
            self.assertEqual(matrix_files.file_of(parameter), f"{stem}.data")
            self.assertEqual(matrix_files.parameter_of(stem), parameter)

    def test_are_not_given_to_two(self):
        for parameter, sentence in (("w1", "w1.data is that of 'fc1/weight'"),
                                    ("fc_1/weight", "fc_1_weight.data is that of 'fc/1/weight'")):
            with self.assertRaisesRegex(matrix_files.Error, f"'{parameter}' cannot have a matrix file: {sentence}"):
                matrix_files.file_of(parameter)


class Matrices(Case):
    def put(self, name: str, values: object) -> None:
        """A matrix file in the folder net."""
        (self.folder / "net").mkdir(exist_ok=True)
        data = values if isinstance(values, bytes) else matrix_files.bytes_of(np.array(values, float))
        (self.folder / "net" / f"{name}.data").write_bytes(data)

    def read(self, name: str) -> np.ndarray:
        return matrix_files.read_matrix(self.folder / "net" / f"{name}.data")

    def save(self, name: str, *of: object, **how: object) -> Checkpoint:
        contents = Checkpoint(*made_up(*of, **how))
        checkpoint.write(self.folder / name, contents)
        return contents

    def expect_refusals(self, *words: str, sentence: str) -> None:
        self.expect_failure(2, sentence, "matrix_files", *words)

    def test_bytes(self):
        self.put("x", EXAMPLE)
        self.assertEqual(self.read("x").tolist(), [[1, -2, 0.5], [0, 0, 256]])
        self.assertTrue(np.signbit(self.read("x")[1, 1]))
        self.assertEqual(matrix_files.bytes_of(self.read("x")), EXAMPLE)

    def test_damaged_files_leave_the_checkpoint_as_it_was(self):
        def changed(place: int, text: str) -> bytes:
            return EXAMPLE[:place] + bytes.fromhex(text) + EXAMPLE[place + len(text) // 2:]

        self.save("a.h5", "mlp")
        before = (self.folder / "a.h5").read_bytes()
        for data, sentence in (
                (b"", "is no matrix file: it has 0 bytes, and the header alone takes 16"),
                (EXAMPLE[:15], "is no matrix file: it has 15 bytes, and the header alone takes 16"),
                *((changed(i, f"{EXAMPLE[i] ^ 0x20:02x}"), "is no matrix file: it begins with 0x"
                   + changed(i, f"{EXAMPLE[i] ^ 0x20:02x}")[:8].hex() + " where 0x9343533337384800 was expected")
                  for i in range(8)),
                (EXAMPLE[:-1], "is cut short: its header announces a matrix of 2 x 3 floats, but only 23 bytes follow "
                 "it"),
                (EXAMPLE + b"\0", "is too long: its header announces a matrix of 2 x 3 floats, but 25 bytes follow it"),
                # More bytes than 64 bits count, and as many as are there in 32 bits.
                (changed(8, "ffffffffffffffff"), "is cut short: its header announces a matrix of 4294967295 x "
                 "4294967295 floats, but only 24 bytes follow it"),
                (changed(8, "0300008002000000"), "is cut short: its header announces a matrix of 2147483651 x 2 floats, "
                 "but only 24 bytes follow it"),
                (changed(8, "00000000")[:16], "has a matrix of 0 x 3, but neither may be 0"),
                (changed(36, "0000c07f"), "has a NaN at [1, 2], where a finite number was expected"),
                (changed(36, "000080ff"), "has an infinite number at [1, 2], where a finite number was expected")):
            self.put("w1", data)
            self.expect_refusals("--import", "net", "a.h5", sentence=f"net/w1.data {sentence}")
            self.expect_refusals("--import", "net", "new.h5", sentence=f"net/w1.data {sentence}")
        self.assertEqual((self.folder / "a.h5").read_bytes(), before)
        self.assertFalse((self.folder / "new.h5").exists())

    def test_there_and_back(self):
        """Bit for bit, with a row for each output; what is no parameter stays, what belonged to the old ones goes."""
        for name in NETWORKS:
            contents = self.save("a.h5", name)
            self.run_well("matrix_files", "--export", f"{name}/net", "a.h5")
            for key, values in contents.parameters.items():
                file = self.folder / name / "net" / matrix_files.file_of(key)
                expected = values[None] if values.ndim < 2 else np.moveaxis(values, -1, 0).reshape(values.shape[-1], -1)
                self.assertTrue((matrix_files.read_matrix(file) == expected).all(), (name, key))
            other = Checkpoint(*made_up(name, seed=7))
            other.workers, other.optimizer = [other.parameters], {"velocity/fc1/weight": np.ones(2, "<f4")}
            checkpoint.write(self.folder / "b.h5", other)
            self.run_well("matrix_files", "--import", f"{name}/net", "b.h5")
            self.expect_equal_files("a.h5", "b.h5", name)
            self.run_well("matrix_files", "--export", f"{name}/net", "b.h5")  # over itself

    def test_what_it_says(self):
        self.save("a.h5", "mlp", np.float64)
        self.assertEqual(self.run_well("matrix_files", "--export", "net", "a.h5"),
                         "w1.data  6 x 12  fc1/weight\nb1.data   1 x 6  fc1/bias\nw2.data   5 x 6  fc2/weight\n"
                         "b2.data   1 x 5  fc2/bias\nw3.data   7 x 5  fc3/weight\nb3.data   1 x 7  fc3/bias\n"
                         "written to net, rounded to float: the checkpoint's doubles have 9 digits more\n")
        self.assertTrue(self.run_well("matrix_files", "--import", "net", "a.h5").endswith("\nread from net into a.h5\n"))
        self.assertEqual(checkpoint.read(self.folder / "a.h5").precision(), "double")
        self.assertTrue(self.run_well("matrix_files", "--import", "net", "b.h5").endswith(
            "\nread from net into the new b.h5: mlp, relu, cross-entropy, float\n"))

    def test_a_bias_may_be_a_column(self):
        self.save("a.h5", "mlp")
        self.run_well("matrix_files", "--export", "net", "a.h5")
        self.put("b2", np.arange(5)[:, None])
        self.run_well("matrix_files", "--import", "net", "a.h5")
        self.assertEqual(checkpoint.read(self.folder / "a.h5").parameters["fc2/bias"].tolist(), [0, 1, 2, 3, 4])

    def test_doubles_that_are_no_floats(self):
        contents = Checkpoint(*made_up("mlp", np.float64))
        contents.parameters["fc1/weight"][1, 2] = -1e39
        checkpoint.write(self.folder / "a.h5", contents)
        self.expect_refusals("--export", "net", "a.h5",
                             sentence="the parameter 'fc1/weight' has a value of -1e+39, which no finite float is")
        self.assertFalse((self.folder / "net").exists())

    def test_an_mlp_without_a_checkpoint(self):
        for widths, biases in (((7, 5, 4, 2), "on"), ((4, 3), "off")):
            for layer, (inputs, outputs) in enumerate(zip(widths, widths[1:]), start=1):
                self.put(f"w{layer}", np.arange(inputs * outputs).reshape(outputs, inputs))
                if biases == "on":
                    self.put(f"b{layer}", np.ones((1, outputs)))
            self.run_well("matrix_files", "--import", "net", f"{biases}.h5")
            found = checkpoint.read(self.folder / f"{biases}.h5")
            self.assertEqual({name: found.attributes[name] for name in ("model", "hidden", "biases")},
                             {"model": "mlp", "biases": biases,
                              "hidden": ",".join(map(str, widths[1:-1])) or "none"})
            self.assertTrue((found.parameters["fc1/weight"] == self.read("w1").T).all())
            for path in (self.folder / "net").iterdir():
                path.unlink()

    def test_of_another_program_mean_the_same(self):
        """A net that tells x > 0.5, made by hand: any confusion of rows and columns costs half the accuracy."""
        for name, values in (("w1", [[1], [-1], [0]]), ("b1", [[-0.5, 0.5, 0]]), ("w2", [[0, 1, 0], [1, 0, 0]]),
                             ("b2", [[0], [0]])):
            self.put(name, values)
        self.run_well("matrix_files", "--import", "net", "step.h5")
        self.assertIn("accuracy 1.0000", stage01("evaluate", "--dataset", "step", "--load", "step.h5",
                                                 folder=self.folder))

    def test_files_that_do_not_fit(self):
        self.save("a.h5", "mlp")
        self.save("neuron.h5", "neuron")
        self.run_well("matrix_files", "--export", "net", "a.h5")
        good = {path.name[:-5]: path.read_bytes() for path in (self.folder / "net").iterdir()}
        for target, changes, sentence in (
                ("a.h5", {"w1": np.zeros((12, 6))}, "net/w1.data has a matrix of 12 x 6, but the parameter 'fc1/weight' "
                 "of shape [12, 6] takes one of 6 x 12: it lies transposed, a row is an output"),
                ("a.h5", {"b2": np.zeros((2, 2))}, "net/b2.data has a matrix of 2 x 2, but the parameter 'fc2/bias' of "
                 "shape [5] takes one of 1 x 5"),
                ("a.h5", {"w2": None}, "the matrix net/w2.data cannot be read: there is no such file"),
                ("a.h5", {"b9": np.zeros((1, 1))}, "the folder net holds b9.data, but the checkpoint a.h5 has no "
                 "parameter 'fc9/bias'"),
                ("new.h5", {"w2": np.zeros((5, 7))}, "net/w2.data has a matrix of 5 x 7, but w1.data has 6 rows: each "
                 "layer must have a column for every row of the one before"),
                ("new.h5", {"b2": None}, "the matrix net/b2.data cannot be read: there is no such file"),
                ("new.h5", {"w1": None}, "the matrix net/w1.data cannot be read: there is no such file"),
                *(("new.h5", changes, f"the folder net holds {stranger}.data, which belongs to none of the layers "
                   "w1.data, w2.data, ...; for any other network than an mlp, import into a checkpoint that has its "
                   "shapes") for changes, stranger in (({"b1": None}, "b2"), ({"w5": [[1]]}, "w5"),
                                                       ({"conv1_filter": [[1]]}, "conv1_filter")))):
            for name, data in {**good, **changes}.items():
                if data is not None:
                    self.put(name, data)
            for name in (name for name, data in changes.items() if data is None):
                (self.folder / "net" / f"{name}.data").unlink()
            self.expect_refusals("--import", "net", target, sentence=sentence)
            for name in changes.keys() - good.keys():
                (self.folder / "net" / f"{name}.data").unlink()
        self.expect_refusals("--export", "net", "neuron.h5", sentence="the folder net already holds b2.data, which "
                             "would pass for a parameter of this network; name another folder")
        self.assertFalse((self.folder / "new.h5").exists())

    def test_what_is_read_is_kept(self):
        self.save("a.h5", "neuron")
        (self.folder / "net").mkdir()
        (self.folder / "net/w1.data").symlink_to("../a.h5")
        self.expect_kept("a.h5", "net/w1.data", "matrix_files", "--export", "net", "a.h5")
        (self.folder / "net/w1.data").unlink()
        (self.folder / "net/w1.data").symlink_to("b1.data")
        self.expect_refusals("--export", "net", "a.h5", sentence="two of the matrices in net are the same file, by a "
                             "link")

    def test_all_files_or_none(self):
        self.save("a.h5", "neuron")
        (self.folder / "net/b1.data").mkdir(parents=True)
        self.expect_refusals("--export", "net", "a.h5",
                             sentence="the matrix net/b1.data cannot be written: it is a folder")
        self.assertEqual([path.name for path in (self.folder / "net").iterdir()], ["b1.data"])

    def test_wrong_usage(self):
        self.save("a.h5", "mlp")
        (self.folder / "text.h5").write_text("text")
        self.run_table("matrix_files")


if __name__ == "__main__":
    unittest.main()
