#!/usr/bin/env python3
"""Tests of tools/predict_scaling.py: formulas by hand, the fit, tables, and what is refused."""

import contextlib
import io
import itertools
import json
import pathlib
import sys
import unittest
import xml.etree.ElementTree

from support import REPOSITORY, Case  # first: it sets the paths

try:
    import matplotlib  # noqa: F401
except ImportError:
    print("Skipped: Matplotlib was not found; to have it: sudo apt install python3-matplotlib")
    sys.exit(0)

import predict_scaling
from stagewise import scaling_fit, scaling_model, scaling_points, scaling_table
from stagewise.scaling_fit import BUILT_IN
from stagewise.scaling_model import Cluster, Group, Link, Network, Step
from stagewise.scaling_points import StepPoint, SumPoint

LINK = Link(2, 10)  # 2 s, 10 B/s
NETWORK = Link(7, 5)
LAYERS = Network((784, 1000, 10), "double")
CLUSTER = Cluster(8, Link(5e-6, 400e9))
CONSTANTS = scaling_fit.fit(BUILT_IN)


class Formulas(unittest.TestCase):
    """All by hand, for 4 ranks and 100 bytes unless others are named."""

    def test_ring(self):
        self.assertEqual(scaling_model.ring(4, 100, LINK), 2 * 3 * 2 + 150 / 10)

    def test_tree(self):
        self.assertEqual(scaling_model.tree(4, 100, LINK), 2 * 2 * (2 + 10))
        self.assertEqual(scaling_model.tree(5, 100, LINK), 2 * 3 * (2 + 10))
        self.assertEqual(scaling_model.piped_tree(4, 100, LINK), 2 * 2 * 2 + 2 * 10)

    def test_one_shot(self):
        self.assertEqual(scaling_model.one_shot(4, 100, LINK), 2 + 3 * 100 / 10)
        # Two ranks send pieces of at most 1 MiB.
        size = 2**20 + 1
        self.assertEqual(scaling_model.one_shot(2, size, LINK), 2 * 2 + size / 10)
        self.assertEqual(scaling_model.inbox(4), 2**20 * 2 / 9)
        self.assertEqual(scaling_model.inbox(8), 2**20 * 4 / 49)

    def test_two_shot(self):
        self.assertEqual(scaling_model.two_shot(4, 100, LINK), 2 * 2 + 150 / 10)

    def test_nccl(self):
        hop = scaling_model.HOP
        # In one machine the ring: it sends 1.5 times the message, the tree twice.
        self.assertAlmostEqual(scaling_model.nccl(Group(1, 4, NETWORK), 100, LINK),
                               2 + 6 * hop + 150 / 10)
        # Over 16 machines the tree: 2 x 4 latencies instead of 2 x 15.
        self.assertAlmostEqual(scaling_model.nccl(Group(16, 4, NETWORK), 100, LINK),
                               2 + 6 * hop + 8 * 7 + 200 / 5)

    def test_host(self):
        """A ring, which waits twice as long where MPI asks before it sends the pieces."""
        most = scaling_model.EAGER_BYTES
        for ranks in (2, 4):
            group = Group(1, ranks, NETWORK)
            size = ranks * most
            self.assertEqual(scaling_model.host(group, size, LINK),
                             scaling_model.ring(ranks, size, LINK))
            self.assertEqual(scaling_model.host(group, size + 1, LINK),
                             scaling_model.ring(ranks, size + 1, Link(2 * 2, 10)))
        # Between two machines of two ranks: at their 5 B/s, and with two of their latencies more.
        self.assertEqual(scaling_model.host(Group(2, 2, NETWORK), 100, LINK),
                         2 * 3 * 2 + 150 / 5 + 2 * 7)

    def test_hierarchical(self):
        # Of 100 bytes, each of two ranks adds up 50 between 2 machines, at half of the 5 B/s.
        self.assertEqual(scaling_model.hierarchical(Group(2, 2, NETWORK), 100, LINK),
                         (2 * 2 + 10) + (2 * 7 + 50 / 2.5))
        self.assertEqual(scaling_model.hierarchical(Group(1, 4, NETWORK), 100, LINK),
                         scaling_model.two_shot(4, 100, LINK))

    def test_alone(self):
        for way in (scaling_model.ring, scaling_model.tree, scaling_model.piped_tree,
                    scaling_model.one_shot, scaling_model.two_shot):
            self.assertEqual(way(1, 100, LINK), 0)
        for way in (scaling_model.nccl, scaling_model.host, scaling_model.hierarchical):
            self.assertEqual(way(Group(1, 1, NETWORK), 100, LINK), 0)


