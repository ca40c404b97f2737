#!/usr/bin/env python3
"""Tests of benchmarks/measure_reports.py and measure_stage04.py: no GPU, only what programs print."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent
BENCHMARKS = TESTS.parents[1] / "benchmarks"
sys.path[:0] = [str(BENCHMARKS), str(TESTS)]
sys.dont_write_bytecode = True
import fake_programs  # noqa: E402
import measure_reports  # noqa: E402
import measure_stage04  # noqa: E402


class Cases(unittest.TestCase):
    def test_the_same_network_for_both(self):
        self.assertEqual(measure_stage04.options_of("784-512-256-10@512,sigmoid,double"),
                         ["--hidden", "512,256", "--batch-size", "512", "--activation", "sigmoid",
                          "--precision", "double"])
        self.assertEqual(measure_stage04.name_of("784-300-10@2500,sigmoid"),
                         "784-300-10, sigmoid, 2,500")

    def test_the_fastest_counts(self):
        self.assertEqual(measure_stage04.against(6e6, [1e6, None, 2e6]),
                         ["1.00 M", "-", "2.00 M", "3.00x"])
        self.assertEqual(measure_stage04.against(6e6, [None, None]), ["-", "-", "-"])


class Timeline(unittest.TestCase):
    def test_a_step_from_one_first_kernel_to_the_next(self):
        spans = [(0, 100, 7, "load(int)")]
        for step in range(8):
            begin = 1000 + 10_000 * step
            spans += [(begin, begin + 2000, 7, "first<float>"), (begin + 3000, begin + 4000, 9, "x"),
                      (begin + 5000, begin + 6000, 7, "x")]
        step, length = measure_stage04.step_of(spans, 8)
        self.assertEqual(length, 10)
        self.assertEqual(step, [(0, 2, 7, "first<float>"), (3, 4, 9, "x"), (5, 6, 7, "x")])

    def test_a_step_that_is_no_launch(self):
        self.assertIsNone(measure_stage04.step_of([(0, 9000, 7, "whole_epoch")], 8))

    def test_names_of_kernels(self):
        self.assertEqual(measure_stage04.short_name(
            "void stagewise::(anonymous namespace)::gemm_tile_kernel<float, int(*)(long)>(long)"),
            "gemm_tile")
        self.assertEqual(measure_stage04.short_name("copy in"), "copy in")


class Numbers(unittest.TestCase):
    def test_three_digits(self):
        for value, text in ((0.04123, "0.0412"), (1, "1.00"), (99.96, "100"), (123456, "123,456"),
                            (None, "-")):
            self.assertEqual(measure_reports.digits(value), text)


class Neuron(unittest.TestCase):
    def test_the_study_alone(self):
        program = BENCHMARKS.parent / "reports/003/neuron/neuron_study.py"
        with tempfile.TemporaryDirectory() as folder:
            fake_programs.write(folder)
            for name, code, words in (("stage04_minibatch", 0, "| 400 | 0.0"), ("none", 1, "none` is not there")):
                done = subprocess.run([sys.executable, program, "--steps", "400", "--program",
                                       pathlib.Path(folder) / name], check=False, capture_output=True, text=True,
                                      timeout=100)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stdout + done.stderr)


class Script(unittest.TestCase):
    def test_every_section_without_pytorch(self):
        with tempfile.TemporaryDirectory() as folder:
            fake_programs.write(folder)
            output = pathlib.Path(folder) / "reports.md"
            command = [sys.executable, BENCHMARKS / "measure_reports.py", "--quick", "--programs",
                       folder, "--output", output]
            # Whether there is a PyTorch, and a GPU, must not matter: the peers, processes of their own, find none.
            (pathlib.Path(folder) / "torch.py").write_text("raise ImportError('hidden by a test')\n")
            subprocess.run(command, check=True, capture_output=True, timeout=100,
                           env={**os.environ, "PYTHONPATH": folder})
            text = output.read_text(encoding="utf-8")
        self.assertNotIn("Not measured", text)
        self.assertNotIn("PyTorch 0.0", text)
        self.assertEqual(text.count("\n## "), 7, text)
        self.assertIn("| 1,024 | 1,000 | 500 | 333 | 250 | - | 4.43x | 2.00x |", text)
        self.assertIn("| `gemm`, back | 184 | 0.105 | 1.00 |", text)
        self.assertIn("| stage 04, persistent | 250 | 4.00x |", text)
        self.assertIn("| 400 | 0.00250 |", text)
        self.assertIn("| memory per step | `per_step_memory` | - |", text)


if __name__ == "__main__":
    unittest.main()
