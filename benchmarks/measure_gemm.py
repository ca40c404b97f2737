#!/usr/bin/env python3
"""The matrix products of stage 03 beside cuBLAS: measures, and writes the results file.

    ./run.sh bench --preset cuda          builds everything (and runs the benchmarks once)
    python3 benchmarks/measure_gemm.py    writes benchmarks/results/gemm.md

Without a GPU, to try the script itself (the figures mean nothing then, and the file says so):

    python3 benchmarks/measure_gemm.py --quick --programs build/cpu/bin --output FILE

Each product is verified, then timed: the median of CUDA graphs with many launches, both sides in
the same process. Sizes that nobody has chosen by hand are drawn at random around the known ones, by
--seed. Section 6 runs every tile from which the top rungs pick, to see whether they pick well.
"""

import dataclasses
import json
import pathlib
import random
import re
import sys
import tempfile

import measuring
from measuring import HERE, Failed, run, table

LIMIT = 60  # seconds, of a command
PRECISIONS = ("double", "float")
NEIGHBOURHOOD = 0.3  # by how much sizes vary, up and down
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


@dataclasses.dataclass(frozen=True)
class Product:
    """C [m, n] = op(A) op(B), k long."""
    m: int
    n: int
    k: int
    transposed: str = ""  # which factors are, of "ab"
    what: str = ""

    def __str__(self):
        names = ("A^T" if "a" in self.transposed else "A") + (
            " B^T" if "b" in self.transposed else " B")
        return f"{self.m} x {self.n} x {self.k}, {self.what or names}"

    def words(self):
        words = ["--m", self.m, "--n", self.n, "--k", self.k]
        return words + [f"--transpose-{factor}" for factor in self.transposed]


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
    sizes = lambda size: source.randint(round(size * (1 - NEIGHBOURHOOD)),
                                        round(size * (1 + NEIGHBOURHOOD)))
    found = []
    for i in range(count):
        m, n, k = (sizes(size) for size in (center.m, center.n, center.k))
        if i % 2:  # vectors of 16 bytes do not fit the other ones
            m, n, k = (size // 4 * 4 for size in (m, n, k))
        found.append(Product(m, n, k, ("", "", "a", "b", "ab")[i % 5]))
    return found


class Bench(measuring.Bench):
    """Runs the ladder."""

    def __init__(self, options):
        super().__init__(options)
        self.seed = options.seed
        self.repetitions = 2 if options.quick else 10

    def small(self, product):
        """With --quick, a fiftieth of each size."""
        if not self.quick:
            return product
        return dataclasses.replace(product, m=max(1, product.m // 50), n=max(1, product.n // 50),
                                   k=max(1, product.k // 50))

    def ladder(self, product, precision, *choice):
        """The rows of a table, the reference's row, the floor's seconds."""
        product = self.small(product)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "report.json"
            text = run([self.program("ladder"), "gemm", *product.words(), "--precision", precision,
                        *choice, "--repetitions", self.repetitions, "--report", path], limit=LIMIT,
                       name=f"ladder gemm ({product}, {precision})")
            (found,) = json.loads(path.read_text(encoding="utf-8"))["tables"]
        return found["rows"], found.get("reference", {}), floor_of(text)


def floor_of(text):
    """The larger of the two times that the ladder prints; None without a GPU."""
    line = next((line for line in text.splitlines() if line.startswith("floor")), "")
    line += text.partition(line)[2].partition("\n\n")[0] if line else ""
    times = re.findall(r"([\d.,]+) (ns|us|ms|s) for", line)
    return max((float(time.replace(",", "")) * UNITS[unit] for time, unit in times), default=None)


def duration(seconds):
    if seconds is None:
        return "-"
    unit = "us" if seconds < 1e-3 else "ms"
    return f"{seconds / UNITS[unit]:.3g} {unit}" if seconds < 1e-4 else (
        f"{seconds / UNITS[unit]:.4g} {unit}")


def ratio(reference, seconds):
    return f"{reference / seconds:.2f}" if reference and seconds else "-"


def name_of(row):
    plan = row.get("plan")
    return f"`{row['name']}`" + (f", {plan}" if plan else "")


HEAD = ["product", "rung", "time", "cuBLAS", "x cuBLAS", "floor"]


def picked_row(bench, product, precision):
    """Its cells, and the seconds of both sides; None for what failed."""
    try:
        (row,), reference, floor = bench.ladder(product, precision, "--picked")
    except Failed as failure:
        bench.problems.append(str(failure))
        return None
    seconds, reference = row.get("seconds"), reference.get("seconds")
    if not row["verified"]:
        bench.problems.append(f"{product} in {precision} is wrong: {row['wrong']}")
    cells = [str(product), name_of(row), duration(seconds), duration(reference),
             ratio(reference, seconds), duration(floor)]
    return cells, seconds, reference


def picked_table(bench, products, precision, total=None):
    """A row for each product, and one for their sum, if it has a name."""
    rows = [row for row in (picked_row(bench, p, precision) for p in products) if row]
    lines = [cells for cells, _, _ in rows]
    sums = [sum(row[i] or 0 for row in rows) for i in (1, 2)]
    if total and all(sums):
        lines.append([total, "", duration(sums[0]), duration(sums[1]), ratio(sums[1], sums[0]), ""])
    return table(HEAD, lines)


EXAMPLE = Product(800, 1000, 784)
LARGE = Product(4096, 4096, 4096)


def known_products(bench):
    products = [EXAMPLE, Product(800, 10, 1000), Product(1000, 784, 800, "a"),
                Product(777, 1001, 513), LARGE]
    return "\n".join(f"In {precision}:\n\n{picked_table(bench, products, precision)}"
                     for precision in PRECISIONS)


def steps(bench):
    parts = []
    for precision in PRECISIONS:
        for hidden in (256, 1000):
            for batch in (100, 1000, 10000):
                name = f"784-{hidden}-10, a batch of {batch:,}, {precision}"
                rows = picked_table(bench, products_of_step(hidden, batch), precision, "all five")
                parts.append(f"{name}:\n\n{rows}")
    return "\n".join(parts)


def random_products(bench):
    parts = [f"Sizes differ by up to {NEIGHBOURHOOD:.0%} from those in the title, seed "
             f"{bench.seed}.\n"]
    for center, count in ((EXAMPLE, 12), (LARGE, 4)):
        for precision in PRECISIONS:
            rows = picked_table(bench, neighbours(center, count, bench.seed), precision)
            parts.append(f"Around {center.m} x {center.n} x {center.k}, {precision}:\n\n{rows}")
    return "\n".join(parts)


def tiles(bench, products, precision):
    """Times of every tile, relative to that of the picked one."""
    columns, rows = [], []
    for product in products:
        try:
            found, reference, _ = bench.ladder(product, precision, "--tiles")
        except Failed as failure:
            bench.problems.append(str(failure))
            continue
        columns = [row["name"] for row in found]
        reference = reference.get("seconds")
        times = [row.get("seconds") for row in found]
        cells = []
        for row, seconds in zip(found, times):
            split_k = re.search(r"split-k (\d+)$", row["plan"])[1]
            text = duration(seconds) + (f" ({split_k})" if split_k != "1" else "")
            cells.append(f"**{text}**" if row.get("picked") else text)
        best = min((seconds for seconds in times if seconds), default=None)
        chosen = next((s for row, s in zip(found, times) if row.get("picked")), None)
        rows.append([str(product), *cells, duration(reference), ratio(best, chosen)])
    return ("In brackets the number of blocks that share a tile, if there are several; the picked "
            "tile is bold, and the last column is the best tile's time over its time. Where none is "
            "bold, the stage picks another rung.\n\n"
            + table(["product", *columns, "cuBLAS", "picked"], rows))


def every_tile(bench):
    products = [EXAMPLE, LARGE, Product(800, 10, 1000), Product(777, 1001, 513),
                *products_of_step(256, 100), *products_of_step(1000, 1000),
                *products_of_step(256, 10000), *neighbours(EXAMPLE, 6, bench.seed)]
    return "\n".join(f"In {precision}:\n\n{tiles(bench, products, precision)}"
                     for precision in PRECISIONS)


ROUNDING = ("fitted-tiles", "3xtf32", "tf32", "bf16", "wgmma-tf32", "wgmma-bf16")


def lower_precisions(bench):
    """Time and error of the rungs that round, beside the one that does not."""
    rows = []
    for product in (EXAMPLE, LARGE, *neighbours(EXAMPLE, 8, bench.seed + 1),
                    *neighbours(LARGE, 2, bench.seed + 1)):
        for rung in ROUNDING:
            try:
                (row,), reference, _ = bench.ladder(product, "float", "--rung", rung)
            except Failed as failure:
                bench.problems.append(str(failure))
                continue
            if not row["verified"]:
                bench.problems.append(f"{product} with {rung} is wrong: {row['wrong']}")
            times = row.get("seconds"), reference.get("seconds")
            errors = row["difference"], reference.get("difference")
            rows.append([str(product) if rung == ROUNDING[0] else "", f"`{rung}`",
                         duration(times[0]), duration(times[1]), ratio(times[1], times[0]),
                         *("-" if error is None else f"{error:.1e}" for error in errors)])
    return ("cuBLAS computes in fp32. Errors are norms of the difference from stage 01's result in "
            "double, relative to its norm.\n\n"
            + table(["product", "rung", "time", "cuBLAS", "x cuBLAS", "error", "cuBLAS's"], rows)
            + "\n" + same_precision(bench))


def same_precision(bench):
    """The rungs on tensor cores beside cuBLAS in their own precision."""
    rows = []
    products = (EXAMPLE, LARGE, Product(8192, 8192, 8192), *neighbours(LARGE, 2, bench.seed + 2))
    for product in products:
        for rung in ("tf32", "wgmma-tf32", "bf16", "wgmma-bf16"):
            try:
                (row,), reference, _ = bench.ladder(product, "float", "--rung", rung, "--cublas",
                                                    rung.removeprefix("wgmma-"))
            except Failed as failure:
                bench.problems.append(str(failure))
                continue
            seconds, rounding = row.get("seconds"), row.get("preparing_seconds")
            alone = seconds - rounding if seconds and rounding else None
            cublas = reference.get("seconds")
            rate = f"{row['operations'] / (alone or seconds) * 1e-12:.0f}" if seconds else "-"
            rows.append([str(product), f"`{rung}`", duration(seconds), duration(rounding),
                         duration(alone), rate, duration(cublas), ratio(cublas, seconds),
                         ratio(cublas, alone)])
    return ("cuBLAS in the same precision: TF32 from floats, whose last bits the unit ignores; bfloat16 "
            "from copies that were made before, whose time does not count. Rung 17 makes "
            "its rounded copies each time: `rounding`, and `rest` is the time without it.\n\n"
            + table(["product", "rung", "time", "rounding", "rest", "TFLOP/s", "cuBLAS", "x cuBLAS",
                     "rest"], rows))


# Verification alone takes seconds at such a size, and the lower rungs are no match for it.
RUNGS_FOR_LARGE = ("tile-16", "register-column", "register-tile", "vector-loads",
                   "double-buffering", "warp-tiles", "async-copies")


def times_of(bench, product, precision, rungs):
    """The seconds of each rung, and of cuBLAS, by name."""
    times = {}
    for rung in rungs:
        try:
            rows, reference, _ = bench.ladder(product, precision, "--rung", rung)
        except Failed as failure:
            bench.problems.append(str(failure))
            continue
        times.update((row["name"], row.get("seconds")) for row in rows)
        times["cuBLAS"] = reference.get("seconds")
    return times


def every_rung(bench):
    """The whole ladder at the example's size, and its upper half at a large one."""
    columns = [(str(EXAMPLE) + ", float", times_of(bench, EXAMPLE, "float", ["all"])),
               ("double", times_of(bench, EXAMPLE, "double", ["all"])),
               (str(LARGE) + ", float",
                times_of(bench, LARGE, "float", (*RUNGS_FOR_LARGE, "fitted-tiles"))),
               (str(LARGE) + ", double",
                times_of(bench, LARGE, "double", (*RUNGS_FOR_LARGE, "tensor-cores")))]
    names = [name for name in columns[0][1] if name != "cuBLAS"] + ["cuBLAS"]
    rows = [[f"`{name}`" if name != "cuBLAS" else name,
             *(cell for _, times in columns
               for cell in (duration(times.get(name)), ratio(times.get("cuBLAS"),
                                                             times.get(name))))]
            for name in names]
    head = ["rung"]
    for title, _ in columns:
        head += [title, "x cuBLAS"]
    return table(head, rows)


SECTIONS = [("Products of the reports, and a large one", known_products),
            ("The five products of a training step", steps),
            ("Sizes that nobody has chosen", random_products),
            ("Lower precisions", lower_precisions),
            ("Every rung", every_rung),
            ("Every tile", every_tile)]


def main():
    parser = measuring.make_parser(__doc__, 3)
    parser.set_defaults(output=HERE / "results/gemm.md")
    parser.add_argument("--seed", type=int, default=1, help="of the random sizes [1]")
    options = parser.parse_args()
    bench = Bench(options)
    try:
        info = run([bench.stage(3), "info"]).splitlines()
        libraries = [line for line in info if line.startswith("library")]
        top = measuring.heading("measure_gemm.py", options, libraries)
        bench.program("ladder")
    except Failed as failure:
        sys.exit(f"{failure}; build it with ./run.sh bench --preset cuda.")
    measuring.measure(bench, options, "Matrix products of stage 03", top, SECTIONS)


if __name__ == "__main__":
    main()
