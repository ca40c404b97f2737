#!/usr/bin/env python3
"""Breaks the stages in one place after the other, and asks the tests whether they notice.

    tests/mutants.py [--count N] [--seed S] [--stage 0N] [--list]

Each mutant is a copy of the repository, in build/mutants, with one operator, index, barrier or edge of a stage changed.
It is built, and the tests that ./run.sh test runs are run until one fails, those of its own stage first. Prints a line a
mutant: found, and by what; or SURVIVED. Takes minutes each. Exit code 1 if one survives.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
HOME = REPOSITORY / "build" / "mutants"
FOLDERS = ("01_serial", "02_naive_cuda", "03_shared_memory", "04_minibatch", "05_mpi")
# What names files, offers options, or describes itself has no numbers to get wrong.
LEFT_OUT = re.compile(r"main\.cpp|offers\.hpp|operation_files\.hpp|options\.[ch]pp|no_nccl|nccl\.cpp")

# (kind, what to look for, what takes its place)
CHANGES = (
    ("operator", r" \+ (?!\d+\))", " - "), ("operator", r" - ", " + "), ("operator", r" \* (?=\w)", " + "),
    ("operator", r" < ", " <= "), ("operator", r" >= ", " > "), ("operator", r" == ", " != "),
    ("operator", r" && ", " || "), ("operator", r" \+= ", " = "),
    ("index", r"\bthreadIdx\.x", "threadIdx.y"), ("index", r"\bblockIdx\.x", "blockIdx.y"),
    ("index", r"\[i\]", "[0]"), ("index", r"\brow\b(?=[ )\]])", "column"), ("index", r"\bcolumn\b(?=[ )\]])", "row"),
    ("barrier", r"__syncthreads\(\);", ";"), ("barrier", r"__syncwarp\(\);", ";"), ("barrier", r"__threadfence\(\);", ";"),
    ("edge", r"if \([^()]* (?:<|>=) [^()]*\) (?=return;|continue;)", "if (false) "),
)


def is_code(line):
    """Whether a change of a line can change what is computed, not only which of two ways computes it."""
    stripped = line.strip()
    return (not re.match(r"//|#|static_assert|template|using|throw|\{ .* \} ->|\"", stripped)
            and "Error(" not in stripped and "in_vectors = " not in stripped)


def candidates(stage):
    """(kind, file, number of the line, line, changed line) of every place that can be changed."""
    for folder in FOLDERS:
        if stage and not folder.startswith(stage):
            continue
        for file in sorted((REPOSITORY / "stages" / folder).rglob("*")):
            if file.suffix not in (".cpp", ".cu", ".cuh") or LEFT_OUT.search(file.name):
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
                code = line.split("//")[0]
                if not is_code(line):
                    continue
                for kind, old, new in CHANGES:
                    for found in re.finditer(old, code):
                        yield (kind, file.relative_to(REPOSITORY), number,
                               line, line[:found.start()] + new + line[found.end():])


def pick(count, seed, stage):
    """So many of them, of each kind and stage about as many."""
    groups = {}
    for one in candidates(stage):
        groups.setdefault((one[0], one[1].parts[1]), []).append(one)
    chance = random.Random(seed)
    order = sorted(groups)
    chance.shuffle(order)
    picked = []
    while groups and len(picked) < count:
        for key in order:
            if key in groups and len(picked) < count:
                picked.append(groups[key].pop(chance.randrange(len(groups[key]))))
                if not groups[key]:
                    del groups[key]
    return picked


def run(command, log):
    with log.open("w", encoding="utf-8") as output:
        return subprocess.run(command, cwd=HOME / "source", stdout=output, stderr=subprocess.STDOUT, check=False).returncode


def prepare():
    """A copy of the repository in which everything is built."""
    source = HOME / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    files = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, stdout=subprocess.PIPE, check=True).stdout
    for name in files.decode().split("\0"):
        if name and (REPOSITORY / name).exists():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, source / name)
    if run(["cmake", "--preset", "cpu", "-DBUILD_TESTING=ON"], HOME / "configure.log") or run(
            ["cmake", "--build", "--preset", "cpu", "--target", "short_tests"], HOME / "build.log"):
        sys.exit(f"mutants.py: what is not changed does not build; see {HOME}/build.log")


def notice(folder):
    """The test that notices; empty if none does."""
    stage = folder[:2]
    ctest = ["ctest", "--preset", "cpu", "--parallel", str(os.cpu_count()), "--stop-on-failure", "-LE", "^long$"]
    own = f"Stage{stage}|stage{stage}|Ladder|Kernels|Trainings|Fus"
    for words in (["-R", own], ["-E", own]):
        log = HOME / "test.log"
        if run([*ctest, *words], log):
            found = re.findall(r"Test +#\d+: (\S+) \.*\**(?:Failed|Timeout|Exception)|\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT)",
                               log.read_text(encoding="utf-8", errors="replace"))
            return next((name for pair in found for name in pair if name), "a test")
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--stage", choices=[folder[:2] for folder in FOLDERS], help="of this stage only")
    parser.add_argument("--list", action="store_true", help="only say what would be changed")
    options = parser.parse_args()
    # More than enough, as some do not compile.
    picked = pick(options.count if options.list else 3 * options.count, options.seed, options.stage)
    if not options.list:
        prepare()
    survivors, tried = 0, 0
    for kind, file, number, line, changed in picked:
        if tried == options.count:
            break
        print(f"{file}:{number + 1}: {kind}\n  - {line.strip()}\n  + {changed.strip()}", flush=True)
        if options.list:
            continue
        begin = time.monotonic()
        place = HOME / "source" / file
        original = place.read_text(encoding="utf-8")
        lines = original.splitlines(keepends=True)
        lines[number] = changed + "\n"
        place.write_text("".join(lines), encoding="utf-8")
        if run(["cmake", "--build", "--preset", "cpu", "--target", "short_tests"], HOME / "build.log"):
            verdict = "does not compile"
        else:
            tried += 1
            test = notice(file.parts[1])
            verdict = f"found by {test}" if test else "SURVIVED"
            survivors += not test
        place.write_text(original, encoding="utf-8")
        print(f"  {verdict}, {time.monotonic() - begin:.0f} s", flush=True)
    print(f"{tried - survivors} of {tried} found")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
