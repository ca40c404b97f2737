#!/usr/bin/env python3
"""Tests of tools/plot.py: each figure from made-up results, and from those of stage 01."""

import contextlib
import copy
import io
import json
import os
import pathlib
import re
import sys
import unittest
import unittest.mock
import xml.etree.ElementTree

from support import REPOSITORY, Case, made_up, stage01  # first: it sets the paths

try:
    import matplotlib
except ImportError:
    print("Skipped: Matplotlib was not found; to have it: sudo apt install python3-matplotlib")
    sys.exit(0)

import h5py
import matplotlib.colors
import matplotlib.figure
import matplotlib.image
import numpy as np

import plot
from stagewise import checkpoint, confusion, curves, mistakes, mosaic, roofline, scaling, theme
from stagewise.checkpoint import Checkpoint

SVG = "{http://www.w3.org/2000/svg}"
LIGHT = theme.THEMES["light"]
MODEL = "mlp 784-8-10, relu, cross-entropy"


def training(epochs: int = 3, rate: float = 1000.0, validates: bool = False,
             **more: object) -> dict:
    """A report of a training."""
    rows = [{"epoch": epoch, "train_loss": 1 / epoch, "train_accuracy": 1 - 1 / epoch, "seconds": 1,
             "images_per_second": rate / epoch} for epoch in range(1, epochs + 1)]
    for row in rows if validates else []:
        row |= {"validation_loss": 2 / row["epoch"], "validation_accuracy": 0.5}
    return {"stage": "stage01_serial", "model": MODEL, "precision": "float", "batch_size": 100,
            "cuda_on_cpu": False, "epochs": rows, **more}


def evaluation(**more: object) -> dict:
    return {"stage": "stage01_serial", "model": MODEL, "epochs": [], **more}


MATRIX = {"counts": [[5, 1, 0], [0, 7, 0], [2, 0, 1234]], "precision": [5 / 7, 7 / 8, None],
          "recall": [5 / 6, 1, 0.998]}
MISTAKE = {"sample": 17, "label": 2, "predicted": 0, "confidence": 0.875,
           "image": {"channels": 1, "rows": ["00ff80", "102030"]}}


class Figures(Case):
    def put(self, name: str, report: object) -> pathlib.Path:
        path = self.folder / name
        path.write_text(report if isinstance(report, str) else json.dumps(report), encoding="utf-8")
        return path

    def put_checkpoint(self, name: str, network: str) -> pathlib.Path:
        checkpoint.write(self.folder / name, Checkpoint(*made_up(network)))
        return self.folder / name

    def draw(self, *words: object) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            plot.main([*map(str, words)])

    def texts(self, *words: object) -> list[str]:
        """The texts of a figure that is drawn as SVG."""
        output = self.folder / "figure.svg"
        self.draw(*words, "--output", output)
        root = xml.etree.ElementTree.parse(output).getroot()
        return ["".join(item.itertext()).strip() for item in root.iter(SVG + "text")]

    def expect_texts(self, expected: tuple[str, ...], *words: object) -> list[str]:
        """Expects these texts among those of a figure, which it returns."""
        texts = self.texts(*words)
        for text in expected:
            self.assertIn(text, texts)
        return texts

    def sentence(self, *words: object) -> str:
        """What plot says about these words."""
        with self.assertRaises(plot.Error) as caught:
            self.draw(*words, "--output", self.folder / "no.svg")
        self.assertFalse((self.folder / "no.svg").exists())
        return str(caught.exception).replace(f"{self.folder}/", "")


