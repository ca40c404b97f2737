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
# What takes other machines, files that a reader brings or a command with one of the shell's variables makes, a roofline
# of a GPU, or minutes: images one by one, and gradings. And a training that overflows, as its page says.
CANNOT_RUN = re.compile(r"nsys|hostfile|seven\.png|NAME|my\.cu|\$(?!images)|roofline|--latency|bin/grade|seq\.h5"
                        r"|--learning-rate 1e10|\btest_\w+|bin/(instrumented|mistakes)|tuned\.|relu\.csv")
READ_OR_DRAW = re.compile(r"\./run\.sh (plot|convert|predict-scaling)\b")


def pages():
    """Each page once, in this order."""
    return list(dict.fromkeys(path for pattern in PAGES for path in sorted(REPOSITORY.glob(pattern))))


def commands(page):
    """What the page's blocks without a language tell a reader to type: a line each, without what is said beside it."""
    text = page.read_text(encoding="utf-8")
    for language, block in re.findall(r"^```([^\n]*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if language:
            continue
        for line in re.sub(r" *\\\n *", " ", block).splitlines():
            line = line.removeprefix("$ ").strip()
            if re.match(r"(\w+=\S+ )*(mpirun .*)?build/|\./run\.sh|images=\S+$", line):
                line = re.sub(r" +(train\b|--)", r" \1", line)
                yield re.split(r" {2,}", line)[0]


def at_most(command, option, most):
    """The command with the option's value, if there is one, reduced to this."""
    return re.sub(rf"({option}) (\d+)", lambda found: f"{found[1]} {min(int(found[2]), most)}", command)


def reduced(command):
    """The same command for less data."""
    words = command.split()
    if "train" in words:
        batch = max([int(number) for number in re.findall(r"--batch-size (\d+)", command)], default=0)
        if "cnn" in words and not batch:
            command, batch = command + " --batch-size 10", 10
        command = at_most(command, "--validation", 50)
        command = re.sub(r"--epochs (\d+)", lambda found: f"--epochs {min(5, -(-int(found[1]) // 2))}", command)
        command = re.sub(r" --(train|test)-limit \d+", "", command) + " --test-limit 20"
        if "--resume" not in words:
            command += f" --train-limit {(batch or 100) + 50 * ('--validation' in words)}" * ("step" not in words)
            command += " --epochs 1" * ("--epochs" not in words)
    elif "evaluate" in words:
        command += " --test-limit 20"
    elif "/ladder" in command and not re.search(r"--help|all-reduce", command):
        sizes = {"convolution": ["--images"], "gemm": ["--m", "--n", "--k"], "reduce": ["--n"]}
        sizes = sizes.get(words[1], ["--m", "--n"])
        for option in sizes + [option for option in ("--m", "--n") if option in words and option not in sizes]:
            command = at_most(command, option, 40) if option in words else f"{command} {option} 40"
        command += " --repetitions 0" * ("--repetitions" not in words)
    return command


def is_known(command, known):
    """Whether the help of run.sh says what its command is for."""
    name = re.match(r"\./run\.sh ([a-z][\w-]*)", command)
    return name is None or re.search(rf"^  {name[1]}\b|\b{name[1]} NAME (helps|shows)", known, re.MULTILINE)


def main():
    programs, *only = sys.argv[1:]
    folder = tempfile.mkdtemp()
    known = subprocess.run([REPOSITORY / "run.sh", "help"], capture_output=True, text=True, check=True).stdout
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    data = Path(os.environ.get("STAGEWISE_DATA_DIR", "none")).resolve()
    environment["STAGEWISE_DATA_DIR"] = str(data)
    failed, ran, seen, assignments = [], 0, set(), []
    for page in pages():
        if only and page.name not in only:
            continue
        for command in commands(page):
            if command.startswith("images="):
                assignments.append(command)
                continue
            if CANNOT_RUN.search(command) or any(f"--dataset {name}" in command and not (data / name).is_dir()
                                                 for name in ("mnist", "cifar10")):
                continue
            if command.startswith("./run.sh") and not READ_OR_DRAW.match(command):
                if not is_known(command, known):
                    failed.append(f"{page.name}: {command}\n    ./run.sh help does not know it")
                continue
            run = re.sub(r" --oversubscribe\b", "", reduced(command))
            run = re.sub(r"\bmpirun ", "mpirun --oversubscribe --bind-to none ", run)
            run = re.sub(r"build/\w+/bin", programs, run)
            run = READ_OR_DRAW.sub(rf"{REPOSITORY}/run.sh \1 --no-install", run)
            if run in seen and not re.search("--(save|csv|report|output)", run):
                continue
            seen.add(run)
            begin = time.monotonic()
            done = subprocess.run(["timeout", str(LIMIT), "bash", "-c", "; ".join([*assignments, run])], cwd=folder,
                                  env=environment, capture_output=True, text=True, check=False)
            ran += 1
            print(f"{time.monotonic() - begin:6.1f} s  {page.name}: {command}", flush=True)
            differs = (done.returncode == 1 and not done.stderr and "compare_checkpoints" in command
                       and "--tolerance" not in command)
            if done.returncode and not differs:
                failed.append(f"{page.name}: {command}\n    {run}\n"
                              f"    {done.returncode}: {(done.stderr or done.stdout)[-400:]}")
    shutil.rmtree(folder)
    print(f"{ran} commands ran, {len(failed)} failed", *failed, sep="\n")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
