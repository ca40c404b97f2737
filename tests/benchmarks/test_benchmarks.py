#!/usr/bin/env python3
"""Tests of the scripts that measure, with what programs and Nsight Compute print: no GPU, only made-up figures."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
sys.dont_write_bytecode = True
import check_defaults  # noqa: E402
import measure_counters  # noqa: E402
import measure_stage04  # noqa: E402
import measure_stage05  # noqa: E402
import measuring  # noqa: E402
from measure_counters import CONFLICTS, DRAM, OCCUPANCY, PIPES, SECTORS, TIME  # noqa: E402

# What the programs' command lines answer. An epoch takes 1 s divided by the stage's number, or what SECONDS says for a
# word of the command; 0: the option has no effect, less: the program fails.
PROGRAM = """#!{python} -SE
import json, sys

words = sys.argv[1:]
is_persistent = words[:1] == ["persistent"]
words = words[is_persistent:]
number = {number}
value = lambda name, otherwise: words[words.index(name) + 1] if name in words else otherwise
seconds = [1 / number, *({seconds!r}[word] for word in words if word in {seconds!r})][-1]

if words == ["train", "--help"]:
    print({help!r})
if words == ["info"]:
    print("library    CUDA runtime 13.0")
if seconds < 0:
    sys.exit("stage04_minibatch: this cannot work.")
if seconds == 0:
    print("stage04_minibatch: --stream-batches has no effect here: it is for cnns.", file=sys.stderr)
    seconds = 0.1
if "--report" in words:
    epochs = [{{"seconds": seconds, "images_per_second": 1000 / seconds, "train_loss": 0.5}}] * int(value("--epochs", 5))
    line = lambda name, forward: {{
        "operation": name + "  a, b -> c", "calls": 4, "forward_seconds": 4e-3 * forward / number,
        "backward_seconds": 4e-3 * (1 - forward) / number}}
    report = {{"epochs": epochs, "test_accuracy": 0.75, "timings": [line("gemm", 1), line("gemm", 0), line("relu", 1)]}}
    if words[0] == "evaluate":
        paths = ["eager", "captured", "persistent"] if is_persistent else ["eager"]
        report["latency"] = [{{"path": path, "median_seconds": 1e-3 / number}} for path in paths]
    with open(value("--report", ""), "w") as file:
        json.dump(report, file)
if "--csv" in words:
    steps = int(value("--train-limit", 0)) // int(value("--workers", 1)) * len(epochs)
    with open(value("--csv", ""), "w") as file:
        file.write("step,loss\\n")
        for step in range(1, steps + 1):
            if step % int(value("--log-every", 1)) == 0:
                file.write(f"{{step}},{{1 / step}}\\n")
"""
PROGRAMS = {"stage01_serial": 1, "stage02_naive_cuda": 2, "per_step_memory": 2, "stage03_shared_memory": 3,
            "stage04_minibatch": 4, "ladder": 4, "make_dataset": 1}
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


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def put(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        (self.folder / name).chmod(0o755)

    def put_programs(self, seconds=()):
        for name, number in PROGRAMS.items():
            self.put(name, PROGRAM.format(python=sys.executable, number=number, help=HELP, seconds=dict(seconds)))

    def run_script(self, path, *words, **environment):
        return subprocess.run([sys.executable, ROOT / path, *map(str, words)], capture_output=True, text=True,
                              timeout=100, cwd=self.folder, env={**os.environ, **environment})


SUM = "void stagewise::shared_memory::block_sums_kernel<LoadOne, Sequential, float>(long, float *)"


def ncu_output(*counted):
    """What ncu prints of (launch, metric, unit, value)."""
    lines = [f'"{launch}","71","ladder","127.0.0.1","{SUM}","1","7","(256, 1, 1)","(65536, 1, 1)","0","9.0","Section",'
             f'"{metric}","{unit}","{value}"' for launch, metric, unit, value in counted]
    return "\n".join([
        "==PROF== Connected to process 71 (/build/cuda/bin/ladder)", "ladder on GPU (NVIDIA H200)",
        '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",'
        '"Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"', *lines, "1 of 1 verified"])


OUTPUT = ncu_output((0, DRAM, "%", "41.63"), (0, TIME, "ns", "61,920"), (0, SECTORS[0], "sector/request", "4"),
                    (0, SECTORS[1], "sector/request", "1"), (0, CONFLICTS[0], "", "1,234,567"), (0, CONFLICTS[1], "", "0"),
                    (0, OCCUPANCY, "%", "87.49"), (0, PIPES["FMA"], "%", "3.21"), (0, PIPES["ALU"], "%", "17.8"),
                    (0, PIPES["DMMA"], "%", "n/a"), (1, TIME, "us", "2.08"), (1, DRAM, "%", "0.10"))
NCU = """#!/bin/sh
PATH=/usr/bin:/bin
case "$*" in
  *--query-metrics*) echo "gpu__time_duration   Counter  ns  duration" ;;
  *"--rung broken"*) echo "==ERROR== The application returned an error code (1)."; exit 9 ;;
  *) cat "$(dirname "$0")/output" ;;