class Steps(unittest.TestCase):
    def test_work(self):
        found = scaling_model.work_of(Network((3, 5, 2), "float"), 7)
        self.assertEqual(found.operations, 2 * 7 * (2 * 15 + 3 * 10))
        numbers = 2 * (21 + 35) + 3 * 15 + 2 * (35 + 14) + 3 * 10 + 14 + 10 + 2 * 35
        self.assertEqual(found.bytes, 4 * numbers)

    def test_kernels_are_those_that_info_lists(self):
        """Without sums and replicate."""
        kernels, updates = scaling_model.kernels_of, scaling_model.Updates
        self.assertEqual([kernels(n, False, updates.WITH_GRADIENTS) for n in (1, 2, 3, 4)],
                         [3, 3, 6, 9])
        self.assertEqual([kernels(n, False, updates.AFTER_SUMS) for n in (1, 2, 3, 4)],
                         [5, 6, 9, 12])
        self.assertEqual([kernels(n, False, updates.IN_SUMS) for n in (1, 2, 3, 4)],
                         [4, 5, 8, 11])
        self.assertEqual([kernels(n, True, updates.WITH_GRADIENTS) for n in (2, 3, 4, 5, 6)],
                         [4, 8, 13, 17, 22])
        self.assertEqual([kernels(n, True, updates.AFTER_SUMS) for n in (2, 3, 4)], [7, 11, 16])
        self.assertEqual([kernels(n, True, updates.IN_SUMS) for n in (2, 3, 4)], [6, 10, 15])

    def test_parts(self):
        self.assertEqual(Network((784, 1000, 10), "float").of_rank(3), [(784, 336), (336, 10)])
        self.assertEqual(Network((9, 8, 7, 6), "float").of_rank(2), [(9, 4), (4, 7), (7, 6)])
        self.assertEqual(Network((9, 8, 7, 6, 5), "float").most_tensor_ranks(), 6)
        self.assertEqual([scaling_model.most_units(units, ranks)
                          for units, ranks in ((1000, 4), (100, 4), (50, 4), (46, 4), (4, 4))],
                         [252, 28, 14, 12, 1])

    def test_messages(self):
        """Those of the page's table: 6.36 MB, and 64 KB."""
        self.assertEqual(scaling_model.tensor_messages(LAYERS, 800), [64000])
        buckets = scaling_model.buckets_of(LAYERS, 800, 1)
        self.assertEqual([bucket.size for bucket in buckets], [8 * 795010])
        deep = Network((9, 8, 7, 6, 5), "float")
        self.assertEqual(scaling_model.tensor_messages(deep, 10), [280, 200, 280])

    def test_buckets_overlap(self):
        """Of three wide layers, the first's gradients come last, and nothing hides their sum."""
        wide = Network((784, 1000, 1000, 10), "float")
        buckets = scaling_model.buckets_of(wide, 100, 1)
        self.assertEqual([bucket.size for bucket in buckets], [4 * 1011010, 4 * 785000])
        self.assertEqual([bucket.operations_after for bucket in buckets], [2 * 100 * 784000, 0])
        found = scaling_model.step_of(wide, 200, 2, 1, "host", CLUSTER, CONSTANTS)
        group = Group(1, 2, CLUSTER.network)
        sums = [scaling_model.host(group, bucket.size, CONSTANTS.host) for bucket in buckets]
        hidden = buckets[0].operations_after * CONSTANTS.step["float"].operation
        self.assertGreater(hidden, 0)
        self.assertAlmostEqual(found.exchange, sums[1] + max(0, sums[0] - hidden))
        # Not beside sums that are kernels.
        found = scaling_model.step_of(wide, 200, 2, 1, "peer", CLUSTER, CONSTANTS)
        self.assertAlmostEqual(found.exchange,
                               sum(scaling_model.two_shot(2, bucket.size, CONSTANTS.two_shot)
                                   for bucket in buckets))

    def test_groups(self):
        """Of 16 GPUs on two machines with four tensor ranks: tensor groups are inside a machine,
        data groups have two ranks in each, and half of its network."""
        tensor = scaling_model.group_of(CLUSTER, 16, 4, 1)
        data = scaling_model.group_of(CLUSTER, 16, 4, 4)
        self.assertEqual((tensor.machines, tensor.inside), (1, 4))
        self.assertEqual((data.machines, data.inside), (2, 2))
        self.assertAlmostEqual(data.network.bandwidth, 100e9)


