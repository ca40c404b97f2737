#!/usr/bin/env python3
"""Tests of tools/predict_scaling.py: formulas by hand, measurements, tables, and what is refused."""

import importlib.util
import unittest
import xml.etree.ElementTree

from support import Case  # first: it sets the paths

from stagewise import scaling_model as model
from stagewise.scaling_model import AFTER_SUMS, IN_SUMS, WITH_GRADIENTS, Cluster, Group, Link, Network
from stagewise.scaling_points import checked

NEEDS_MATPLOTLIB = unittest.skipUnless(importlib.util.find_spec("matplotlib"), "Matplotlib was not found")
LINK = Link(2, 10)  # 2 s, 10 B/s
NETWORK = Link(7, 5)
LAYERS = Network((784, 1000, 10), "double")
CLUSTER = Cluster(8, Link(5e-6, 400e9))
MOST, PIECE = model.EAGER_BYTES, 2**20


class Formulas(unittest.TestCase):
    def test_sums(self):
        """All by hand, most of them for 4 ranks and 100 bytes."""
        for found, expected in (
                (model.ring(4, 100, LINK), 2 * 3 * 2 + 150 / 10),
                (model.piped_tree(4, 100, LINK), 2 * 2 * 2 + 2 * 10),
                (model.piped_tree(5, 100, LINK), 2 * 3 * 2 + 2 * 10),
                (model.one_shot(4, 100, LINK), 2 + 3 * 100 / 10),
                (model.one_shot(2, PIECE + 1, LINK), 2 * 2 + (PIECE + 1) / 10),  # two pieces
                (model.inbox(4), PIECE * 2 / 9), (model.inbox(8), PIECE * 4 / 49),
                (model.two_shot(4, 100, LINK), 2 * 2 + 150 / 10),
                # In one machine NCCL's ring: it sends 1.5 times the message, the tree twice.
                (model.nccl(Group(1, 4, NETWORK), 100, LINK), 2 + 6 * model.HOP + 150 / 10),
                # Over 16 machines its tree: 2 x 4 latencies instead of 2 x 15.
                (model.nccl(Group(16, 4, NETWORK), 100, LINK), 2 + 6 * model.HOP + 8 * 7 + 200 / 5),
                # The host waits twice as long where MPI asks before it sends the pieces.
                (model.host(Group(1, 4, NETWORK), 4 * MOST, LINK), model.ring(4, 4 * MOST, LINK)),
                (model.host(Group(1, 4, NETWORK), 4 * MOST + 1, LINK), model.ring(4, 4 * MOST + 1, Link(2 * 2, 10))),
                # Between two machines of two ranks: at their 5 B/s, and with two of their latencies more.
                (model.host(Group(2, 2, NETWORK), 100, LINK), 2 * 3 * 2 + 150 / 5 + 2 * 7),
                # Of 100 bytes, each of two ranks adds up 50 between 2 machines, at half of the 5 B/s.
                (model.hierarchical(Group(2, 2, NETWORK), 100, LINK), (2 * 2 + 10) + (2 * 7 + 50 / 2.5)),
                (model.hierarchical(Group(1, 4, NETWORK), 100, LINK), model.two_shot(4, 100, LINK)),
                *((way(1, 100, LINK), 0) for way in (model.ring, model.piped_tree, model.one_shot, model.two_shot)),
                *((way(Group(1, 1, NETWORK), 100), 0) for way in model.TRANSPORTS.values())):
            self.assertAlmostEqual(found, expected)

    def test_work(self):
        operations, size = model.work_of(Network((3, 5, 2), "float"), 7)
        self.assertEqual(operations, 2 * 7 * (2 * 15 + 3 * 10))
        self.assertEqual(size, 4 * (2 * (21 + 35) + 3 * 15 + 2 * (35 + 14) + 3 * 10 + 14 + 10 + 2 * 35))

    def test_kernels_are_those_that_info_lists(self):
        """Without sums and replicate."""
        for is_split, updates, kernels in (
                (False, WITH_GRADIENTS, {1: 3, 2: 3, 3: 6, 4: 9}), (False, AFTER_SUMS, {1: 5, 2: 6, 3: 9, 4: 12}),
                (False, IN_SUMS, {1: 4, 2: 5, 3: 8, 4: 11}), (True, WITH_GRADIENTS, {2: 4, 3: 8, 4: 13, 5: 17, 6: 22}),
                (True, AFTER_SUMS, {2: 7, 3: 11, 4: 16}), (True, IN_SUMS, {2: 6, 3: 10, 4: 15})):
            self.assertEqual({layers: model.kernels_of(layers, is_split, updates) for layers in kernels}, kernels)

    def test_parts_of_a_network(self):
        deep = Network((9, 8, 7, 6, 5), "float")
        self.assertEqual(Network((784, 1000, 10), "float").of_rank(3), [(784, 336), (336, 10)])
        self.assertEqual(Network((9, 8, 7, 6), "float").of_rank(2), [(9, 4), (4, 7), (7, 6)])
        self.assertEqual(deep.most_tensor_ranks(), 6)
        self.assertEqual([model.most_units(units, ranks)
                          for units, ranks in ((1000, 4), (100, 4), (50, 4), (46, 4), (4, 4))], [252, 28, 14, 12, 1])
        # The page's 6.36 MB, and 64 KB.
        self.assertEqual(model.tensor_messages(LAYERS, 800), [64000])
        self.assertEqual([size for size, _ in model.buckets_of(LAYERS, 800, 1)], [8 * 795010])
        self.assertEqual(model.tensor_messages(deep, 10), [280, 200, 280])

    def test_buckets_overlap(self):
        """Of three wide layers, the first's gradients come last, and nothing hides their sum."""
        wide = Network((784, 1000, 1000, 10), "float")
        (first, hidden), (second, none) = model.buckets_of(wide, 100, 1)
        self.assertEqual([first, second, hidden, none], [4 * 1011010, 4 * 785000, 2 * 100 * 784000, 0])
        group = Group(1, 2, CLUSTER.network)
        rest = max(0, model.host(group, first) - hidden * model.STEP["float"].operation)
        self.assertAlmostEqual(model.step_of(wide, 200, 2, 1, "host", CLUSTER).exchange,
                               model.host(group, second) + rest)
        # Not beside sums that are kernels.
        self.assertAlmostEqual(model.step_of(wide, 200, 2, 1, "peer", CLUSTER).exchange,
                               model.two_shot(2, first) + model.two_shot(2, second))

    def test_groups(self):
        """Of 16 GPUs on two machines with four tensor ranks: tensor groups are inside a machine, data groups have two
        ranks in each, and half of its network."""
        self.assertEqual(model.group_of(CLUSTER, 16, 4, 1)[:2], (1, 4))
        data = model.group_of(CLUSTER, 16, 4, 4)
        self.assertEqual(data[:2], (2, 2))
        self.assertAlmostEqual(data.network.bandwidth, 100e9)

    def test_strategies_and_transports(self):
        def predicted(gpus, network=LAYERS, transports=model.OF_STAGE_05):
            return {row.strategy: row.transport for row in model.predict(network, 800, gpus, CLUSTER, transports)}

        self.assertEqual(predicted(2), {"data": "peer", "tensor": "peer"})
        self.assertEqual(predicted(16), dict.fromkeys(("data", "hybrid", "tensor"), "nccl"))  # peers need one machine
        self.assertEqual(predicted(16, transports=("peer",)), {})
        self.assertEqual(list(predicted(1024)), ["data", "hybrid"])  # which 1,000 units cannot be divided among
        self.assertEqual(list(predicted(4, Network((784, 10), "float"))), ["data"])
        (one,) = model.predict(LAYERS, 800, 1, CLUSTER)
        self.assertEqual(one.exchange, 0)
        for gpus in (2, 8, 16, 128, 1024):
            for row in model.predict(LAYERS, 800, gpus, CLUSTER):
                self.assertLess(row.rate, gpus * one.rate, row)
                self.assertLess(row.seconds, model.step_of(LAYERS, 8000, gpus, row.tensor_ranks, row.transport,
                                                           CLUSTER).seconds)

    def test_measurements_are_near(self):
        """The page's table."""
        bounds = {"sum, one-shot": 0.04, "sum, two-shot": 0.05, "sum, NCCL": 0.095, "sum, host": 0.045,
                  "step, 1 GPU": 0.11, "step, 2 GPUs": 0.09, "step, 3 GPUs": 0.25, "step, 4 GPUs": 0.18}
        points = list(checked())
        self.assertEqual({point.kind for point in points}, set(bounds))
        self.assertEqual(len(points), 83)
        for point in points:
            self.assertLess(abs(point.error), bounds[point.kind], point)