esac
"""
LADDER = """#!/bin/sh
echo "  --rung NAME          all, first,"
echo "                       broken, last [all]"
echo "  --repetitions N      measurements"
"""


class Counters(Case):
    def test_the_longest_launch_counts(self):
        self.assertEqual(measure_counters.row_of("sequential", measure_counters.launches_of(OUTPUT)),
                         ["`sequential`", "`block_sums_kernel`", 2, "64.0 us", "4.0", "1.0", "1,234,567", "0", "87 %",
                          "ALU 18 %", "42 %"])
        self.assertEqual(measure_counters.row_of("x", [("kernel(long)", {DRAM: None})])[1:],
                         ["`kernel`", 1] + ["-"] * 8)
        self.assertEqual(measure_counters.launches_of("==WARNING== No kernels were profiled.\n"), [])

    def test_kernels_of_a_training_by_average_time(self):
        rows = measure_counters.rows_of(
            [(kernel, {TIME: seconds, SECTORS[0]: sectors}) for kernel, seconds, sectors in (
                ("void a::(anonymous namespace)::gemm_kernel<double>(int)", 10e-6, 4.0),
                ("void a::gemm_kernel<double>(int)", 30e-6, 8.0), ("void a::relu_kernel<double>(int)", 60e-6, 4.0),
                ("short_kernel()", 0.09e-6, 1.0), ("unknown_kernel()", None, 1.0))])
        self.assertEqual([row[:5] for row in rows], [["`relu_kernel`", 1, "60.0 us", "59.9%", "4.0"],
                                                     ["`gemm_kernel`", 2, "20.0 us", "40.0%", "8.0"]])

    def test_one_rung_does_not_harm_the_others(self):
        self.put_programs()
        self.put("ladder", LADDER)
        self.put("output", OUTPUT)
        for ncu, words in (
                (NCU, ("| `first` | `block_sums_kernel` | 2 | 64.0 us |", "| `last` |", "error code (1).)")),
                ("#!/bin/sh\necho '==ERROR== ERR_NVGPUCTRPERM'\nexit 1\n", ("may not read the GPU's counters",)),
                (None, ("`ncu` is not there",))):
            if ncu:
                self.put("ncu", ncu)
            else:
                (self.folder / "ncu").unlink()
            done = self.run_script("benchmarks/measure_counters.py", "--programs", self.folder, "--output", "a.md",
                                   "--sections", "1", PATH=str(self.folder))
            text = (self.folder / "a.md").read_text()
            for part in words:
                self.assertIn(part, text, done.stderr)

    def test_beside_cuda_on_the_cpu(self):
        def report(*rows, **of):
            return {"precision": "float", **of, "tables": [{"rows": [
                {"name": name, "counters": {"loads": 100, "load_sectors": loads, "stores": 10, "store_sectors": stores,
                                            "bank_conflicts": conflicts}} for name, loads, stores, conflicts in rows]}]}

        size = {"ladder": "gemm", "m": 800, "n": 1000, "k": 784}
        self.put("first.json", json.dumps(report(("naive", 204, 40, 0), **size)))
        self.put("others.json", json.dumps(report(("uncoalesced", 1600, 320, 0), ("tile-4", 500, 40, 12), **size)))
        self.put("sum.json", json.dumps(report(("sequential", 800, 10, 0), ladder="reduce", n=2**24)))
        kernel = '"stagewise::naive_cuda::gemm_kernel<double>"'
        self.put("s.csv", "\n".join([  # two launches, of which the second is the nearer
            "kernel,blocks,threads,accesses,requests,lanes,bytes,sectors,wavefronts,conflicts,distinct_bytes",
            f"{kernel},1,32,global loads,10,320,1,90,0,0,0", f"{kernel},1,32,global stores,1,32,1,8,0,0,0",
            f"{kernel},1,32,global loads,100,3200,1,250,0,0,0", f"{kernel},1,32,global stores,10,32,1,79,0,0,0\n"]))
        done = self.run_script("benchmarks/compare_counters.py", "first.json", "others.json", "sum.json", "--stage",
                               "s.csv")
        self.assertEqual(done.stdout.count("## Products: 800 x 1000 x 784, float"), 1, done.stderr)
        self.assertIn("| `naive` | 2.0 | 2.0 | 4.0 | 4.0 | 0 | 0 | same |", done.stdout)
        self.assertIn("| `uncoalesced` | 16.0 | 16.5 | 32.0 | 32.0 | 0 | 0 | within 5 % |", done.stdout)
        self.assertRegex(done.stdout, r"\| `tile-4` \| 5.0 \| 4.0 .* 12 \| [\d,]+ \| differs \|")
        self.assertRegex(done.stdout, r"The sum of 16,777,216 numbers, float\n\n.*\n.*\n\| `sequential` \| 8.0 \|")
        self.assertRegex(done.stdout, r"\| `gemm_kernel` \| 2.5 \| 2.5 \| 7.9 \| 7.9 \| .*same")


LAST_LAYER = "void stagewise::minibatch::(anonymous namespace)::output_layer_kernel<12, float>(int)"
PRODUCT = "void stagewise::shared_memory::tile_kernel<Mma, double, Tile>(int, int)"
ALL_REDUCE = "void stagewise::mpi::(anonymous namespace)::two_shot_kernel<double, 2, true>(int)"
STEP = 101_003  # ns
STEPS = 21  # so the later half has an even number of sums, whose median is a float


def trace(behind, *kernels, step=STEP):
    """The kernels (begin, end, name) in each of the steps; the rank's clock is `behind` by so many ns."""
    return "\n".join(f"{begin + first} {begin + last} 13 {name}"
                     for begin in range(1_795_752_284_503_286_929 - behind,
                                        1_795_752_284_503_286_929 - behind + STEPS * step, step)
                     for first, last, name in kernels)


