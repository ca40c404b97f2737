#!/usr/bin/env python3
"""Tests of what benchmarks/measure_stage05.py makes of traces: no GPU, only made-up ones."""

import pathlib
import sys
import unittest

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
sys.dont_write_bytecode = True
import measure_stage05  # noqa: E402

LAST_LAYER = "void stagewise::minibatch::(anonymous namespace)::output_layer_kernel<12, float>(int)"
PRODUCT = "void stagewise::shared_memory::tile_kernel<Mma, double, Tile>(int, int)"
SUM = "void stagewise::mpi::(anonymous namespace)::two_shot_kernel<double, 2, true>(int)"
STEP = 101_003  # ns
STEPS = 21  # so the later half has an even number of sums, whose median is a float


def trace(behind, late):
    """Steps of a last layer of 10 us, a product of 30 and a sum of 50, which begins `late` ns later on
    this rank, and ends on both at the same time. The rank's clock is `behind` by so many ns."""
    lines = []
    for step in range(STEPS):
        begin = 1_795_752_284_503_286_929 + step * STEP - behind
        for first, last, name in ((0, 10_000, LAST_LAYER), (10_001, 40_001, PRODUCT),
                                  (45_001 + late, 95_001, SUM)):
            lines.append(f"{begin + first} {begin + last} 13 {name}")
    return "\n".join(lines)


class Traces(unittest.TestCase):
    def test_the_parts_of_a_step(self):
        ranks = measure_stage05.spans_of([trace(0, 0), trace(700_000, 4_000)])
        step, compute, wait, exchange, nothing = measure_stage05.parts_of_step(ranks, STEPS)
        self.assertAlmostEqual(step, STEP / 1e3, 6)
        self.assertAlmostEqual(compute, 40)
        self.assertAlmostEqual(wait, 2)  # the first rank waits for 4 us, the second not at all
        self.assertAlmostEqual(exchange, 46)
        self.assertAlmostEqual(nothing, step - compute - wait - exchange, 6)

    def test_what_runs_when(self):
        ranks = measure_stage05.spans_of([trace(0, 0), trace(-31_415, 4_000)])
        rows = measure_stage05.rows_of_step("two", ranks, STEPS)
        self.assertEqual(rows, [
            ["two", "`output_layer`", 0, "0.00", "10.00"],
            ["two", "`tile`", 0, "10.00", "40.00"],
            ["two", "`two_shot`", 1, "45.00", "95.00"],
            ["two", "`output_layer`", 2, "0.00", "10.00"],
            ["two", "`tile`", 2, "10.00", "40.00"],
            ["two", "`two_shot`", 3, "49.00", "95.00"],
            ["two", "the next step", 0, "101.00", "-"]])

    def test_a_step_has_only_what_runs_in_it(self):
        """Kernels that run while a step begins or ends are cut, and belong to both steps."""
        def early(behind):
            return "\n".join(f"{begin + first} {begin + last} 13 {name}"
                             for begin in range(-behind, 200_000 * STEPS - behind, 100_000)
                             for first, last, name in ((20_000, 60_000, SUM),
                                                       (70_000, 110_000, PRODUCT),
                                                       (100_000, 115_000, LAST_LAYER)))

        ranks = measure_stage05.spans_of([early(0), early(777)])
        self.assertEqual(measure_stage05.rows_of_step("early", ranks, STEPS), [
            [["early", "`tile`", lane, "0.00", "10.00"],
             ["early", "`output_layer`", lane, "0.00", "15.00"],
             ["early", "`two_shot`", lane + 1, "20.00", "60.00"],
             ["early", "`tile`", lane, "70.00", "100.00"]][row]
            for lane in (0, 2) for row in range(4)] + [["early", "the next step", 0, "100.00", "-"]])

    def test_nothing(self):
        self.assertEqual(measure_stage05.spans_of(["", ""]), [[], []])


if __name__ == "__main__":
    unittest.main()