class Files(Figures):
    def test_all_of_them_in_both_forms_and_themes(self):
        self.put("training.json", training(validates=True))
        self.put("evaluation.json", evaluation(confusion=MATRIX, mistakes=[MISTAKE]))
        self.put_checkpoint("mlp.h5", "mlp")
        self.put_checkpoint("cnn.h5", "cnn")
        files = {"curves": "training.json", "weights": "mlp.h5", "filters": "cnn.h5",
                 "confusion": "evaluation.json", "mistakes": "evaluation.json",
                 "scaling": "training.json"}
        for figure, file in files.items():
            def draw(name: str, colors: str) -> bytes:
                output = self.folder / name
                self.draw(figure, self.folder / file, "--output", output, "--theme", colors)
                return output.read_bytes()

            drawn = draw("1.svg", "light")
            draw("2.svg", "light")
            self.expect_equal_files("1.svg", "2.svg", figure)
            self.assertLess(len(drawn), 60_000, figure)
            self.assertNotIn(b"<dc:date>", drawn)
            self.assertIn(LIGHT.paper.encode(), drawn)
            draw("1.png", "dark")
            corner = matplotlib.image.imread(self.folder / "1.png")[-1, -1, :3]
            paper = matplotlib.colors.to_rgb(theme.THEMES["dark"].paper)
            self.assertLess(np.abs(corner - paper).max(), 0.01, figure)

    def test_the_users_settings_do_not_matter(self):
        self.put("training.json", training())
        self.run_well("plot", "curves", "training.json", "--output", "1.svg")
        self.put("matplotlibrc", "font.size: 30\nlines.linewidth: 9\n")
        self.assertEqual(self.run_well("plot", "curves", "training.json"), "saved  curves.svg\n")
        self.expect_equal_files("1.svg", "curves.svg")


class Curves(Figures):
    def test_of_a_report(self):
        found = curves.read(self.put("a.json", training(validates=True)))
        self.assertEqual(found.training["loss"], [(1, 1), (2, 1 / 2), (3, 1 / 3)])
        self.assertEqual(found.validation["loss"], [(1, 2), (2, 1), (3, 2 / 3)])
        self.assertEqual(found.training["accuracy"], [(1, 0), (2, 1 / 2), (3, 1 - 1 / 3)])
        self.assertEqual(found.validation["accuracy"], [(1, 0.5), (2, 0.5), (3, 0.5)])

    def test_steps_take_the_place_of_epochs(self):
        steps = [{"epoch": epoch, "step": step, "loss": 1 / step, "accuracy": step / 20}
                 for epoch, step in ((1, 4), (1, 5), (2, 9), (2, 10))]
        found = curves.read(self.put("a.json", training(2, validates=True, steps=steps)))
        self.assertEqual(found.training["loss"],
                         [(0.8, 1 / 4), (1, 1 / 5), (1.8, 1 / 9), (2, 1 / 10)])
        self.assertEqual([x for x, _ in found.validation["loss"]], [1, 2])

    def test_of_a_log(self):
        path = self.put("a.csv", "epoch,step,loss,accuracy,learning_rate,images_per_second,"
                        "validation_loss,validation_accuracy\n"
                        "3,25,0.5,0.75,0.1,7,,\n3,30,0.25,0.875,0.1,7,0.375,0.5\n")
        found = curves.read(path)
        self.assertEqual(found.training["loss"], [(2.5, 0.5), (3, 0.25)])
        self.assertEqual(found.validation["accuracy"], [(3, 0.5)])

    def test_names(self):
        paths = [self.put("a.json", training()), self.put("b $x$.json", training(validates=True))]
        self.expect_texts(("a", "b $x$", "loss", "accuracy", "epoch", "training", "validation"),
                          "curves", *paths, "--log")
        self.assertNotIn("a", self.expect_texts(("zwei",), "curves", *paths, "--labels", "eins,zwei"))
        (self.folder / "x").mkdir()
        other = self.put("x/a.json", training())
        self.expect_texts((str(other),), "curves", paths[0], other)