class Command(Case):
    def lines(self, *words: object) -> list[str]:
        return self.run_well("predict-scaling", *words).splitlines()

    def test_table(self):
        lines = self.lines("--precision", "double", "--gpus", "1,8,2")
        self.assertEqual(lines[:4], ["model  mlp 784-1000-10, double, 795,010 parameters", "batch  800 over all GPUs",
                                     "GPUs   8 in a machine, which sends 400 GB/s to the others after 5 us", ""])
        self.assertEqual(lines[4].split(), "GPUs strategy transport compute exchange a step images/s efficiency".split())
        rows = [line.split() for line in lines[5:]]
        self.assertEqual([row[0] for row in rows], ["1", "2", "2", "8", "8", "8"])
        self.assertEqual(rows[0], "1 - - 84.4 us 0.0 us 84.4 us 9.48 M 100.0%".split())
        self.assertEqual([row[-1] for row in rows].count("best"), 2)
        self.assertTrue(all(len(line) < 110 for line in lines))
        # The batch of each, and a machine of one GPU, which leaves no way for peers.
        weak = self.lines("--batch-per-gpu", 8000, "--gpus", "4", "--gpus-per-machine", 1, "--network", "100,9.5")
        self.assertEqual(weak[1:3], ["batch  8,000 on each GPU",
                                     "GPUs   1 in a machine, which sends 100 GB/s to the others after 9.5 us"])
        self.assertTrue(all(line.split()[2] != "peer" for line in weak[5:]))

    def test_check(self):
        self.assertRegex(self.lines("--check")[-1], r"^step, 4 GPUs, +12: error 6.6% on average, 17.1% at most$")

    @NEEDS_MATPLOTLIB
    def test_figure(self):
        self.assertEqual(self.lines("--figure", "a.svg")[-1], "saved  a.svg")
        self.lines("--figure", "b.svg")
        self.expect_equal_files("a.svg", "b.svg")
        root = xml.etree.ElementTree.parse(self.folder / "a.svg").getroot()
        texts = {"".join(item.itertext()).strip() for item in root.iter()}
        self.assertLessEqual({"data", "tensor", "hybrid", "NCCL, 2 GPUs", "a machine", "images/s"}, texts)
        self.lines("--gpus", "1", "--figure", "a.png", "--theme", "dark")

    def test_wrong_usage(self):
        self.run_table("predict-scaling")


if __name__ == "__main__":
    unittest.main()