def steps_of(late):
    """A last layer of 10 us, a product of 30, and a sum of 50, which begins `late` ns later on this rank, and ends on
    both at the same time."""
    return (0, 10_000, LAST_LAYER), (10_001, 40_001, PRODUCT), (45_001 + late, 95_001, ALL_REDUCE)


class Traces(unittest.TestCase):
    def test_the_parts_of_a_step(self):
        ranks = measure_stage05.spans_of_ranks([trace(0, *steps_of(0)), trace(700_000, *steps_of(4_000))])
        step, compute, wait, exchange, nothing = measure_stage05.parts_of_step(ranks, STEPS)
        # The first rank waits for 4 us, the second not at all.
        for found, expected in ((step, STEP / 1e3), (compute, 40), (wait, 2), (exchange, 46),
                                (nothing, STEP / 1e3 - 88)):
            self.assertAlmostEqual(found, expected, 6)

    def test_what_runs_when(self):
        ranks = measure_stage05.spans_of_ranks([trace(0, *steps_of(0)), trace(-31_415, *steps_of(4_000))])
        self.assertEqual(measure_stage05.rows_of_step("two", ranks, STEPS), [
            ["two", "`output_layer`", 0, "0.00", "10.00"], ["two", "`tile`", 0, "10.00", "40.00"],
            ["two", "`two_shot`", 1, "45.00", "95.00"], ["two", "`output_layer`", 2, "0.00", "10.00"],
            ["two", "`tile`", 2, "10.00", "40.00"], ["two", "`two_shot`", 3, "49.00", "95.00"],
            ["two", "the next step", 0, "101.00", "-"]])

    def test_a_step_has_only_what_runs_in_it(self):
        """Kernels that run while a step begins or ends are cut, and belong to both steps."""
        early = (20_000, 60_000, ALL_REDUCE), (70_000, 110_000, PRODUCT), (100_000, 115_000, LAST_LAYER)
        ranks = measure_stage05.spans_of_ranks([trace(behind, *early, step=100_000) for behind in (0, 777)])
        rows = measure_stage05.rows_of_step("early", ranks, STEPS)
        self.assertEqual([row[1:] for row in rows[:4]],
                         [["`tile`", 0, "0.00", "10.00"], ["`output_layer`", 0, "0.00", "15.00"],
                          ["`two_shot`", 1, "20.00", "60.00"], ["`tile`", 0, "70.00", "100.00"]])
        self.assertEqual([row[3:] for row in rows[4:8]], [row[3:] for row in rows[:4]])

    def test_a_step_from_one_first_kernel_to_the_next(self):
        spans = [(0, 100, 7, "load(int)")]
        for begin in range(1000, 81_000, 10_000):
            spans += [(begin, begin + 2000, 7, "first<float>"), (begin + 3000, begin + 4000, 9, "x"),
                      (begin + 5000, begin + 6000, 7, "x")]
        self.assertEqual(measure_stage04.step_of(spans, 8),
                         ([(0, 2, 7, "first<float>"), (3, 4, 9, "x"), (5, 6, 7, "x")], 10))
        self.assertIsNone(measure_stage04.step_of([(0, 9000, 7, "whole_epoch")], 8))