class Weights(Figures):
    def test_mosaic(self):
        images = np.arange(5 * 2 * 1 * 3).reshape(5, 2, 1, 3) / 100
        found = mosaic.mosaic(images, 3, LIGHT)
        self.assertEqual(found.shape, (5, 5, 3))
        for number, (top, left) in enumerate([(0, 0), (0, 2), (0, 4), (3, 0), (3, 2)]):
            self.assertEqual(found[top:top + 2, left].tolist(), images[number, :, 0].tolist())
        paper = matplotlib.colors.to_rgb(LIGHT.paper)
        for pixel in (found[2, 0], found[0, 1], found[4, 4]):
            self.assertEqual(tuple(pixel), paper)

    def test_colors(self):
        found, most = mosaic.colored(np.array([[[-2.0, 0.0], [1.0, 2.0]]]), LIGHT)
        self.assertEqual(most, 2)
        for place, color in (((0, 0), LIGHT.series[1]), ((1, 1), LIGHT.series[0]),
                             ((0, 1), LIGHT.paper)):
            distance = np.abs(found[0][place] - matplotlib.colors.to_rgb(color)).max()
            self.assertLess(distance, 0.01, place)
        found, most = mosaic.colored(np.array([[[[-4.0, 0.0, 4.0]]]]), LIGHT)
        self.assertEqual(found.tolist(), [[[[0, 0.5, 1]]]])

    def test_titles(self):
        for figure, network, options, title in (
                ("weights", "mlp", "--most 4", "fc1/weight of a.h5: the first 4 of 6 units"),
                ("weights", "neuron", "", "fc1/weight of a.h5: 1 unit"),
                ("filters", "cnn", "", "conv1/filter of a.h5: 32 filters"),
                ("filters", "cnn", "--layer conv2 --most 3", "conv2/filter of a.h5: the first 3 of 64 filters, a row "
                 "each, a column for each of 32 channels")):
            self.expect_texts((title,), figure, self.put_checkpoint("a.h5", network), *options.split())

    def test_parameters_of_report_001(self):
        with h5py.File(self.folder / "model.hdf5", "w") as file:
            file["conv1"] = np.ones((5, 5, 1, 2), "<f4")
        self.expect_texts(("conv1/filter of model.hdf5: 2 filters",), "filters", self.folder / "model.hdf5")


class Evaluations(Figures):
    def test_confusion(self):
        names = ["cat", "dog", "$5 bill"]
        path = self.put("a.json", evaluation(confusion=MATRIX, class_names=names))
        texts = self.expect_texts(("cat", "$5 bill", "7", "1,234", "0.833", "0.714", "answer",
                                   f"{MODEL}: accuracy 0.9976 of 1,249 samples"), "confusion", path)
        self.assertNotIn("0", texts, "what does not occur")
        large = {"counts": np.eye(40, dtype=int).tolist()}
        texts = self.expect_texts(("38",), "confusion", self.put("a.json", evaluation(confusion=large)))
        self.assertNotIn("recall", texts)

    def test_mistakes(self):
        path = self.put("a.json", evaluation(mistakes=[MISTAKE] * 9, class_names=["a", "b", "c"]))
        found = mistakes.image_of(MISTAKE, path)
        self.assertEqual(found.shape, (2, 3, 3))
        self.assertEqual((found[0, :, 1] * 255).tolist(), [0, 255, 128])
        texts = " ".join(self.texts("mistakes", path, "--most", 7))
        self.assertEqual(texts.count("sample 17: c"), 7)
        self.assertEqual(texts.count("taken for a, 0.88"), 7)
        colors = {"image": {"channels": 3, "rows": ["000102030405"]}}
        self.assertEqual((mistakes.image_of(colors, path) * 255).tolist(), [[[0, 1, 2], [3, 4, 5]]])

class Scaling(Figures):
    def test_labels_say_what_differs(self):
        def labels(*reports: dict) -> list[str]:
            paths = [self.put(f"{number}.json", report) for number, report in enumerate(reports)]
            return [run.label for run in scaling.read(paths, None)]

        stage05 = {"stage": "stage05_mpi"}
        self.assertEqual(labels(training(ranks=1), training(ranks=2)), ["1 rank", "2 ranks"])
        self.assertEqual(labels(training(), training(ranks=2, precision="double", **stage05)),
                         ["stage01_serial, float, 1 rank", "stage05_mpi, double, 2 ranks"])
        self.assertEqual(labels(training(), training(workers=4)), ["1 worker", "4 workers"])
        self.assertEqual(labels(training(), training(ranks=4, workers=4)), ["1 rank", "4 ranks"])
        self.assertEqual(labels(training(), training()), ["0", "1"])

    def test_speed_ups(self):
        paths = [self.put(f"{ranks}.json", training(rate=rate, ranks=ranks))
                 for ranks, rate in ((1, 1000.0), (2, 1500.0), (4, 123456.0))]
        self.expect_texts(("1.00x, 100%", "1.50x, 75%", "1 k", "1.5 k", "1 rank"), "scaling", *paths[:2])
        self.expect_texts(("with CUDA on the CPU: its times mean nothing about GPUs", "speed-up over the first", "1.00x"),
                          "scaling", paths[0], self.put("a.json", training(cuda_on_cpu=True)), "--labels", "x,y")