class Laws(unittest.TestCase):
    def predicted(self, gpus, batch=800, network=LAYERS, transports=scaling_model.OF_STAGE_05):
        return scaling_model.predict(network, batch, gpus, CLUSTER, CONSTANTS, transports)

    def test_one_gpu_exchanges_nothing(self):
        (one,) = self.predicted(1)
        self.assertEqual(one.exchange, 0)

    def test_more_bytes_take_longer(self):
        sizes = [8, 1000, 80_000, 1_000_000, 30_000_000]
        for transport, ranks, machines in itertools.product(scaling_model.TRANSPORTS, (2, 4, 8),
                                                            (1, 4)):
            group = Group(machines, ranks, CLUSTER.network)
            if transport == "peer" and machines > 1:
                continue
            times = [scaling_model.sum_of(CONSTANTS, transport)(group, size) for size in sizes]
            self.assertEqual(times, sorted(times), (transport, ranks))
            self.assertGreater(times[0], 0)

    def test_more_samples_take_longer(self):
        for gpus in (1, 4, 64):
            small, large = self.predicted(gpus), self.predicted(gpus, 8000)
            for one, other in zip(small, large):
                self.assertLess(one.seconds, other.seconds)

    def test_no_strategy_is_faster_than_without_any_loss(self):
        (one,) = self.predicted(1)
        for gpus in (2, 8, 16, 128, 1024):
            for row in self.predicted(gpus):
                self.assertLess(row.rate, gpus * one.rate, row)
                self.assertGreater(row.exchange, 0, row)

    def test_strategies(self):
        self.assertEqual([row.strategy for row in self.predicted(2)], ["data", "tensor"])
        self.assertEqual({row.strategy for row in self.predicted(16)},
                         {"data", "tensor", "hybrid"})
        # 1,000 units cannot be divided among 1,024 GPUs.
        self.assertEqual({row.strategy for row in self.predicted(1024)}, {"data", "hybrid"})
        without = Network((784, 10), "float")
        self.assertEqual([row.strategy for row in self.predicted(4, network=without)], ["data"])

    def test_peers_are_in_one_machine(self):
        self.assertEqual({row.transport for row in self.predicted(8)}, {"peer"})
        self.assertNotIn("peer", {row.transport for row in self.predicted(16)})
        self.assertEqual(self.predicted(16, transports=("peer",)), [])


