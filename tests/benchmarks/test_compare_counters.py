#!/usr/bin/env python3
"""benchmarks/compare_counters.py, with counters of a few lines."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "compare_counters.py"


class CompareCountersTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def compare(self, *words):
        done = subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True, check=True,
                              cwd=self.folder)
        return done.stdout

    def test_a_ladder(self):
        def row(name, load_sectors, store_sectors, conflicts):
            return {"name": name, "counters": {
                "loads": 100, "load_sectors": load_sectors, "stores": 10, "store_sectors": store_sectors,
                "bank_conflicts": conflicts}}

        rows = [row("naive", 204, 40, 0), row("uncoalesced", 1600, 320, 0), row("tile-4", 500, 40, 12),
                {"name": "skipped", "skipped": "why"}]
        report = {"ladder": "gemm", "m": 800, "n": 1000, "k": 784, "precision": "float",
                  "tables": [{"rows": rows[:1]}]}
        (self.folder / "first.json").write_text(json.dumps(report))
        report["tables"] = [{"rows": rows[1:]}]
        (self.folder / "others.json").write_text(json.dumps(report))
        text = self.compare("first.json", "others.json")
        self.assertEqual(text.count("## Products: 800 x 1000 x 784, float"), 1)
        self.assertIn("| `naive` | 2.0 | 2.0 | 4.0 | 4.0 | 0 | 0 | same |", text)
        self.assertIn("| `uncoalesced` | 16.0 | 16.5 | 32.0 | 32.0 | 0 | 0 | within 5 % |", text)
        self.assertRegex(text, r"\| `tile-4` \| 5.0 \| 4.0 .* 12 \| [\d,]+ \| differs \|")

    def test_sums_and_transposes(self):
        counters = {"loads": 10, "load_sectors": 40, "stores": 10, "store_sectors": 10, "bank_conflicts": 0}
        report = {"ladder": "reduce", "n": 16777216, "precision": "double",
                  "tables": [{"rows": [{"name": "sequential", "counters": counters}]}]}
        (self.folder / "r.json").write_text(json.dumps(report))
        nsight = self.folder / "nsight.md"
        nsight.write_text("""## The sum of 16,777,216 numbers, double

| rung | kernel | sectors a load | a store | conflicts, loads | stores |
| --- | --- | --- | --- | --- | --- |
| `sequential` | `k` | 4.0 | 1.0 | 1 | 2 |
""")
        text = self.compare("r.json", "--nsight", nsight)
        self.assertIn("| `sequential` | 4.0 | 4.0 | 1.0 | 1.0 | 0 | 3 | same |", text)

    def test_the_nearest_launch_of_a_kernel(self):
        kernel = '"stagewise::naive_cuda::gemm_kernel<double>"'
        lines = ["kernel,blocks,threads,accesses,requests,lanes,bytes,sectors,wavefronts,conflicts,distinct_bytes",
                 f"{kernel},1,32,global loads,10,320,1,90,0,0,0", f"{kernel},1,32,global stores,1,32,1,8,0,0,0",
                 f"{kernel},1,32,global loads,100,3200,1,250,0,0,0", f"{kernel},1,32,global stores,10,32,1,79,0,0,0"]
        (self.folder / "s.csv").write_text("\n".join(lines) + "\n")
        self.assertRegex(self.compare("--stage", "s.csv"), r"\| `gemm_kernel` \| 2.5 \| 2.5 \| 7.9 \| 7.9 \| .*same")


if __name__ == "__main__":
    unittest.main()