LIMITS = {"device": "a GPU", "bytes_per_second": 4e12, "operations_per_second": 60e12,
          "launch_seconds": 2e-6, "cache_bytes_per_second": 32e12, "shared_cycles_per_second": 2e11}


def ladder(*rows: dict, **more: object) -> dict:
    """A report of a ladder."""
    return {"stage": "ladder", "cuda_on_cpu": False, "ladder": "gemm", "m": 8, "n": 9, "k": 7,
            "precision": "float", "limits": LIMITS, **more,
            "tables": [{"heading": "rung", "rows": [*rows]}]}


def rung(name: str, seconds: float, **more: object) -> dict:
    return {"name": name, "verified": True, "operations": 6e9, "bytes": 3e8, "seconds": seconds,
            **more}


class RooflineFigure(Figures):
    def test_what_was_measured(self):
        path = self.put("a.json", ladder(rung("naive", 1e-3), rung("$tile$", 2e-4),
                                         rung("wrong", 1e-4, verified=False),
                                         {"name": "other", "skipped": "no tensor cores"}))
        found = roofline.read(path)
        self.assertEqual([point.name for point in found.points], ["naive", "$tile$"])
        self.assertEqual([point.intensity for point in found.points], [20, 20])
        self.assertAlmostEqual(found.points[1].rate, 3e13)
        texts = self.expect_texts(("naive", "$tile$", "memory, 4 TB/s", "peak, 60 TFLOP/s", "FLOP/s, measured",
                                   "gemm 8 x 9 x 7, float: the roof of a GPU"), "roofline", path)
        self.assertNotIn("L1 caches, 32 TB/s", texts)

    def test_the_reference_is_a_point(self):
        report = ladder(rung("naive", 1e-3))
        report["tables"][0]["reference"] = rung("cuBLAS", 1e-4)
        self.assertEqual([point.name for point in roofline.read(self.put("a.json", report)).points],
                         ["naive", "cuBLAS"])

    def test_what_was_counted(self):
        asked = {"load_sectors": 9e7, "store_sectors": 1e7, "distinct_bytes": 4e8, "shared_cycles": 2e6}
        conflicts = {**asked, "shared_cycles": 6e7}
        path = self.put("a.json", ladder(rung("naive", 1, counters=asked),
                                         rung("conflicts", 1, counters=conflicts), cuda_on_cpu=True))
        points = roofline.read(path).points
        self.assertAlmostEqual(points[0].intensity, 6e9 / (32 * 1e8))
        self.assertAlmostEqual(points[0].rate, 6e13)  # by operations, the L1 caches and memory alike
        self.assertAlmostEqual(points[1].rate, 6e9 / 3e-4)
        self.expect_texts(("L1 caches, 32 TB/s", "FLOP/s at most, by the counters"), "roofline", path)

    def test_lines_of_a_program(self):
        line = {"operation": "gemm  x, fc1/weight -> fc1/product", "calls": 3, "operations": 6e9,
                "bytes": 3e8, "forward_seconds": 1e-3, "backward_seconds": 0}
        path = self.put("a.json", training(limits=LIMITS, timings=[line, {**line, "operations": 0}]))
        points = roofline.read(path).points
        self.assertEqual([(point.name, point.rate) for point in points],
                         [("gemm -> fc1/product", 6e12)])
        self.texts("roofline", path)

