#!/usr/bin/env python3
"""Tests of benchmarks/measure_counters.py and measure_kernels.py: no GPU and no Nsight Compute, only what
they print."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
sys.dont_write_bytecode = True
import measure_counters  # noqa: E402
import measure_kernels  # noqa: E402

COLUMNS = ('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream",'
           '"Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit",'
           '"Metric Value"')


def line(launch, kernel, metric, unit, value):
    return (f'"{launch}","71","ladder","127.0.0.1","{kernel}","1","7","(256, 1, 1)",'
            f'"(65536, 1, 1)","0","9.0","Command line profiler metrics","{metric}","{unit}",'
            f'"{value}"')


SUM = "void stagewise::shared_memory::block_sums_kernel<LoadOne, Sequential, float>(long, float *)"
OUTPUT = "\n".join([
    "==PROF== Connected to process 71 (/build/cuda/bin/ladder)",
    "ladder on GPU (NVIDIA H200, 132 multiprocessors, 150 GB)",
    '==PROF== Profiling "block_sums_kernel" - 0: 0%....50%....100% - 4 passes',
    "==PROF== Disconnected from process 71",
    COLUMNS,
    line(0, SUM, measure_counters.DRAM, "%", "41.63"),
    line(0, SUM, measure_counters.TIME, "ns", "61,920"),
    line(0, SUM, measure_counters.SECTORS[0], "sector/request", "4"),
    line(0, SUM, measure_counters.SECTORS[1], "sector/request", "1"),
    line(0, SUM, measure_counters.CONFLICTS[0], "", "1,234,567"),
    line(0, SUM, measure_counters.CONFLICTS[1], "", "0"),
    line(0, SUM, measure_counters.OCCUPANCY, "%", "87.49"),
    line(0, SUM, measure_counters.PIPES["FMA"], "%", "3.21"),
    line(0, SUM, measure_counters.PIPES["ALU"], "%", "17.8"),
    line(0, SUM, measure_counters.PIPES["DMMA"], "%", "n/a"),
    line(1, SUM, measure_counters.TIME, "us", "2.08"),
    line(1, SUM, measure_counters.DRAM, "%", "0.10"),
    "1 of 1 verified",
])


class Parser(unittest.TestCase):
    def test_a_launch_each(self):
        launches = measure_counters.launches_of(OUTPUT)
        self.assertEqual([kernel for kernel, _ in launches], [SUM, SUM])
        first, second = (counters for _, counters in launches)
        self.assertAlmostEqual(first[measure_counters.TIME], 61.92e-6)
        self.assertAlmostEqual(second[measure_counters.TIME], 2.08e-6)
        self.assertEqual(first[measure_counters.CONFLICTS[0]], 1234567)
        self.assertIsNone(first[measure_counters.PIPES["DMMA"]])

    def test_the_longest_launch_counts(self):
        row = measure_counters.row_of("sequential", measure_counters.launches_of(OUTPUT))
        self.assertEqual(row, ["`sequential`", "`block_sums_kernel`", 2, "64 us", "4.0", "1.0",
                               "1,234,567", "0", "87 %", "ALU 18 %", "42 %"])

    def test_what_was_not_counted_stays_empty(self):
        row = measure_counters.row_of("x", [("kernel(long)", {measure_counters.DRAM: None})])
        self.assertEqual(row[1:], ["`kernel`", 1] + ["-"] * 8)

    def test_no_launch(self):
        self.assertEqual(measure_counters.launches_of("==WARNING== No kernels were profiled.\n"), [])
        self.assertEqual(measure_counters.launches_of(COLUMNS), [])


class Kernels(unittest.TestCase):
    """The table of a training's kernels."""

    @staticmethod
    def launch(kernel, seconds, sectors=4.0):
        return kernel, {measure_counters.TIME: seconds, measure_counters.SECTORS[0]: sectors}

    def test_a_row_for_each_kernel_by_average_time(self):
        rows = measure_kernels.rows_of([
            self.launch("void a::(anonymous namespace)::gemm_kernel<double>(int)", 10e-6, 4.0),
            self.launch("void a::gemm_kernel<double>(int)", 30e-6, 8.0),
            self.launch("void a::relu_kernel<double>(int)", 60e-6)])
        self.assertEqual([row[:5] for row in rows],
                         [["`relu_kernel`", 1, "60 us", "60.0%", "4.0"],
                          ["`gemm_kernel`", 2, "20 us", "40.0%", "8.0"]])

    def test_what_takes_next_to_nothing_is_left_out(self):
        rows = measure_kernels.rows_of([self.launch("long_kernel()", 1.0),
                                        self.launch("short_kernel()", 0.9e-3),
                                        ("unknown_kernel()", {measure_counters.TIME: None})])
        self.assertEqual([row[0] for row in rows], ["`long_kernel`"])


LADDER = """#!/bin/sh
echo "Problem:"
echo "  --rung NAME          all, first, slow,"
echo "                       broken, last [all]"
echo "  --repetitions N      measurements"
"""
NCU = """#!/bin/sh
PATH=/usr/bin:/bin
case "$*" in
  *--query-metrics*) echo "gpu__time_duration   Counter  ns  duration" ;;
  *"--rung slow"*) exec sleep 60 ;;
  *"--rung broken"*) echo "==ERROR== The application returned an error code (1)."; exit 9 ;;
  *) cat "$(dirname "$0")/output" ;;
esac
"""


class Script(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.put("ladder", LADDER)

    def put(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        (self.folder / name).chmod(0o755)

    def written(self):
        command = [sys.executable, BENCHMARKS / "measure_counters.py", "--programs", self.folder,
                   "--output", self.folder / "counters.md", "--ladders", "reduce",
                   "--precisions", "float", "--limit", "2"]
        environment = {**os.environ, "PATH": str(self.folder)}
        subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60)
        return (self.folder / "counters.md").read_text(encoding="utf-8")

    def test_one_rung_does_not_harm_the_others(self):
        self.put("ncu", NCU)
        self.put("output", OUTPUT)
        text = self.written()
        self.assertEqual(text.count("| `first` | `block_sums_kernel` | 2 | 64 us |"), 2, text)
        self.assertEqual(text.count("| `last` |"), 2, text)
        self.assertRegex(text, r"- `slow`: .* took more than 2 s\.")
        self.assertRegex(text, r"- `broken`: .*The application returned an error code")

    def test_without_permission(self):
        self.put("ncu", "#!/bin/sh\necho '==ERROR== ERR_NVGPUCTRPERM - The user does not have "
                        "permission to access NVIDIA GPU Performance Counters'\nexit 1\n")
        self.assertIn("Not counted: this user may not read the GPU's counters", self.written())

    def test_without_ncu(self):
        self.assertIn("Not counted: ncu, of Nsight Compute, is not there", self.written())


if __name__ == "__main__":
    unittest.main()
