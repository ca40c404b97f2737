"""What measure_stage04.py, measure_stage05.py and measure_reports.py share: commands, reports, tables, the file.

A section is a title and a function that returns the section's Markdown. A section whose command
fails, or takes too long, says so in the file, and the others are measured all the same.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


# Commands


class Failed(Exception):
    """A command did not do what it should; says which. `output` is what it printed before."""

    def __init__(self, text, output=""):
        super().__init__(text)
        self.output = output


def stop(process):
    """Ends a process. Asked first: mpirun then takes its own processes with it."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()


def output_of_stopped(process):
    """What a process had printed. Its own processes may outlive it and hold its pipes open."""
    try:
        return process.communicate(timeout=5)[0]
    except subprocess.TimeoutExpired as late:
        return (late.output or b"").decode()


def complaint(errors):
    """What says most of what a command wrote to stderr: its own sentence, else the last line."""
    lines = [line for line in errors.splitlines() if line.strip("- \n")]
    for line in lines:
        if re.match(r"(stage\d\d_\w+|ladder( \w+)?|grade|per_step_memory|fold_bias"
                    r"|[\w.]+: error|(\[rank\d+\]: )?[\w.]*Error): ", line):
            return line.rstrip(". ")
    return lines[-1].strip(". ") if lines else "it did not say why"


def run(command, limit=120, env=None, name=None, notes=None):
    """What a command prints.

    `name` is what a failure calls it, in place of its first words. What it prints on standard error is
    appended to the list `notes`, if there is one.
    """
    words = [str(word) for word in command]
    name = name or shlex.join(words[:4]) + " ..."
    try:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=env)
    except (FileNotFoundError, PermissionError):
        raise Failed(f"`{words[0]}` is not there") from None
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        stop(process)
        raise Failed(f"`{name}` took more than {limit:.0f} s", output_of_stopped(process)) from None
    except BaseException:
        stop(process)
        raise
    if process.returncode != 0:
        raise Failed(f"`{name}` ended with {process.returncode}: {complaint(errors)}", output)
    if notes is not None:
        notes.append(errors)
    return output


def report_of(command, **how):
    """What a program writes with --report; `how` is for run()."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        run([*command, "--report", path], **how)
        return json.loads(path.read_text(encoding="utf-8"))


# Figures and tables


def median_of(report, figure):
    """Of a training's epochs without the first."""
    epochs = report["epochs"]
    return statistics.median(epoch[figure] for epoch in epochs[1:] or epochs)


def rate_of(report):
    return median_of(report, "images_per_second")


def seconds_of(report):
    return median_of(report, "seconds")


def rate(value):
    return f"{value / 1e6:.2f} M" if value >= 1e6 else f"{value / 1e3:.1f} k"


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


# The machine


def gpu_count():
    try:
        return sum(line.startswith("GPU ") for line in run(["nvidia-smi", "-L"]).splitlines())
    except Failed:
        return 0


def torch_version():
    """Empty without PyTorch."""
    try:
        return run([sys.executable, "-c", "import torch; print(torch.__version__)"]).strip()
    except Failed:
        return ""


def heading(script, options, libraries):
    """The date, the command, the GPUs, the versions.

    `script` is its name, perhaps with options of its own.
    `libraries` are those lines of a program's `info` that tell its versions.
    """
    command = ["python3", *f"benchmarks/{script}".split()]
    command += ["--sections", options.sections] if options.sections else []
    command += ["--quick"] if options.quick else []
    lines = [f"Measured {datetime.date.today()} with `{shlex.join(command)}`."]
    try:
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        kinds = collections.Counter(run(query).strip().splitlines())
        lines += [f"GPU and driver: {f'{count} x ' if count > 1 else ''}{kind}."
                  for kind, count in kinds.items()]
    except Failed:
        lines.append("There was no GPU: kernels ran on the CPU, and the figures mean nothing.")
    lines += [line.strip().removeprefix("library").strip() + "." for line in libraries]
    version = torch_version()
    if version:  # else its columns are empty
        lines.append(f"PyTorch {version}.")
    return "  \n".join(lines) + "\n"


# The script


def make_parser(description, stage):
    """The options of all such scripts."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/cuda/bin",
                        help="folder with the programs [build/cuda/bin]")
    parser.add_argument("--output", type=pathlib.Path, default=HERE / f"results/stage{stage:02}.md")
    parser.add_argument("--sections", default="", help="numbers of the sections to measure [all]")
    parser.add_argument("--quick", action="store_true", help="only try the script")
    return parser


class Bench:
    """What all sections need. `problems` are those of the section that is being measured."""

    def __init__(self, options):
        self.programs = options.programs
        self.quick = options.quick
        data = pathlib.Path(os.environ.get("STAGEWISE_DATA_DIR", ROOT / "datasets"))
        has_mnist = any((data / "mnist").glob("train-images*"))
        self.dataset = "mnist" if has_mnist and not options.quick else "digits"
        self.problems = []

    def program(self, pattern):
        program = next(self.programs.glob(pattern), None)
        if program is None:
            raise Failed(f"the program {pattern} is not there")
        return program

    def stage(self, number):
        return self.program(f"stage{number:02}_*")

    def peer(self, cases, *words):
        """PyTorch's images a second, {case: {form: rate}}; empty without PyTorch or a GPU.

        The cases are those of peers/pytorch_mlp_gpu.py. A form that fails is left out.
        """
        words = [*words, "--epochs", 2, "--limit", 0] if self.quick else words
        command = [sys.executable, HERE / "peers/pytorch_mlp_gpu.py", *cases, *words]
        try:
            result = json.loads(run(command, 240, name="pytorch_mlp_gpu.py"))
        except Failed as failure:
            self.problems.append(f"without PyTorch: {failure}")
            return {}
        self.problems += [f"PyTorch, {what}: {why}" for what, why in result["failures"].items()]
        return {case: rates for case, rates in result["images_per_second"].items() if rates}


def section_text(bench, section):
    bench.problems = []
    try:
        text = section(bench)
    except Failed as failure:
        text = f"Not measured: {failure}.\n"
    except Exception as error:  # of the script: what the other sections find is not lost
        text = f"Not measured: the script stumbled over {error!r}.\n"
    if bench.problems:
        lines = "\n".join(f"- {problem}" for problem in dict.fromkeys(bench.problems))
        text += f"\nNot as planned:\n\n{lines}\n"
    return text


def measure(bench, options, title, top, sections, order=None):
    """Measures the wanted ones of [(title, function)], by number, and writes the file after each.

    `order` is that of measuring; in the file, they come by number.
    """
    wanted = {int(number) for number in options.sections.split(",") if number}
    parts = {}
    for number in order or range(1, len(sections) + 1):
        if wanted and number not in wanted:
            continue
        name, section = sections[number - 1]
        start = time.monotonic()
        parts[number] = f"## {number}. {name}\n\n{section_text(bench, section)}"
        print(f"{number}. {name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
        text = "\n".join([f"# {title}\n", top, *(parts[done] for done in sorted(parts))])
        options.output.write_text(text, encoding="utf-8")
