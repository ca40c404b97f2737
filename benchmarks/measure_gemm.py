#!/usr/bin/env python3
"""The matrix products of stage 03 beside cuBLAS: measures, and writes the results file.

    ./run.sh build --preset cuda          builds everything
    python3 benchmarks/measure_gemm.py    writes benchmarks/results/gemm.md

Without a GPU, to try the script itself (the figures mean nothing then, and the file says so):

    python3 benchmarks/measure_gemm.py --quick --programs build/cpu/bin --output FILE

Each product is verified, then timed: the median of CUDA graphs with many launches, both sides in
the same process. Sizes that nobody has chosen by hand are drawn at random around the known ones, by
--seed. Section 6 runs every tile from which the top rungs pick, to see whether they pick well.
"""

import dataclasses
import random
import re

import measuring
from measuring import NOTHING, PRECISIONS, duration, shown, table

NEIGHBOURHOOD = 0.3  # by how much sizes vary, up and down
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
HEAD = ["product", "rung", "time", "cuBLAS", "x cuBLAS", "floor"]
ROUNDING = ("fitted-tiles", "3xtf32", "tf32", "bf16", "wgmma-tf32", "wgmma-bf16")
# Verification alone takes seconds at such a size, and the lower rungs are no match for it.
RUNGS_FOR_LARGE = ("tile-16", "register-column", "register-tile", "vector-loads", "double-buffering", "warp-tiles",
                   "async-copies")


@dataclasses.dataclass(frozen=True)
class Product:
    """C [m, n] = op(A) op(B), k long."""
    m: int
    n: int
    k: int
    transposed: str = ""  # which factors are, of "ab"
    what: str = ""

    def __str__(self):
        names = ("A^T" if "a" in self.transposed else "A") + (" B^T" if "b" in self.transposed else " B")
        return f"{self.m} x {self.n} x {self.k}, {self.what or names}"

    def words(self):
        words = ["--m", self.m, "--n", self.n, "--k", self.k]
        return words + [f"--transpose-{factor}" for factor in self.transposed]


EXAMPLE = Product(800, 1000, 784)
LARGE = Product(4096, 4096, 4096)


def products_of_step(hidden, batch):
    """Those of 784-hidden-10; stage 03 does not compute the gradient of its input."""
    return [Product(batch, hidden, 784, "", "first layer"),
            Product(batch, 10, hidden, "", "last layer"),
            Product(hidden, 10, batch, "a", "gradient of the last weights"),
            Product(batch, hidden, 10, "b", "gradient of the hidden units"),
            Product(784, hidden, batch, "a", "gradient of the first weights")]


