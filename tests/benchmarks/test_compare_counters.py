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
        report = {"precision": "float", "tables": [{"rows": rows}]}
        (self.folder / "r.json").write_text(json.dumps(report))
        text = self.compare("--ladder", "r.json")
        self.assertIn("| `naive` | 2.0 | 2.0 | 4.0 | 4.0 | 0 | 0 | same |", text)
        self.assertIn("| `uncoalesced` | 16.0 | 16.5 | 32.0 | 32.0 | 0 | 0 | within 5 % |", text)
        self.assertRegex(text, r"\| `tile-4` \| 5.0 \| 4.0 .* 12 \| [\d,]+ \| differs \|")

    def test_the_largest_launch_of_a_kernel(self):
        kernel = '"stagewise::naive_cuda::gemm_kernel<double>"'
        lines = ["kernel,blocks,threads,accesses,requests,lanes,bytes,sectors,wavefronts,conflicts,distinct_bytes",
                 f"{kernel},1,32,global loads,10,320,1,90,0,0,0", f"{kernel},1,32,global stores,1,32,1,8,0,0,0",
                 f"{kernel},1,32,global loads,100,3200,1,250,0,0,0", f"{kernel},1,32,global stores,10,32,1,79,0,0,0"]
        (self.folder / "s.csv").write_text("\n".join(lines) + "\n")
        self.assertRegex(self.compare("--stage", "s.csv"), r"\| `gemm_kernel` \| 2.5 \| 2.5 \| 7.9 \| 7.9 \| .*same")


if __name__ == "__main__":
    unittest.main()