class Refusals(Figures):
    """What has nothing to draw."""

    def test_reports_and_logs(self):
        broken = training()
        del broken["epochs"][1]["train_loss"]
        for figure, name, contents, sentence in (
                ("curves", "a.json", evaluation(), "a.json has no learning curve, since it is not of a training, or of "
                 "no epoch"),
                ("curves", "a.json", "{", "cannot read a.json: it is not JSON"),
                ("curves", "a.json", [], "a.json is not a report, which --report writes"),
                ("curves", "a.csv", "x,y\n1,2\n", "a.csv is not a log of a training, which train --csv writes"),
                ("curves", "a.csv", "epoch,step,loss,accuracy\n", "a.csv has no rows"),
                ("curves", "a.csv", "epoch,step,loss,accuracy\n1,2,x,3", "cannot use a.csv: 'loss' is missing or no "
                 "number somewhere"),
                ("curves", "a.json", broken, "cannot use a.json: 'train_loss' is missing or no number somewhere"),
                ("scaling", "a.json", evaluation(), "a.json has no times, since it is not of a training, or of no "
                 "epoch"),
                ("confusion", "a.json", evaluation(), "a.json has no confusion matrix, which evaluate --confusion "
                 "--report writes"),
                *(("confusion", "a.json", evaluation(confusion={"counts": counts}), "cannot use a.json: its 'counts' "
                   "are no square of whole numbers")
                  for counts in ([[1, 2]], [], [[1, "x"], [1, 2]], [[1], [1, 2]], None, [[2**70]])),
                ("mistakes", "a.json", evaluation(), "a.json has no mistakes, which evaluate --mistakes N --report "
                 "writes"),
                ("mistakes", "a.json", evaluation(mistakes=[]), "the network of a.json has made no mistakes, so there "
                 "is nothing to draw"),
                ("mistakes", "a.json", evaluation(mistakes=[{"sample": 1}]), "the mistakes of a.json are no images"),
                ("mistakes", "a.json", evaluation(mistakes=[{"image": {"channels": 2, "rows": ["00"]}}]),
                 "cannot use a.json: an 'image' of its mistakes is damaged"),
                ("roofline", "a.json", training(), "does not say what its device can do; ladders and train --explain "
                 "write that"),
                ("roofline", "a.json", ladder(rung("naive", 1), cuda_on_cpu=True), "which programs of the target "
                 "instrumented_programs"),
                ("roofline", "a.json", ladder({"name": "naive", "verified": True, "bytes": 3, "seconds": 1}),
                 "kernels move bytes and compute next to"),
                ("roofline", "a.json", ladder(rung("naive", 1), limits=LIMITS | {"bytes_per_second": 0}),
                 "whose limits are unknown")):
            said = self.sentence(figure, self.put(name, contents))
            self.assertIn(sentence, said)
            self.assertTrue(figure == "roofline" or said == sentence, said)

    def test_labels(self):
        path = self.put("a.json", training())
        self.assertEqual(self.sentence("curves", *[path] * 9),
                         "at most 8 curves can be told apart, and there are 9 files")
        self.assertEqual(self.sentence("curves", path, "--labels", "a,b"),
                         "--labels has 2 names, but the files are 1")

    def test_checkpoints(self):
        attributes, parameters = made_up("mlp")
        checkpoint.write(self.folder / "b.h5", Checkpoint(attributes | {"sample-shape": "9,9,1"}, parameters))
        for figure, file, network, sentence in (
                ("weights", "a.h5", "cnn", "the first layer of a.h5 is a convolution; plot filters draws it"),
                ("weights", "a.h5", "mlp of a table", "the network of a.h5 takes samples of shape 9, which are no "
                 "images"),
                ("filters", "a.h5", "mlp", "the checkpoint a.h5 has no layer 'conv1' with filters; it has no "
                 "convolutions"),
                ("weights", "b.h5", "mlp", "the checkpoint b.h5 has no 'fc1/weight' that fits its network")):
            self.put_checkpoint("a.h5", network)
            self.assertEqual(self.sentence(figure, self.folder / file), sentence)


class ConfusionNumbers(Figures):
    def test_every_number_differs_from_its_cell(self):
        for look in theme.THEMES.values():
            counts = np.array([[950, 3, 2], [4, 2, 1], [10, 0, 14]])
            picture = confusion._picture(counts, look)
            axes = matplotlib.figure.Figure().add_subplot()
            confusion._write_numbers(axes, counts, picture, look)
            self.assertEqual(len(axes.texts), 8)
            for text in axes.texts:
                column, row = text.get_position()
                cell = confusion._brightness(picture[row, column])
                letters = confusion._brightness(matplotlib.colors.to_rgb(text.get_color()))
                self.assertGreater(abs(cell - letters), 0.3, f"{look.paper} {row} {column}")


