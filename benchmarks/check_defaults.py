#!/usr/bin/env python3
"""Checks that no choice of an option trains faster than its default.

    python3 benchmarks/check_defaults.py                   stages 02 to 04
    python3 benchmarks/check_defaults.py --processes 2     stage 05, on two GPUs

Trains with each stage's defaults, and with each other choice of each of the stage's own options, as
`train --help` lists them; so new options are checked, too, unless EXEMPT says why not. A choice that
seems faster is measured again, alternating with the default. The exit code is 1 if any is more than 5 %
faster, and 2 if nothing could be measured. Writes benchmarks/results/<...>.md.

Without a GPU, to try the script itself (the figures mean nothing then, and the file says so):

    python3 benchmarks/check_defaults.py --quick --programs build/cpu/bin --output FILE
"""

import re
import shlex
import statistics
import sys

import measuring
from measuring import MPIRUN, NOTHING, Failed, command_line, report_of, run, seconds_of, table

LIMIT = 0.95  # of the default's time: a choice that takes less is faster
SUSPICIOUS = 0.98  # of it: a choice that takes less is measured again
TURNS = 5

# Options that are not compared, and why.
EXEMPT = {
    "strategy": "another way to train; each is compared with its own alternatives",
    "tensor-ranks": "another way to train",
    "timeout": "it only says how long to wait",
}

REPORT_000 = "--hidden 1000 --activation sigmoid"
IN_DOUBLE = f"{REPORT_000} --precision double --batch-size 800"
ALONE = {  # by stage; images in an epoch, options
    2: ((12000, ""), (12000, IN_DOUBLE), (2000, "--model cnn")),
    3: ((24000, ""), (24000, IN_DOUBLE), (4000, "--model cnn")),
    4: ((60000, ""), (120000, "--batch-size 1000"), (120000, IN_DOUBLE), (120000, "--hidden 512,256 --batch-size 512"),
        (24000, "--model cnn")),
}
TOGETHER = (
    *((120000, f"{IN_DOUBLE} --strategy {strategy}") for strategy in ("data", "tensor")),
    (120000, f"{REPORT_000} --batch-size 1600"),
    (120000, "--hidden 384 --batch-size 2000"),
    (60000, ""),
    (60000, "--strategy data"),
    (120000, "--hidden 1000,1000 --batch-size 1600 --l2 0.0001"),
)


def alternatives(help_text):
    """[(option, choice)] to compare with the default: the choices that `train --help` lists under "This stage"."""
    section = help_text.partition("This stage")[2].partition("\n\n")[0]
    entries = re.split(r"\n  --", section)[1:]
    if not entries:
        raise Failed("`train --help` lists no options of the stage")
    found = []
    for entry in entries:
        name, text = re.match(r"([\w-]+)(.*)", entry, re.DOTALL).groups()
        text, _, default = " ".join(text.split()).partition(" [")
        listed = text.rpartition(": ")[2].partition(";")[0]
        choices = listed.split(", ")
        if name in EXEMPT:
            continue
        if default.rstrip("]") not in choices:
            raise Failed(f"--{name} lists no choices, and the script knows none: '{listed}'")
        found += [(name, choice) for choice in choices if choice != default.rstrip("]")]
    return found


class Bench(measuring.Bench):
    """The data and the command of each training."""

    def __init__(self, options):
        super().__init__(options)
        self.data = self.folder / "digits"
        run([*self.words("make_dataset"), "--train", 600 if self.quick else 120000, "--test", 100, "--output",
             self.data / "mnist"])

    def command(self, stage, images, words):
        start = [*self.words(f"stage{stage:02}"), "train", "--dataset", "mnist", "--data-dir", self.data, "--train-limit",
                 min(images, 600) if self.quick else images, "--epochs", 2 if self.quick else 6, *words]
        launcher = [*MPIRUN, self.options.processes] if stage == 5 else []
        return [*launcher, *start]

    def seconds(self, stage, images, words, notes=None):
        return seconds_of(report_of(self.command(stage, images, words), name=shlex.join(words), notes=notes))


def compare(bench, stage, images, words, choices):
    """A row for each choice, and what was faster than the default: [(row, is faster)]."""
    default = min(bench.seconds(stage, images, words) for _ in range(2))
    rows = []
    for option, choice in choices:
        others = [*words, f"--{option}", choice]
        notes = []
        reason = ""
        try:
            taken = bench.seconds(stage, images, others, notes)
            if f"--{option} has no effect here" in "".join(notes):
                reason = "has no effect here"
        except Failed as failure:
            reason = str(failure).partition(": ")[2] or str(failure)
        if reason:
            rows.append(([f"`--{option} {choice}`", NOTHING, reason], False))
            continue
        ratio = taken / default
        if ratio < SUSPICIOUS:  # faster is what wins in most turns, and at its best
            pairs = [(bench.seconds(stage, images, words), bench.seconds(stage, images, others)) for _ in range(TURNS)]
            own, other = map(min, zip(*pairs))
            ratio = max(other / own, statistics.median(b / a for a, b in pairs))
        is_faster = ratio < LIMIT
        rows.append(([f"`--{option} {choice}`", f"{ratio:.2f}", "**faster**" if is_faster else ""], is_faster))
    if all(row[1] == NOTHING for row, _ in rows):
        raise Failed(f"no choice could be compared: {rows[0][0][2]}")
    return [(["default", f"{1e3 * default:.2f} ms an epoch of {images:,}", ""], False), *rows]


def add_options(parser):
    parser.add_argument("--processes", type=int, default=1, help="of stage 05; 1: stages 02 to 04")
    parser.add_argument("--stages", default="", help="those of one process to check [2,3,4]")


def check(options):
    """Writes the file; what is faster, as sentences."""
    bench = Bench(options)
    cases = [(5, images, words.split()) for images, words in TOGETHER]
    if options.processes == 1:
        stages = [int(stage) for stage in options.stages.split(",") if stage] or ALONE
        cases = [(stage, images, words.split()) for stage in stages for images, words in ALONE[stage]]
    more = ["--processes", str(options.processes)] if options.processes > 1 else []
    text = "# Defaults beside their alternatives\n\n" + measuring.heading(options, *more)
    faster = []
    for stage, images, words in cases[:1] if bench.quick else cases:
        rows = compare(bench, stage, images, words, alternatives(bench.run([*bench.words(f"stage{stage:02}"), "train",
                                                                            "--help"])))
        text += f"\n`{command_line(bench.command(stage, images, words))}`\n\n"
        text += table(["option", "times the default's time", ""], [row for row, _ in rows])
        options.output.write_text(text, encoding="utf-8")
        faster += [f"stage {stage:02}, {shlex.join(words) or 'no option'}: {row[0]} takes {row[1]} of the default's time"
                   for row, is_faster in rows if is_faster]
    return faster


def main():
    options = measuring.parse(__doc__, add_options, output=None)
    name = f"defaults_{options.processes}.md" if options.processes > 1 else "defaults.md"
    options.output = options.output or measuring.HERE / "results" / name
    try:
        faster = check(options)
    except Failed as failure:
        print(f"check_defaults.py: {failure}.", file=sys.stderr)
        return 2
    print(*faster, f"{len(faster)} choices are more than {100 * (1 - LIMIT):.0f} % faster than the default; see "
          f"{options.output}", sep="\n")
    return 1 if faster else 0


if __name__ == "__main__":
    sys.exit(main())
