"""What the reports have in common: their tables and figures, each beside what it is today."""

import collections
import dataclasses
import os
import pathlib
import sys
from typing import Callable, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks"))
import measuring  # noqa: E402: the path comes first
from measuring import MPIRUN, NOTHING, Failed  # noqa: E402


@dataclasses.dataclass
class Shown:
    """An exhibit as measured here."""
    head: list
    rows: list
    theirs: str  # the two in a few words, for the list of all
    ours: str
    words: str = ""  # what was measured, and what has changed in the years between
    draw: Callable | None = None  # of a theme, a figure


class Exhibit(NamedTuple):
    """A table or a figure of a report."""
    name: str  # "Table 1"
    what: str  # "the errors of parallel training"
    command: str  # what measures it, for a reader to type
    measure: Callable  # of a bench, what is Shown


class Report(NamedTuple):
    number: str
    title: str
    hardware: str
    exhibits: list


class Bench(measuring.Bench):
    """What measures; `problems` are those of the exhibit that is being measured."""

    def __init__(self, options):
        super().__init__(options)
        self.gpus = measuring.gpu_count()
        self.has_peer = bool(measuring.torch_version())

    def peer(self, script, *words):
        """Nothing without PyTorch, which is said once for all."""
        return super().peer(script, *words) if self.has_peer else {}

    def images(self):
        """10,000 images, as in report 002."""
        return ["--dataset", self.dataset, "--train-limit", 200 if self.quick else 10000, "--test-limit", 100]

    def processes(self):
        """How many to compare: those that have a GPU each, and two on the CPU."""
        return [count for count in (1, 2, 3, 4) if count <= max(self.gpus, 1 if self.gpus else 2)]

    def distributed(self, count, *words, epochs=4):
        """The report of stage 05, trained by so many processes."""
        return self.report([*MPIRUN, count, *self.words("stage05"), "train", *words, "--epochs",
                            2 if self.quick else epochs])

    def shares(self, program, *words):
        """{operation: its share of the time} of a training with --timings, the largest first."""
        report = self.train(program, *words, "--timings", epochs=2)
        seconds = collections.Counter()
        for timing in report["timings"]:
            seconds[timing["operation"].split()[0]] += timing["forward_seconds"] + timing["backward_seconds"]
        return {name: value / sum(seconds.values()) for name, value in seconds.most_common()}

    def data_file(self, name):
        """A file of the reports' own data; fails where it is not there."""
        path = self.data / name
        if not path.exists():
            raise Failed(f"{name} is not in {self.data}; STAGEWISE_DATA_DIR names the folder of the data sets")
        return path


def share(fraction):
    return NOTHING if fraction is None else f"{100 * fraction:.1f} %"


def rung_seconds(bench, ladder, rung, *words):
    """The seconds that a rung takes."""
    tables, _ = bench.ladder(ladder, "--rung", rung, *words)
    row = next(row for found in tables for row in found["rows"] if row["name"].rstrip("*") == rung)
    if "seconds" not in row:
        raise Failed(row.get("skipped", f"{rung} was not measured"))
    return row["seconds"]


def counted(bench, *words):
    """{line: counts} of a run of the instrumented ladder, which counts what kernels ask of memory."""
    program = bench.programs / "instrumented/ladder"
    if not program.exists():
        raise Failed("a build for the CPU counts what kernels ask of memory, not one for a GPU")
    path = bench.folder / "counts.csv"
    measuring.run([program, *words], limit=bench.limit(), env=os.environ | {
        "STAGEWISE_CPU_OBSERVE": "counters", "STAGEWISE_CPU_COUNTERS": str(path)})
    return path.read_text(encoding="utf-8").splitlines()