class Program(Figures):
    def test_wrong_usage(self):
        self.run_table("plot")
        self.assertRegex(self.run_well("plot", "curves", "--help"), r"--theme light\|dark")

    def run_in_shell(self, program: str, rest: str, **variables: str) -> tuple[int, str]:
        """Runs a program as the user does, in a process of its own. Returns its exit code and what it says on
        standard error."""
        path = REPOSITORY / "tools" / program
        settings = " ".join(f"{name}='{value}'" for name, value in variables.items())
        outcome = self.run_command("sh", "-c", f"{settings} '{sys.executable}' '{path}' {rest}")
        return outcome.returncode, outcome.stderr

    def test_other_outputs_and_backends(self):
        self.put("a.json", training())
        sentence = "standard output could not be written to.\n"
        for program, rest, expected in (
                ("predict_scaling.py", ">&-", (1, f"predict-scaling: {sentence}")),
                ("convert.py", "--help >&-", (1, f"convert: {sentence}")),
                ("plot.py", "curves a.json >&-", (1, f"plot: {sentence}")),
                ("plot.py", "curves a.json >&- 2>&- <&-", (1, "")), ("plot.py", "curves a.json 2>&-", (0, "")),
                ("plot.py", "--help >/dev/full", (1, f"plot: {sentence}"))):
            with self.subTest(program=program, rest=rest):
                if "/dev/full" in rest and not os.path.exists("/dev/full"):
                    self.skipTest("This system has no /dev/full.")
                self.assertEqual(self.run_in_shell(program, rest), expected)
        for program, words in (("plot.py", "curves a.json"), ("predict_scaling.py", "--figure b.svg")):
            self.assertEqual(self.run_in_shell(program, words, MPLBACKEND="nonsense"), (0, ""))

    def test_what_is_read_is_kept(self):
        self.put("a.json", training())
        self.put("b.json", training(4))
        for ending in (".svg", ".png"):
            for link in self.put_links("b.json", ending):
                self.expect_kept("b.json", link, "plot", "curves", "a.json", "b.json", "--output", link)
        self.put_checkpoint("a.h5", "mlp")
        (self.folder / "weights.svg").symlink_to("a.h5")
        self.expect_kept("a.h5", "weights.svg", "plot", "weights", "a.h5")

    def test_folder_that_is_read_only(self):
        self.put("a.json", training())
        self.make_read_only("folder")
        sentence = "the figure folder/a.svg cannot be written: Permission denied"
        self.expect_failure(1, sentence, "plot", "curves", "a.json", "--output", "folder/a.svg")
        self.expect_failure(1, sentence, "predict-scaling", "--figure", "folder/a.svg")