class Defaults(Case):
    def test_all_choices_but_defaults_and_those_that_are_exempt(self):
        self.assertEqual(check_defaults.alternatives(HELP), [("fuse", "off"), ("stream-batches", "on")])
        for text, sentence in (("This stage:\n  --speed N   how fast [3]\n", "--speed lists no choices"),
                               ("Network\n  --hidden LIST   widths: none for none\n", "no options of the stage")):
            with self.assertRaisesRegex(measuring.Failed, sentence):
                check_defaults.alternatives(text)

    def test_verdicts(self):
        for seconds, code, words in (
                ({"off": 0.375}, 0, ("0 choices", "| `--fuse off` | 1.50 |  |")),
                ({"--stream-batches": 0.225}, 1, ("stage 04, no option: `--stream-batches on` takes 0.90 of the",
                                                  "| `--stream-batches on` | 0.90 | **faster** |")),
                ({"off": -1}, 0, ("| `--fuse off` | - | ", "this cannot work")),
                ({"--stream-batches": 0}, 0, ("| `--stream-batches on` | - | has no effect here |",)),
                ({"--train-limit": -1}, 2, ("check_defaults.py: ",))):
            self.put_programs(seconds)
            done = self.run_script("benchmarks/check_defaults.py", "--stages", "4", "--programs", self.folder,
                                   "--output", "defaults.md", "--quick")
            text = (self.folder / "defaults.md").read_text() if code < 2 else ""
            self.assertEqual(done.returncode, code, done.stderr)
            for part in words:
                self.assertIn(part, text + done.stdout + done.stderr)


class Reports(Case):
    def test_figures(self):
        for value, text in ((0.04123, "0.0412"), (1, "1.00"), (99.96, "100"), (123456, "123,456"), (None, "-")):
            self.assertEqual(measuring.digits(value), text)
        self.assertEqual(measure_stage04.options_of("784-512-256-10@512,sigmoid,double"),
                         ["--hidden", "512,256", "--batch-size", "512", "--activation", "sigmoid", "--precision",
                          "double"])
        self.assertEqual(measure_stage04.name_of("784-300-10@2500,sigmoid"), "784-300-10, sigmoid, 2,500")
        self.assertEqual(measure_stage04.against(6e6, [1e6, None, 2e6]), ["1.00 M", "-", "2.00 M", "3.00x"])
        self.assertEqual(measuring.short_name("void a::(anonymous namespace)::tile_kernel<float, int(*)(long)>(long)"),
                         "tile")

    def test_reproduce_without_pytorch(self):
        self.put_programs()
        # Whether there is a PyTorch, and a GPU, must not matter: the peers, processes of their own, find none.
        self.put("torch.py", "raise ImportError('hidden by a test')\n")
        done = self.run_script("reports/reproduce", "--quick", "--programs", self.folder, "--output", "out",
                               PYTHONPATH=str(self.folder), STAGEWISE_DATA_DIR=str(self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        texts = {number: (self.folder / f"out/{number}.md").read_text() for number in ("000", "002", "003", "004")}
        for number, row in (("004", "| 256 | 1,000 | 500 | 333 | 250 | - | - | 2.00x |"),
                            ("004", "Not measured: wholesale is not in "), ("004", "| loop unrolled | 23.64 s |"),
                            ("002", "| `gemm`, back | 184 | 0.105 | 1.00 |"), ("002", "| stage 04, persistent | 250 | - | 4.00x |"),
                            ("002", "| 1 | 0.500000000000 |"), ("003", "| 400 | 0.00250 |"),
                            ("000", "| memory per step | `per_step_memory` | - | 92.2 |")):
            self.assertIn(row, texts[number])
        self.assertNotIn("stumbled", "".join(texts.values()).replace("stumbled over KeyError('tables')", ""))  # of a ladder that is none
        found = json.loads((self.folder / "out/004.json").read_text())
        self.assertEqual((found["is_quick"], len(found["exhibits"])), (True, 4))
        listed = (self.folder / "out/all.md").read_text()
        self.assertEqual(listed.count("\n| 00"), 24, listed)
        if importlib.util.find_spec("matplotlib"):
            self.assertTrue((self.folder / "out/004_figure_1.svg").exists())
        done = self.run_script("reports/reproduce", "--list", "005")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no report '005'; there are 000, 001", done.stderr)

    def test_the_study_of_a_neuron_alone(self):
        self.put_programs()
        for name, code, words in (("stage04_minibatch", 0, "| 400 | 0.0"), ("none", 1, "none` is not there")):
            done = self.run_script("reports/003/neuron/neuron_study.py", "--steps", "400", "--program",
                                   self.folder / name)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(words, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
