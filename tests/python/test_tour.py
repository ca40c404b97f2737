#!/usr/bin/env python3
"""The tour: rows that compare stages, and what is counted."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
RESULTS = REPOSITORY / "benchmarks" / "results"
STAGE01 = os.environ["STAGEWISE_STAGE01"]
COUNTERS = {"launches": 3.0, "copies": 1.0, "loads": 100000, "load_sectors": 400000, "stores": 20000,
            "store_sectors": 160000, "distinct_bytes": 640}


class TourTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "compare_checkpoints").symlink_to(os.environ["STAGEWISE_COMPARE_CHECKPOINTS"])

    def tour(self, *words):
        return subprocess.run([REPOSITORY / "tools/tour.py", *words], cwd=self.folder, capture_output=True, text=True,
                              check=False)

    def program(self, name, script):
        """A program that is this script."""
        (self.folder / name).write_text("#!/bin/sh\n" + script)
        (self.folder / name).chmod(0o755)
        return name

    def stage(self, name, more_options=""):
        """A program that trains as stage 01 does."""
        smaller = "sed 's/--train-limit 10000/--train-limit 1000/; s/--hidden 1000/--hidden 16/'"
        return self.program(name, f"exec '{STAGE01}' $(echo \"$@\" | {smaller}) {more_options}\n")

    def counting(self, name, counters):
        """A program that reports a step of two lines, each with these counters."""
        line = {"counted_floor_seconds": 2e-6, "counters": counters}
        return self.program(name, "while [ $# -gt 0 ]; do [ $1 != --report ] || report=$2; shift; done\n"
                                  f"echo '{json.dumps({'timings': [line, line]})}' >$report\n")

    def rows(self, *programs, gpus=0):
        """What a tour through these programs prints, and the last exit code."""
        begin = self.tour("begin", "out", "--gpus", str(gpus))
        self.assertEqual(begin.returncode, 0, begin.stderr)
        text, code = begin.stdout, 0
        for program in programs:
            row = self.tour("row", "out", program)
            self.assertEqual(row.stderr, "")
            text, code = text + row.stdout, row.returncode
        text += self.tour("end", "out").stdout
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)
        return text, code

    def fails(self, sentence, *words):
        done = self.tour(*words)
        self.assertEqual((done.stderr.splitlines()[-1:], done.returncode), ([f"tour: {sentence}."], 3))

    def test_equal_stages_are_equal(self):
        text, code = self.rows(self.stage("stage01_serial"), self.stage("stage02_other", "--gemm blas"))
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"\n01_serial +CPU +\d\.\d{3} \d\.\d{3} +- -\n")
        self.assertTrue((self.folder / "out/stage01_serial.h5").exists())
        self.assertRegex(text, r"\n02_other .* \d\.\de-1\d equal\n")

    def test_a_stage_that_computes_something_else_is_noticed(self):
        text, code = self.rows(self.stage("stage01_serial"), self.stage("stage02_wrong", "--l2 1e-6"))
        self.assertEqual(code, 1)
        self.assertRegex(text, r"\n02_wrong .* DIFFERS\n")

    def test_rows_of_a_gpu_have_times(self):
        text, code = self.rows(self.stage("stage01_serial"), self.stage("stage02_other", "--gemm blas"), gpus=1)
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"\n01_serial .* 1\.00x +- ")
        self.assertRegex(text, r"\n02_other +CPU +[\d.]+ [mu]?s .*x .*x .* equal\n")

    def test_processes_that_share_a_gpu_have_no_times(self):
        self.program("mpirun", "while [ $1 != none ]; do shift; done; shift; exec \"$@\"\n")
        self.stage("stage05_mpi")
        self.stage("stage01_serial")
        os.environ["PATH"] = f"{self.folder}:{os.environ['PATH']}"
        text, _ = self.rows("stage01_serial", "stage05_mpi", gpus=1)
        self.assertRegex(text, r"\n05_mpi +CPU( +-){4} \d\.\d{3}")
        self.assertIn("and the only GPU", text)
        text, _ = self.rows("stage01_serial", "stage05_mpi", gpus=2)
        self.assertRegex(text, r"\n05_mpi +CPU +[\d.]+ [mu]?s")

    def test_old_results_are_not_taken_for_new_ones(self):
        self.rows(self.stage("stage01_serial"))
        self.fails("stage01_serial did not write a report to out/stage01_serial.json that the tour understands; is it a "
                   "program of a stage?", "row", "out", self.program("stage01_serial", "exit 0\n"))

    def test_nothing_is_written_through_a_link(self):
        self.rows()
        precious = self.folder / "precious"
        precious.write_text("mine")
        for extension in ("h5", "json", "log"):
            (self.folder / f"out/stage01_serial.{extension}").symlink_to(precious)
        self.assertEqual(self.tour("row", "out", self.stage("stage01_serial")).returncode, 0)
        self.assertEqual(precious.read_text(), "mine")

    def test_files_of_others_are_left_alone(self):
        (self.folder / "out").mkdir()
        (self.folder / "out/mine").write_text("mine")
        self.fails("the folder out has files that no tour has written; it takes one that is new or empty", "begin", "out")

    def test_says_what_a_failing_stage_says(self):
        self.rows()
        done = self.tour("row", "out", self.stage("stage02_wrong", "--nonsense"))
        self.assertEqual(done.stderr,
                         "stage01_serial: option '--nonsense' is unknown; stage01_serial train --help lists what there "
                         "is.\ntour: stage02_wrong ended with exit code 2; what it printed is above and in "
                         "out/stage02_wrong.log.\n")
        self.fails(f"{self.folder}/none cannot be started: No such file or directory", "row", "out", "none")

    def test_counts(self):
        (self.folder / "measured.json").write_text(json.dumps({"stages": {
            "stage01_serial": {"images_per_second": 50000, "on": "a CPU core"},
            "stage02_fake": {"images_per_second": 2e6, "on": "H200"}}}))
        done = self.tour("count", "out", self.counting("stage02_fake", COUNTERS),
                         self.counting("stage03_fake", COUNTERS), "--measured", "measured.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [re.sub(" +", " ", line) for line in done.stdout.splitlines()]
        self.assertIn("01_serial - - - - - - 20.0 ms a CPU core", lines)
        self.assertIn("02_fake 6 2 240 36 4.7 4.00 us 500 us H200", lines)
        self.assertIn("03_fake 6 2 240 36 4.7 4.00 us - -", lines)

    def test_needs_programs_that_count(self):
        self.fails("stage02_fake did not write a report to out/stage02_fake_counters.json that the tour understands; is "
                   "it a program of the target instrumented_stages?", "count", "out",
                   self.counting("stage02_fake", {"launches": 3}))

    def test_needs_results_in_the_file_of_measured(self):
        (self.folder / "measured.json").write_text("{}")
        self.fails("the file measured.json of --measured has no results of stages", "count", "out",
                   self.counting("stage02_fake", COUNTERS), "--measured", "measured.json")

    def test_every_figure_has_its_source(self):
        stages = json.loads((RESULTS / "tour.json").read_text(encoding="utf-8"))["stages"]
        self.assertEqual(len(stages), 5)
        for stage, result in stages.items():
            rate = result["images_per_second"]
            forms = {f"{rate:,.0f}", f"{rate / 1e6:.2f} M", f"{rate / 1e6:.1f} M"}
            text = (RESULTS / result["from"]).read_text(encoding="utf-8")
            found = any(re.search(r"\| " + re.escape(form) + r" \|", text) for form in forms)
            self.assertTrue(found, f"{stage}: none of {forms} is in {result['from']}")


if __name__ == "__main__":
    unittest.main()