class Damage(Figures):
    """Reports of which a part is something else."""

    REPORTS = {
        "curves": training(1, validates=True,
                           steps=[{"epoch": 2, "step": 4, "loss": 1.5, "accuracy": 0.5}]),
        "scaling": training(1, ranks=2, workers=2),
        "confusion": {"stage": "x", "confusion": {"counts": [[5, 1], [0, 2]], "precision": [1, 1 / 3],
                                                  "recall": [5 / 6, None]}, "class_names": ["a", "b"]},
        "mistakes": {"stage": "x", "mistakes": [MISTAKE], "class_names": ["a", "b", "c"]},
        "roofline": {"stage": "ladder", "ladder": "gemm", "m": 8, "precision": "float", "limits": LIMITS,
                     "tables": [{"rows": [rung("naive", 1e-3, counters={
                         "load_sectors": 9e7, "store_sectors": 1e7, "distinct_bytes": 4e8, "shared_cycles": 2e6})],
                         "reference": rung("cuBLAS", 1e-4)}]},
    }
    OTHERS = (None, "x", [], {"x": 7}, -1, 0, 10**400, float("inf"))

    def places(self, part: object, path: tuple = ()):
        """Paths to all parts of a report."""
        if path:
            yield path
        inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        for key, value in inner:
            yield from self.places(value, (*path, key))

    def damaged(self, report: dict):
        """The report again and again, each time with something else at one of its places."""
        for number, path in enumerate(self.places(report)):
            for other in self.OTHERS[number % 2::2]:
                result = copy.deepcopy(report)
                part = result
                for key in path[:-1]:
                    part = part[key]
                part[path[-1]] = other
                yield path, other, result
            if isinstance(part, dict):
                del part[path[-1]]
                yield path, "nothing", result

    def test_is_drawn_or_refused_with_a_sentence(self):
        drawn = refused = 0
        with unittest.mock.patch.object(theme, "save"):  # what the parts become; files take longer
            for figure, report in self.REPORTS.items():
                for path, other, result in self.damaged(report):
                    try:
                        self.draw(figure, self.put("a.json", result))
                        drawn += 1
                    except plot.Error as error:
                        self.assertNotIn("\n", str(error))
                        refused += 1
                    except Exception as error:
                        raise AssertionError(f"{figure} with {other!r} at {path}") from error
        self.assertGreater(drawn, 50)
        self.assertGreater(refused, 100)

    def test_names_become_figures(self):
        """Whatever characters they have: what XML cannot hold is written as Python would."""
        odd = "a\x00\x01\x08\x1b[31m\x7f\x9f\ufffe\ud800<&>\"'$x$ b\tc\nd"
        shown = "a\\x00\\x01\\x08\\x1b[31m\\x7f\\x9f\\ufffe\\ud800<&>\"'$x$ b"
        self.put("a.json", training(model=odd, stage=odd))
        self.put("b.json", training(model=odd, stage=odd, ranks=2, precision=odd))
        named = evaluation(confusion=MATRIX, mistakes=[MISTAKE], class_names=[odd, odd + "2", odd + "3"])
        self.put("c.json", named | {"model": odd})
        self.put("d.json", ladder(rung(odd, 1e-3), precision=odd, limits=LIMITS | {"device": odd}))
        name = "\x01\x1b\udcff.h5"
        self.put_checkpoint(name, "cnn")
        (self.folder / "\x01\x1b\udcff.json").write_bytes((self.folder / "a.json").read_bytes())
        for words, expected in ((("curves", "a.json", "\x01\x1b\udcff.json"), "\\x01\\x1b\\udcff"),
                                (("scaling", "a.json", "b.json"), "1 rank"),
                                (("confusion", "c.json"), shown), (("mistakes", "c.json"), shown),
                                (("roofline", "d.json"), shown),
                                (("filters", name), "\\x01\\x1b\\udcff.h5")):
            texts = self.texts(words[0], *(self.folder / word for word in words[1:]))  # by a parser of XML
            self.assertTrue(any(expected in text for text in texts), f"{words}: {texts}")


class OfStage01(Figures):
    def test_what_it_writes_is_drawn(self):
        small = ("--train-limit", 200, "--test-limit", 100, "--epochs", 2)
        stage01("train", *small, "--validation", 50, "--log-every", 1, "--csv", "a.csv", "--report",
                "a.json", "--hidden", 12, "--save", "a.h5", folder=self.folder)
        stage01("evaluate", "--load", "a.h5", "--test-limit", 100, "--confusion", "--mistakes", 5,
                "--report", "b.json", folder=self.folder)
        for name in ("a.json", "a.csv"):
            found = curves.read(self.folder / name)
            self.assertEqual([x for x, _ in found.training["loss"]], [0.5, 1, 1.5, 2])
            self.assertEqual([x for x, _ in found.validation["loss"]], [1, 2])
        self.expect_texts(("fc1/weight of a.h5: 12 units",), "weights", self.folder / "a.h5")
        texts = self.texts("confusion", self.folder / "b.json")
        self.assertTrue(any(re.search(r"accuracy 0\.\d+ of 100 samples", text) for text in texts))
        report = json.loads((self.folder / "b.json").read_text())
        self.assertEqual(len(report["mistakes"]), 5)
        image = mistakes.image_of(report["mistakes"][0], pathlib.Path())
        self.assertEqual(image.shape, (28, 28, 3))
        self.expect_texts(tuple(f"sample {mistake['sample']}: {mistake['label']}" for mistake in report["mistakes"]),
                          "mistakes", self.folder / "b.json")
        self.texts("scaling", self.folder / "a.json")


if __name__ == "__main__":
    unittest.main()