class Fit(unittest.TestCase):
    def test_recovers_known_links(self):
        for way in scaling_fit.WAYS.values():
            known = Link(3e-6, 2e11)
            points = [SumPoint(way, ranks, size, scaling_fit.sum_seconds(way, ranks, size, known))
                      for ranks in (2, 4, 8) for size in (1000, 50_000, 900_000, 8_000_000)]
            found = scaling_fit.fit_link(way, points)
            self.assertAlmostEqual(found.latency / known.latency, 1, 6, way)
            self.assertAlmostEqual(found.bandwidth / known.bandwidth, 1, 6, way)
            for point in scaling_fit.check_sums(way, points):
                self.assertLess(abs(point.error), 1e-6)

    def test_recovers_a_known_step(self):
        known = Step(2e-5, 3e-14, 4e-13)
        points = []
        for widths, batch in itertools.product(((784, 256, 10), (784, 900, 10), (99, 512, 256, 9)),
                                               (64, 500, 9000)):
            network = Network(widths, "float")
            work = scaling_model.work_of(network, batch)
            points.append(StepPoint(network, batch, known.seconds(work)))
        found = scaling_fit.fit_step(points)
        for one, other in ((found.begin, known.begin), (found.operation, known.operation),
                           (found.byte, known.byte)):
            self.assertAlmostEqual(one / other, 1, 6)

    def test_bytes_take_no_less_than_the_memory_says(self):
        """Where the squares alone would give them a negative time."""
        known = Step(2e-5, 3e-14, -1e-13)
        for bandwidth in (scaling_points.MEMORY_BANDWIDTH, 3e12):
            points = []
            for widths, batch in itertools.product(((784, 256, 10), (784, 900, 10)),
                                                   (64, 500, 9000)):
                network = Network(widths, "float")
                work = scaling_model.work_of(network, batch)
                points.append(StepPoint(network, batch, known.seconds(work),
                                        memory_bandwidth=bandwidth))
            found = scaling_fit.fit_step(points)
            self.assertEqual(found.byte, 1 / bandwidth)
            self.assertGreater(found.begin, 0)
            self.assertLess(found.operation, known.operation)
        self.assertGreaterEqual(CONSTANTS.step["float"].byte, 1 / scaling_points.MEMORY_BANDWIDTH)

    def test_constants_are_never_negative(self):
        points = [SumPoint("two_shot", 2, 1000, 1e-6), SumPoint("two_shot", 2, 2_000_000, 9e-4)]
        found = scaling_fit.fit_link("two_shot", points)
        self.assertGreaterEqual(found.latency, 0)
        self.assertGreater(found.bandwidth, 0)

    def test_every_third_is_held_out_in_turn_but_the_ends(self):
        self.assertEqual(scaling_fit.held_out(9), [[1, 4, 7], [2, 5], [3, 6]])
        self.assertEqual(scaling_fit.held_out(3), [[1]])
        self.assertEqual(scaling_fit.held_out(2), [])

    def test_a_held_out_point_does_not_change_what_is_said_about_it(self):
        def error(time: float) -> float:
            points = [SumPoint("two_shot", 2, size, 8e-6 + size / 3e11)
                      for size in (1000, 100_000, 4_000_000)]
            points[1] = SumPoint("two_shot", 2, 100_000, time)
            (checked,) = [point for point in scaling_fit.check_sums("two_shot", points)
                          if point.is_held_out]
            return checked.predicted

        self.assertEqual(error(1e-5), error(5e-5))

    def test_built_in_points_are_near(self):
        """The page's table, host included."""
        bounds = {"sum, one-shot": 0.05, "sum, two-shot": 0.07, "sum, nccl": 0.12,
                  "sum, host": 0.07, "step, 1 GPU": 0.13, "step, 2 GPUs": 0.09,
                  "step, 3 GPUs": 0.25, "step, 4 GPUs": 0.18}
        checked = scaling_fit.check(BUILT_IN, CONSTANTS)
        self.assertEqual({point.kind for point in checked}, set(bounds))
        for point in checked:
            self.assertLess(abs(point.error), bounds[point.kind], point)
        self.assertEqual(len(checked), 83)
        self.assertEqual(sum(point.is_held_out for point in checked), 71)


