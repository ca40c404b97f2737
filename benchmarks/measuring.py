"""What the scripts that measure share: commands, reports, tables, the file.

A section is a title and a function that returns the section's Markdown. A section whose command
fails, or takes too long, says so in the file, and the others are measured all the same.
"""

import argparse
import collections
import datetime
import json
import math
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
NOTHING = "-"
PRECISIONS = ("float", "double")
REPORT_000 = ["--hidden", 1000, "--activation", "sigmoid"]  # its network, which it trains in double
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n"]


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


def environment():
    """OpenBLAS chooses its kernels itself, whatever OPENBLAS_CORETYPE says; Open MPI asks root for a word, twice."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_CORETYPE")}
    return env | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(command, limit=120, env=None, name=None, notes=None):
    """What a command prints.

    `name` is what a failure calls it, in place of its first words. What it prints on standard error is
    appended to the list `notes`, if there is one.
    """
    words = [str(word) for word in command]
    name = name or shlex.join(words[:4]) + " ..."
    try:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=env or environment())
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


def shown(value, form):
    return NOTHING if value is None else format(value, form)


def digits(value):
    """A number with three significant digits."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


def ratio(numerator, denominator):
    return f"{digits(numerator / denominator)}x" if numerator and denominator else NOTHING


def rate(value):
    if value is None:
        return NOTHING
    return f"{value / 1e6:.2f} M" if value >= 1e6 else f"{value / 1e3:.1f} k"


def duration(seconds):
    if seconds is None:
        return NOTHING
    size, unit = next(((size, unit) for size, unit in ((1, "s"), (1e-3, "ms")) if seconds >= 0.9995 * size),
                      (1e-6, "us"))
    return f"{digits(seconds / size)} {unit}"


def percent(fraction):
    return NOTHING if fraction is None else f"{100 * fraction:.{0 if fraction >= 0.0995 else 1}f} %"


def by(*sizes):
    return " x ".join(map(str, sizes))


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def table_of(path, title):
    """The rows of the first table below a heading of a results file, head first; empty without one."""
    text = path.read_text(encoding="utf-8")
    found = re.search(rf"^## (?:\d+\. )?{re.escape(title)}\n((?:(?!## ).*\n)*?)((?:\|.*\n)+)", text, re.MULTILINE)
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in found[2].splitlines()] if found else []
    return rows[:1] + rows[2:]  # without the line of dashes


def number(cell):
    """Of "1,024", "0.5" or "4.5x"; None for an empty cell."""
    try:
        return float(cell.replace(",", "").removesuffix("x"))
    except ValueError:
        return None


def code(*lines):
    return "```\n" + "\n".join(lines) + "\n```\n"


def command_line(command):
    """A command as a reader would type it: files by their names, no folders of this machine."""
    def word(part):
        if not isinstance(part, pathlib.Path):
            return shlex.quote(str(part))
        return str(part.relative_to(ROOT) if HERE in part.parents else part.name)

    return " ".join(map(word, command))


def own_name(kernel):
    """A kernel's own name, without namespace, arguments and parameters: "output_layer_kernel"."""
    name = re.sub(r"<.*|\(.*", "", re.sub(r"\(anonymous namespace\)::|<unnamed>::", "", kernel))
    return name.split("::")[-1].split()[-1]


def short_name(kernel):
    """"output_layer" of a kernel's whole name; a copy has none."""
    return kernel if kernel.startswith("copy") else own_name(kernel).removesuffix("_kernel")


def explained(text):
    """The table that --explain prints, of what a training prints."""
    return code(text[text.index("\na step, "):text.index("\ntest ")].strip("\n"))


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


def heading(options, *more):
    """The date, the command, the GPUs, the versions that our programs know. `more` are options besides those of all."""
    words = [pathlib.Path(sys.argv[0]).name, *more]
    words += ["--sections", options.sections] if options.sections else []
    words += ["--quick"] if options.quick else []
    lines = [f"Measured {datetime.date.today()} with `python3 benchmarks/{shlex.join(words)}`."]
    info = run([program_of(options.programs, "stage04" if options.is_about_gpus else "stage01"), "info"]).splitlines()
    if options.is_about_gpus:
        lines += gpu_lines()
    told = ("library",) if options.is_about_gpus else ("library", "runs on")
    lines += [line.removeprefix(word).strip() + "." for line in info for word in told if line.startswith(word)]
    version = torch_version()
    if version:  # else its columns are empty
        lines.append(f"PyTorch {version}.")
    return "  \n".join(lines) + "\n"


def gpu_lines():
    """The GPUs and their driver."""
    try:
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        kinds = collections.Counter(run(query).strip().splitlines())
    except Failed:
        return ["There was no GPU: kernels ran on the CPU, and the figures mean nothing."]
    return [f"GPU and driver: {f'{count} x ' if count > 1 else ''}{kind}." for kind, count in kinds.items()]


def program_of(programs, name):
    """The program that begins with this name: stage04 is stage04_minibatch."""
    program = next((path for path in programs.glob(f"{name}*") if re.fullmatch(rf"{name}(_[a-z_]+)?", path.name)), None)
    if program is None:
        raise Failed(f"the program {name} is not in {programs}; build it with ./run.sh build --preset cuda")
    return program


# The script