def neighbours(center, count, seed):
    """Products whose sizes differ from the center's, half of them with transposed factors."""
    source = random.Random(seed)
    found = []
    for i in range(count):
        m, n, k = (source.randint(round(size * (1 - NEIGHBOURHOOD)), round(size * (1 + NEIGHBOURHOOD)))
                   for size in (center.m, center.n, center.k))
        if i % 2:  # vectors of 16 bytes do not fit the other ones
            m, n, k = (size // 4 * 4 for size in (m, n, k))
        found.append(Product(m, n, k, ("", "", "a", "b", "ab")[i % 5]))
    return found


class Bench(measuring.Bench):
    def rows(self, product, precision, *choice):
        """The rows of a product's table, cuBLAS's row, the floor's seconds; nothing if it fails, which is noted."""
        if self.quick:
            product = dataclasses.replace(product, m=max(1, product.m // 50), n=max(1, product.n // 50),
                                          k=max(1, product.k // 50))
        found = self.attempt(self.ladder, "gemm", *product.words(), "--precision", precision, *choice,
                             "--repetitions", 2 if self.quick else 10, most=60)
        if not found:
            return [], {}, None
        (of_product,), text = found
        return of_product["rows"], of_product.get("reference", {}), floor_of(text)

    def single(self, product, precision, *choice):
        """The same for one rung: [(its row, cuBLAS's, the floor's seconds)], or nothing."""
        rows, reference, floor = self.rows(product, precision, *choice)
        return [(row, reference, floor) for row in rows]


def floor_of(text):
    """The larger of the two times that the ladder prints; None without a GPU."""
    floor = re.search(r"^floor.*(?:\n .*)*", text, re.MULTILINE)
    times = re.findall(r"([\d.,]+) (ns|us|ms|s) for", floor.group()) if floor else []
    return max((float(time.replace(",", "")) * UNITS[unit] for time, unit in times), default=None)


def ratio(reference, seconds):
    return f"{reference / seconds:.2f}" if reference and seconds else NOTHING


def picked_table(bench, products, precision, total=None):
    """A row for each product, and one for their sum, if it has a name."""
    lines, sums = [], [0, 0]
    for product in products:
        for row, reference, floor in bench.single(product, precision, "--picked"):
            times = row.get("seconds"), reference.get("seconds")
            sums = [a + b if a is not None and b else None for a, b in zip(sums, times)]
            plan = f", {row['plan']}" if row.get("plan") else ""
            lines.append([product, f"`{row['name']}`{plan}", *map(duration, times), ratio(times[1], times[0]),
                          duration(floor)])
    if total and all(sums):
        lines.append([total, "", *map(duration, sums), ratio(sums[1], sums[0]), ""])
    return table(HEAD, lines)


def in_both(text_of):
    return "\n".join(f"In {precision}:\n\n{text_of(precision)}" for precision in PRECISIONS)


def known_products(bench):
    products = [EXAMPLE, Product(800, 10, 1000), Product(1000, 784, 800, "a"), Product(777, 1001, 513), LARGE]
    return in_both(lambda precision: picked_table(bench, products, precision))


def steps(bench):
    return "\n".join(
        f"784-{hidden}-10, a batch of {batch:,}, {precision}:\n\n"
        + picked_table(bench, products_of_step(hidden, batch), precision, "all five")
        for precision in PRECISIONS for hidden in (256, 1000) for batch in (100, 1000, 10000))


def random_products(bench):
    seed = bench.options.seed
    return f"Sizes differ by up to {NEIGHBOURHOOD:.0%} from those in the title, seed {seed}.\n\n" + "\n".join(
        f"Around {center.m} x {center.n} x {center.k}, {precision}:\n\n"
        + picked_table(bench, neighbours(center, count, seed), precision)
        for center, count in ((EXAMPLE, 12), (LARGE, 4)) for precision in PRECISIONS)


def lower_precisions(bench):
    """Time and error of the rungs that round, beside the one that does not."""
    rows = []
    seed = bench.options.seed + 1
    for product in (EXAMPLE, LARGE, *neighbours(EXAMPLE, 8, seed), *neighbours(LARGE, 2, seed)):
        for rung in ROUNDING:
            for row, reference, _ in bench.single(product, "float", "--rung", rung):
                times = row.get("seconds"), reference.get("seconds")
                rows.append([product if rung == ROUNDING[0] else "", f"`{rung}`", *map(duration, times),
                             ratio(times[1], times[0]), shown(row.get("difference"), ".1e"),
                             shown(reference.get("difference"), ".1e")])
    return ("cuBLAS computes in fp32. Errors are norms of the difference from stage 01's result in "
            "double, relative to its norm.\n\n"
            + table(["product", "rung", "time", "cuBLAS", "x cuBLAS", "error", "cuBLAS's"], rows)
            + "\n" + same_precision(bench))


def same_precision(bench):
    """The rungs on tensor cores beside cuBLAS in their own precision."""
    rows = []
    for product in (EXAMPLE, LARGE, Product(8192, 8192, 8192), *neighbours(LARGE, 2, bench.options.seed + 2)):
        for rung in ("tf32", "wgmma-tf32", "bf16", "wgmma-bf16"):
            for row, reference, _ in bench.single(product, "float", "--rung", rung, "--cublas",
                                                  rung.removeprefix("wgmma-")):
                seconds, rounding = row.get("seconds"), row.get("preparing_seconds")
                alone = seconds - rounding if seconds and rounding else None
                cublas = reference.get("seconds")
                rate = row["operations"] / (alone or seconds) * 1e-12 if seconds else None
                rows.append([product, f"`{rung}`", duration(seconds), duration(rounding), duration(alone),
                             shown(rate, ".0f"), duration(cublas), ratio(cublas, seconds), ratio(cublas, alone)])
    return ("cuBLAS in the same precision: TF32 from floats, whose last bits the unit ignores; bfloat16 "
            "from copies that were made before, whose time does not count. Rung 17 makes "
            "its rounded copies each time: `rounding`, and `rest` is the time without it.\n\n"
            + table(["product", "rung", "time", "rounding", "rest", "TFLOP/s", "cuBLAS", "x cuBLAS", "rest"], rows))


def every_rung(bench):
    """The whole ladder at the example's size, and its upper half at a large one."""
    columns = []
    for product, last in ((EXAMPLE, {}), (LARGE, {"float": "fitted-tiles", "double": "tensor-cores"})):
        for precision in PRECISIONS:
            times = {}
            for rung in (*RUNGS_FOR_LARGE, last[precision]) if last else ("all",):
                rows, reference, _ = bench.rows(product, precision, "--rung", rung)
                times.update((row["name"], row.get("seconds")) for row in rows)
                times["cuBLAS"] = reference.get("seconds")
            columns.append((f"{product}, {precision}", times))
    names = [name for name in columns[0][1] if name != "cuBLAS"] + ["cuBLAS"]
    rows = [[f"`{name}`" if name != "cuBLAS" else name,
             *(cell for _, times in columns
               for cell in (duration(times.get(name)), ratio(times.get("cuBLAS"), times.get(name))))]
            for name in names]
    return table(["rung", *(cell for title, _ in columns for cell in (title, "x cuBLAS"))], rows)


def tiles(bench, products, precision):
    """Times of every tile, relative to that of the picked one."""
    columns, lines = [], []
    for product in products:
        rows, reference, _ = bench.rows(product, precision, "--tiles")
        if not rows:
            continue
        columns = [row["name"] for row in rows]
        cells = []
        for row in rows:
            split_k = re.search(r"split-k (\d+)$", row["plan"])[1]
            text = duration(row.get("seconds")) + (f" ({split_k})" if split_k != "1" else "")
            cells.append(f"**{text}**" if row.get("picked") else text)
        best = min((row["seconds"] for row in rows if "seconds" in row), default=None)
        picked = next((row.get("seconds") for row in rows if row.get("picked")), None)
        lines.append([product, *cells, duration(reference.get("seconds")), ratio(best, picked)])
    return table(["product", *columns, "cuBLAS", "picked"], lines)


def every_tile(bench):
    products = [EXAMPLE, LARGE, Product(800, 10, 1000), Product(777, 1001, 513), *products_of_step(256, 100),
                *products_of_step(1000, 1000), *products_of_step(256, 10000),
                *neighbours(EXAMPLE, 6, bench.options.seed)]
    return ("In brackets the number of blocks that share a tile, if there are several; the picked "
            "tile is bold, and the last column is the best tile's time over its time. Where none is "
            "bold, the stage picks another rung.\n\n" + in_both(lambda precision: tiles(bench, products, precision)))


SECTIONS = [("Products of the reports, and a large one", known_products),
            ("The five products of a training step", steps),
            ("Sizes that nobody has chosen", random_products),
            ("Lower precisions", lower_precisions),
            ("Every rung", every_rung),
            ("Every tile", every_tile)]


def add_options(parser):
    parser.add_argument("--seed", type=int, default=1, help="of the random sizes [1]")


if __name__ == "__main__":
    measuring.main(__doc__, "Matrix products of stage 03", SECTIONS, Bench, add_options=add_options)
