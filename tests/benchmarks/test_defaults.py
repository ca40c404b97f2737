#!/usr/bin/env python3
"""Tests of benchmarks/check_defaults.py: programs that only print, one of them with a slow default."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks"
sys.path[:0] = [str(BENCHMARKS)]
sys.dont_write_bytecode = True
import check_defaults  # noqa: E402
from measuring import Failed  # noqa: E402

HELP = """Trains.

This stage:
  --fuse NAME          one kernel for a layer, or
                       stage 03's: on, off [on]
  --timeout N          seconds to wait for others [300]
  --stream-batches NAME
                       copy batches: off, on; alone it means on [off]

Network
  --hidden LIST        widths: none for none [256]
"""

# A stage whose epochs take 1 s, or what `seconds` says for a choice; 0: the option has no effect.
PROGRAM = """#!{python} -SE
import json, sys

words = sys.argv[1:]
if words == ["train", "--help"]:
    print({help!r})
    sys.exit()
if words == ["info"]:
    print("library    CUDA runtime 13.0")
seconds = [1, *({seconds!r}[word] for word in words if word in {seconds!r})][-1]
if seconds < 0:
    sys.exit("stage04_minibatch: this cannot work.")
if seconds == 0:
    print("stage04_minibatch: --stream-batches has no effect here: it is for cnns.", file=sys.stderr)
    seconds = 0.5
if "--report" in words:
    with open(words[words.index("--report") + 1], "w") as file:
        json.dump({{"epochs": [{{"seconds": seconds}}] * 2}}, file)
"""


class Help(unittest.TestCase):
    def test_all_choices_but_defaults_and_those_that_are_exempt(self):
        self.assertEqual(check_defaults.alternatives(HELP),
                         [("fuse", "off"), ("stream-batches", "on")])

    def test_an_option_that_is_not_understood(self):
        with self.assertRaisesRegex(Failed, "--speed lists no choices"):
            check_defaults.alternatives("This stage:\n  --speed N   how fast [3]\n")
        with self.assertRaisesRegex(Failed, "no options of the stage"):
            check_defaults.alternatives("Network\n  --hidden LIST   widths: none for none\n")


class Script(unittest.TestCase):
    def check(self, seconds):
        """The exit code, what was printed, and the file that was written."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("stage04_minibatch", "make_dataset"):
                path = pathlib.Path(folder) / name
                path.write_text(PROGRAM.format(python=sys.executable, help=HELP, seconds=seconds),
                                encoding="utf-8")
                path.chmod(0o755)
            output = pathlib.Path(folder) / "defaults.md"
            done = subprocess.run(
                [sys.executable, BENCHMARKS / "check_defaults.py", "--stages", "4", "--programs",
                 folder, "--output", output, "--quick"], capture_output=True, text=True, timeout=60)
            text = output.read_text(encoding="utf-8") if output.exists() else ""
            return done.returncode, done.stdout + done.stderr, text

    def test_defaults_that_nothing_beats(self):
        code, said, text = self.check({"off": 1.5})
        self.assertEqual(code, 0, said)
        self.assertIn("0 choices", said)
        self.assertIn("| `--fuse off` | 1.50 |  |", text)

    def test_a_faster_choice_is_named(self):
        code, said, text = self.check({"--stream-batches": 0.9})
        self.assertEqual(code, 1, said)
        self.assertIn("stage 04, no option: `--stream-batches on` takes 0.90 of the", said)
        self.assertIn("| `--stream-batches on` | 0.90 | **faster** |", text)

    def test_a_choice_that_does_not_work_here(self):
        code, said, text = self.check({"off": -1})
        self.assertEqual(code, 0, said)
        self.assertIn("| `--fuse off` | - | ", text)
        self.assertIn("this cannot work", text)

    def test_an_option_without_effect_is_not_faster(self):
        code, said, text = self.check({"--stream-batches": 0})
        self.assertEqual(code, 0, said)
        self.assertIn("| `--stream-batches on` | - | has no effect here |", text)

    def test_nothing_to_measure(self):
        code, said, _ = self.check({"train": -1})
        self.assertEqual(code, 2, said)


if __name__ == "__main__":
    unittest.main()