def spans_of(trace):
    """[(begin, end, stream, name)] in the lines of a trace."""
    lines = (line.split(" ", 3) for line in trace.splitlines())
    return [(int(begin), int(end), int(stream), name) for begin, end, stream, name in lines]


class Bench:
    """What all sections need. `problems` are those of the section that is being measured; the folder is removed at the
    end."""

    def __init__(self, options):
        self.options = options
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.programs = options.programs.resolve()
        self.quick = options.quick
        self.data = pathlib.Path(os.environ.get("STAGEWISE_DATA_DIR", ROOT / "datasets"))
        self.has_mnist = any((self.data / "mnist").glob("train-images*"))
        self.dataset = "mnist" if self.has_mnist and not self.quick else "digits"
        self.problems = []
        self.end = time.monotonic() + options.budget

    def words(self, program):
        """The command that "stage04" or "ladder rungs" stands for."""
        name, *words = program.split()
        return [program_of(self.programs, name), *words]

    def limit(self, most=120):
        """The seconds that a command may take."""
        left = self.end - time.monotonic()
        if left < 1:
            raise Failed("the time that --budget gives was over")
        return min(most, left)

    def run(self, command, most=120):
        return run(command, limit=self.limit(most), name=command_line(command))

    def report(self, command, most=120):
        return report_of(command, limit=self.limit(most), name=command_line(command))

    def train(self, program, *words, epochs=5):
        return self.report([*self.words(program), "train", *words, "--epochs", 2 if self.quick else epochs])

    def ladder(self, name, *words, most=90):
        """A ladder's tables, and what it prints. An exit code of 1 is a result: a kernel that is wrong."""
        words = [*self.words("ladder"), name, *words]
        path = self.folder / "report.json"
        path.unlink(missing_ok=True)
        try:
            text = run([*words, "--report", path], limit=self.limit(most), name=command_line(words))
        except Failed as failure:
            if not path.exists():
                raise
            text = failure.output
        tables = json.loads(path.read_text(encoding="utf-8"))["tables"]
        self.problems += [f"`{command_line(words)}`: {row['name']} is wrong: {row['wrong']}"
                          for found in tables for row in found["rows"] if "wrong" in row]
        return tables, text

    def latency(self, program, checkpoint, *words):
        """{path: seconds of a batch} of an evaluation."""
        report = self.report([*self.words(program), "evaluate", "--load", checkpoint, "--latency", *words])
        return {path["path"]: path["median_seconds"] for path in report["latency"]}

    def tracer(self):
        """The library that writes down when kernels and copies run; CUDA loads it into a program."""
        library = self.programs / "libtrace_kernels.so"
        if not library.exists():
            raise Failed(f"`{library.name}` is not there")
        return library

    def traced(self, command):
        """[(begin, end, stream, name)] of a command's kernels and copies, in ns, by beginning."""
        path = self.folder / "trace.txt"
        path.unlink(missing_ok=True)
        run(command, limit=self.limit(), name=command_line(command), env=environment() | {
            "CUDA_INJECTION64_PATH": str(self.tracer()), "STAGEWISE_KERNELS": str(path)})
        return spans_of(path.read_text(encoding="utf-8"))

    def attempt(self, work, *words, **how):
        """What `work` returns; None if it fails, which is noted then."""
        try:
            return work(*words, **how)
        except Failed as failure:
            self.problems.append(str(failure))
            return None

    def peer(self, script, *words):
        """What a script in peers/ prints, as JSON; empty without PyTorch or a GPU. What fails there is noted."""
        text = self.attempt(run, [sys.executable, HERE / "peers" / script, *words], 300, name=script)
        result = json.loads(text) if text else {}
        self.problems += [f"PyTorch, {what}: {why}" for what, why in result.get("failures", {}).items()]
        return result

    def peer_rates(self, cases, *words):
        """PyTorch's images a second, {case: {form: rate}}. The cases are those of peers/pytorch_mlp_gpu.py."""
        words = [*words, "--epochs", 2, "--limit", 0] if self.quick else words
        rates = self.peer("pytorch_mlp_gpu.py", *cases, *words).get("images_per_second", {})
        return {case: of_case for case, of_case in rates.items() if of_case}


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


def parse(description, add_options=None, **defaults):
    """The options of all such scripts. `add_options` adds more to the parser; `defaults` are those of some."""
    name = pathlib.Path(sys.argv[0]).stem.removeprefix("measure_")
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/cuda/bin",
                        help="folder with the programs [build/cuda/bin]")
    parser.add_argument("--output", type=pathlib.Path, default=HERE / f"results/{name}.md")
    parser.add_argument("--sections", default="", help="numbers of the sections to measure [all]")
    parser.add_argument("--budget", type=float, default=math.inf, metavar="SECONDS",
                        help="what is not measured by then is left out")
    parser.add_argument("--quick", action="store_true", help="only try the script")
    if add_options:
        add_options(parser)
    parser.set_defaults(**{"is_about_gpus": True, **defaults})
    return parser.parse_args()


def main(description, title, sections, bench=Bench, order=None, add_options=None, note="", **defaults):
    """A script: `bench` makes what its sections are given of the options; a `note` follows the heading."""
    options = parse(description, add_options, **defaults)
    try:
        top = heading(options) + note
    except Failed as failure:
        sys.exit(f"{failure}.")
    measure(bench(options), options, title, top, sections, order)
