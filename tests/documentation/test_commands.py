#!/usr/bin/env python3
"""Runs the commands that README and the pages show: test_commands.py PROGRAMS [PAGE...]

Those of a page one after the other, all pages in one folder, since a command reads what one before it has saved; with
less data and smaller matrices, as it is the command that is tried. Of run.sh, those that only read and draw are run; of
the others, the names are looked up in its help. Prints what failed, and exits with 1 if something did.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/pages/index.md", "docs/pages/seeing.md", "docs/pages/plots.md", "docs/pages/*.md"]
# Seconds that no command takes with so little data, on whatever machine.
LIMIT = 120
# NVIDIA's profiler; files that a reader brings; and a training's gradient that overflows, as the page says.
CANNOT_RUN = re.compile(r"nsys|seven\.png|NAME|my\.cu|--learning-rate 1e10|\btest_\w+|build/\w+/bin/(instrumented|mistakes)")
READ_OR_DRAW = re.compile(r"\./run\.sh (plot|convert|predict-scaling)\b")


def pages():
    """Each page once, in this order."""
    return list(dict.fromkeys(path for pattern in PAGES for path in sorted(REPOSITORY.glob(pattern))))


def commands(page):
    """What the page's blocks without a language tell a reader to type: a line each, without what is said beside it."""
    for block in re.findall(r"^```\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in re.sub(r" *\\\n *", " ", block).splitlines():
            line = line.removeprefix("$ ").strip()
            if re.match(r"(\w+=\S+ )*(mpirun .*)?build/|\./run\.sh|\w+=\S+$", line):
                program, _, rest = line.partition(" ")
                yield re.split(r" {3,}", f"{program} {rest.lstrip()}")[0]


def at_most(command, option, most):
    """The command with the option's value, if there is one, reduced to this."""
    return re.sub(rf"({option}) (\d+)", lambda found: f"{found[1]} {min(int(found[2]), most)}", command)


def reduced(command):
    """The same command for less data."""
    words = command.split()
    batch = max([int(number) for number in re.findall(r"--batch-size (\d+)", command)], default=100)
    if "train" in words:
        command = at_most(command, "--validation", 50)
        command = re.sub(r"--epochs (\d+)", lambda found: f"--epochs {min(5, -(-int(found[1]) // 2))}", command)
        command = re.sub(r" --train-limit \d+", "", command) + " --test-limit 20"
        if "--resume" not in words and "step" not in words:
            command += f" --train-limit {max(batch, 30 if 'cnn' in words else 100)}"
        if not re.search("--epochs|stage01", command):
            command += " --epochs 1"
    elif "evaluate" in words:
        command += " --test-limit 20"
    elif "bin/grade" in command:
        command = "" if "--mode 3" in command else command  # trains by real data, for minutes
    elif "/ladder" in command and not re.search(r"--help|all-reduce", command):
        sizes = {"convolution": ["--images"], "gemm": ["--m", "--n", "--k"], "reduce": ["--n"]}.get(words[1], ["--m", "--n"])
        for option in sizes + [option for option in ("--m", "--n") if option in words and option not in sizes]:
            command = at_most(command, option, 40) if option in words else f"{command} {option} 40"
        command += " --repetitions 0" * ("--repetitions" not in words)
    return command


def main():
    programs, *only = sys.argv[1:]
    folder = tempfile.mkdtemp()
    known = subprocess.run([REPOSITORY / "run.sh", "help"], capture_output=True, text=True, check=True).stdout
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    data = os.environ.get("STAGEWISE_DATA_DIR", "")
    failed, ran, assignments = [], 0, []
    for page in pages():
        if only and page.name not in only:
            continue
        for command in commands(page):
            if re.fullmatch(r"\w+=\S+", command):
                assignments.append(command)
                continue
            if CANNOT_RUN.search(command) or ("--dataset mnist" in command or "cifar10" in command) and not data:
                continue
            if command.startswith("./run.sh") and not READ_OR_DRAW.match(command):
                if (name := re.match(r"\./run\.sh ([a-z][\w-]*)", command)) and not re.search(rf"^  {name[1]}\b", known, re.MULTILINE):
                    failed.append(f"{page.name}: {command}\n    ./run.sh help does not know {name[1]}")
                continue
            if not (run := reduced(command)):
                continue
            run = re.sub(r"\bmpirun (--oversubscribe )?", "mpirun --oversubscribe --bind-to none ", run)
            run = re.sub(r"build/\w+/bin", programs, run).replace("./run.sh", f"{REPOSITORY}/run.sh --no-install")
            begin = time.monotonic()
            done = subprocess.run(["timeout", str(LIMIT), "bash", "-c", "; ".join([*assignments, run])], cwd=folder,
                                  env=environment, capture_output=True, text=True, check=False)
            ran += 1
            print(f"{time.monotonic() - begin:6.1f} s  {page.name}: {command}", flush=True)
            if done.returncode:
                failed.append(f"{page.name}: {command}\n    {run}\n    {done.returncode}: {(done.stderr or done.stdout)[-400:]}")
    shutil.rmtree(folder)
    print(f"{ran} commands ran, {len(failed)} failed", *failed, sep="\n")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
