#!/usr/bin/env python3
"""What the tour shows of a GPU is in the results that it names."""

import json
import re
import unittest
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


class TourTest(unittest.TestCase):

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