class Command(Case):
    def lines(self, *words: object) -> list[str]:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            predict_scaling.main([*map(str, words)])
        return output.getvalue().splitlines()

    def sentence(self, *words: object) -> str:
        with self.assertRaises(predict_scaling.Error) as caught:
            self.lines(*words)
        return str(caught.exception).replace(f"{self.folder}/", "")

    def put(self, name: str, report: object) -> pathlib.Path:
        path = self.folder / name
        path.write_text(report if isinstance(report, str) else json.dumps(report), encoding="utf-8")
        return path

    def put_sums(self, name: str, sizes=(1000, 10**7), **more: object) -> pathlib.Path:
        tables = [{"rows": [{"name": "two-shot", "verified": True, "bytes": size,
                             "seconds": 1e-5 + size / 1e11}]} for size in sizes]
        return self.put(name, {"stage": "ladder", "ladder": "all-reduce", "ranks": 2,
                               "tables": tables} | more)

    def put_training(self, name: str, **more: object) -> pathlib.Path:
        return self.put(name, {"stage": "stage05_mpi", "model": "mlp 784-256-10, relu",
                               "precision": "float", "batch_size": 1000, "command": "stage05_mpi",
                               "epochs": [{"images_per_second": 1e7}]} | more)

    def test_table(self):
        lines = self.lines("--precision", "double", "--gpus", "1,8,2")
        self.assertEqual(lines[:3], ["model  mlp 784-1000-10, double, 795,010 parameters",
                                     "batch  800 over all GPUs",
                                     "GPUs   8 in a machine, which sends 400 GB/s to the others "
                                     "after 5 us"])
        self.assertEqual(lines[4].split(), ["GPUs", "strategy", "transport", "compute", "exchange",
                                            "a", "step", "images/s", "efficiency"])
        rows = [line.split() for line in lines[5:11]]
        self.assertEqual([row[0] for row in rows], ["1", "2", "2", "8", "8", "8"])
        self.assertEqual(rows[0], ["1", "-", "-", "84.4", "us", "0.0", "us", "84.4", "us", "9.48",
                                   "M", "100.0%"])
        self.assertEqual([row[-1] for row in rows].count("best"), 2)
        self.assertTrue(all(len(line) < 110 for line in lines[4:11]))

    def test_sentences(self):
        data, tensor, hybrid = self.lines("--precision", "double")[-3:]
        self.assertRegex(data, r"^Data parallelism stops paying beyond 8 GPUs, .*; its efficiency "
                               r"is below 50 % from 4 on\.$")
        self.assertRegex(tensor, r"^Tensor parallelism pays with 2 to 8 GPUs, .*\.$")
        self.assertRegex(hybrid, r"^Hybrid parallelism pays nowhere here: .*\.$")
        data = self.lines("--batch-per-gpu", "8000", "--gpus", "2,4")[-3]
        self.assertRegex(data, "^Data parallelism pays up to 4 GPUs, the most that were asked for")
        data = self.lines("--transport", "host")[-3]
        self.assertRegex(data, "^Data parallelism never pays: ")
        self.assertEqual(self.lines("--gpus", "1")[-3],
                         "Data parallelism takes more than one GPU.")
        self.assertEqual(scaling_table._listed([2, 4, 16, 64, 128], [2, 4, 8, 16, 32, 64, 128]),
                         "2 to 4, 16 and 64 to 128")

    def test_check(self):
        lines = self.lines("--check")
        self.assertRegex(lines[0], r"^one-shot +[0-9.]+ us, [0-9.]+ GB/s$")
        self.assertEqual(sum(line.endswith("held out") for line in lines), 71)
        self.assertRegex(lines[-1], r"^step, 4 GPUs, +12 held out: error [0-9.]+% on average, ")

    def test_figure(self):
        path = self.folder / "a.svg"
        self.assertEqual(self.lines("--figure", path)[-1], f"saved  {path}")
        first = path.read_bytes()
        self.lines("--figure", path)
        self.assertTrue(first == path.read_bytes())
        root = xml.etree.ElementTree.parse(path).getroot()
        texts = {"".join(item.itertext()).strip() for item in root.iter()}
        for text in ("data", "tensor", "hybrid", "NCCL, 2 GPUs", "a machine", "images/s"):
            self.assertIn(text, texts)
        self.lines("--gpus", "1", "--figure", self.folder / "a.png", "--theme", "dark")
        self.assertEqual(self.sentence("--figure", "a.pdf"),
                         "the figure's name 'a.pdf' must end in .svg or .png")

    def test_reports_take_the_place_of_what_is_built_in(self):
        sums = self.put_sums("a.json")
        constants = self.lines("--fit", sums, "--check")
        self.assertEqual(constants[1], "two-shot  5.00 us, 100 GB/s")
        self.assertEqual(constants[0], self.lines("--check")[0])
        # Fewer than three trainings check, three fit.
        runs = [self.put_training(f"{batch}.json", batch_size=batch,
                                  epochs=[{"images_per_second": batch / (1e-4 + batch * 1e-7)}])
                for batch in (100, 1000, 10000)]
        self.assertEqual(self.lines("--fit", runs[0], "--check")[4], self.lines("--check")[4])
        self.assertRegex(self.lines("--fit", *runs, "--check")[4], "^float +(?!10.9)")

    def test_a_report_brings_its_memory_bandwidth(self):
        for limits, bandwidth in (({}, 4.81e12), ({"limits": {"bytes_per_second": 0}}, 4.81e12),
                                  ({"limits": {"bytes_per_second": 3.35e12}}, 3.35e12)):
            runs = [self.put_training(f"{batch}.json", batch_size=batch, **limits)
                    for batch in (100, 1000, 10000)]
            points = scaling_fit.points_of(runs)
            self.assertEqual([point.memory_bandwidth for point in points.steps
                              if point.network.precision == "float"], 3 * [bandwidth])

    def test_a_training_on_several_gpus_is_compared(self):
        path = self.put_training("a.json", ranks=4, command="stage05_mpi train --strategy hybrid "
                                 "--tensor-ranks=2 --transport peer")
        lines = [line for line in self.lines("--fit", path, "--check") if "4 GPUs  " in line]
        self.assertRegex(lines[-1], r"784-256-10 float, 1,000, hybrid, peer +100.0 us .*held out$")
        for extra, strategy in (({"workers": 2}, "data"), ({}, "tensor")):
            path = self.put_training("b.json", ranks=2, command="stage05_mpi train", **extra)
            lines = [line for line in self.lines("--fit", path, "--check") if "2 GPUs  " in line]
            self.assertRegex(lines[-1], f"784-256-10 float, 1,000, {strategy}, peer ")

    def test_unusable_reports(self):
        for path, words in (
                (self.folder / "no.json", "cannot read no.json: there is no such file"),
                (self.put("x.json", "{"), "cannot read x.json: it is not JSON"),
                (self.put("y.json", []), "y.json is not a report, which --report writes"),
                (self.put("a.json", {"stage": "stage01_serial", "epochs": []}),
                 "a.json is neither of ladder all-reduce nor of a training"),
                (self.put_sums("b.json", ranks=1),
                 "b.json is of a single process, which has nothing to add up"),
                (self.put_sums("c.json", cuda_on_cpu=True),
                 "c.json was measured with CUDA on the CPU, whose times mean nothing about GPUs"),
                (self.put_sums("d.json", (1000,)),
                 "the reports have one size of two-shot only, but a line takes two"),
                (self.put_training("e.json", model="cnn"),
                 "e.json is of no mlp, and the model knows nothing else"),
                (self.put_training("f.json", epochs=[{"images_per_second": 0}]),
                 "cannot use f.json: 'images_per_second' is 0 somewhere"),
                (self.put_training("g.json", ranks=16),
                 "g.json is of 16 processes, but 8 of one machine are the most that is compared"),
                (self.put_training("h.json", ranks=2, command="x train --average weights"),
                 "h.json is of averaged weights, which the model does not know")):
            self.assertEqual(self.sentence("--fit", path), words)

    def test_wrong_usage(self):
        for words, sentence in (
                (("--gpus", "0"), "--gpus is '0', but must be a whole number from 1 to 1,000,000"),
                (("--hidden", "a"),
                 "--hidden is 'a', but must be a whole number from 1 to 1,000,000"),
                (("--precision", "duble"), "--precision is 'duble'; did you mean double?"),
                (("--transport", "x"), "--transport is 'x', but must be one of auto, peer, nccl, "
                                       "host, hierarchical"),
                (("--network", "400"), "--network is '400', but must be GB/s and us: 400,5"),
                (("--network", "0,5"), "--network is '0,5', but must be GB/s and us: 400,5"),
                (("--batch-size", "8", "--batch-per-gpu", "8"),
                 "--batch-size and --batch-per-gpu exclude each other"),
                (("--check", "--figure", "a.svg"), "--check draws no figure; leave out --figure"),
                (("--transport", "peer", "--gpus", "16"),
                 "--transport peer reaches none of these numbers of GPUs")):
            self.assertEqual(self.sentence(*words), sentence)

    def test_from_another_folder(self):
        outcome = self.run_command(REPOSITORY / "run.sh", "predict-scaling", "--gpus", "1,2",
                                   "--figure", "a b.svg")
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
        self.assertTrue((self.folder / "a b.svg").exists())
        outcome = self.run_command(REPOSITORY / "run.sh", "predict-scaling", "--gpu", "1")
        self.assertEqual(outcome.returncode, 2)
        self.assertEqual(outcome.stderr,
                         "predict-scaling: option '--gpu' is unknown; did you mean --gpus?\n")


if __name__ == "__main__":
    unittest.main()
