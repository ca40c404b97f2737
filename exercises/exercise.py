#!/usr/bin/env python3
"""Exercises that check themselves: lists them, checks what a learner has written, gives hints.

Each folder here is an exercise: exercise.md (what to do, hints), start.* (what the learner begins with),
check.* (a program that includes the learner's file and says what is wrong), solution.* and wrong/*
(answers that must be refused, with the sentence that they must get: patches of the solution, or files).

The learner's files are in my_exercises, or in the folder that STAGEWISE_EXERCISES names.
"""

import concurrent.futures
import csv
import fcntl
import functools
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import typing
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
sys.path.insert(0, str(REPOSITORY / "tools"))

from stagewise import command_line  # noqa: E402: the path comes first

CUDA_ON_CPU = REPOSITORY / "cuda_on_cpu"
RUNTIME = REPOSITORY / "build" / "try"
DEFAULT_SECONDS = 60  # that a run of a check may take
COMPILER_SECONDS = 180  # likewise of a compiler, which shares the processors with others in a class
LARGEST_FILE = 1 << 21  # in 512 bytes: what a run may write; MPI has files of its own
MOST_OUTPUT = 1_000_000  # bytes of what it prints that are looked at
STATES = "states.json"
SANITIZER = "Invalid|Misaligned|Race|Potential|Uninitialized|Barrier|Program hit"  # how its findings begin


class Unusable(command_line.UsageError):
    """What keeps us from checking anything, as one sentence."""


class Exercise:
    """A folder of this directory."""

    def __init__(self, folder):
        self.folder = folder
        self.name = folder.name
        head, _, body = (folder / "exercise.md").read_text(encoding="utf-8").partition("\n\n")
        title, *fields = head.splitlines()
        self.title = title[len("# "):]
        self.fields = dict(field.split(": ", 1) for field in fields)
        self.text, *self.hints = re.split(r"^## Hint\n", body, flags=re.MULTILINE)
        self.kind = self.fields["kind"]
        self.suffix = ".cu" if self.kind == "cuda" else ".cpp"

    def file(self, name):
        return self.folder / (name + self.suffix)

    def wrong(self, folder):
        """(file, regular expression of the sentence that it must get). What is a patch becomes a file in a folder."""
        answers = [(self.file("start"), self.fields["start"])]
        for path in sorted((self.folder / "wrong").iterdir()):
            first = path.read_text(encoding="utf-8").splitlines()[0]
            answers.append((self.patched(path, folder) if path.suffix == ".patch" else path,
                            first.removeprefix("// ").removeprefix("expect: ")))
        return answers

    def patched(self, patch, folder):
        """The solution with a patch, as a file in a folder."""
        answer = Path(folder) / (patch.stem + self.suffix)
        done = subprocess.run(["patch", "--unified", "--silent", "--output", answer, self.file("solution"), patch],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Unusable(f"{shown(patch)} does not fit the solution: {(done.stdout + done.stderr).strip()}")
        return answer


def exercises():
    return [Exercise(path.parent) for path in sorted(HERE.glob("*/exercise.md"))]


def find(name):
    """The exercise of this name, number or part of the name."""
    known = exercises()
    exact = [one for one in known if name in (one.name, one.name[3:], one.name[:2], one.name[:2].lstrip("0"))]
    found = exact or [one for one in known if name in one.name]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(one.name for one in found)
        raise Unusable(f"'{name}' matches {names}; give a longer part of the name")
    raise Unusable(f"there is no exercise '{name}'; ./run.sh exercise lists them")


def shown(path):
    """A path as the learner would type it."""
    path = Path(path)
    return str(path.relative_to(REPOSITORY) if path.is_relative_to(REPOSITORY) else path)


# ---------------------------------------------------------------------------------------------------
# The learner's folder

class Workplace:
    """The learner's files, and what is known of them."""

    def __init__(self):
        folder = os.environ.get("STAGEWISE_EXERCISES") or REPOSITORY / "my_exercises"
        self.folder = Path(folder).absolute()
        self.states_file = Path(os.path.realpath(self.folder / STATES))  # a link stays one
        self.states = self.read_states()

    def read_states(self):
        try:
            states = json.loads(self.states_file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError):
            states = None
        if not are_states(states):
            raise command_line.Error(f"{shown(self.states_file)} does not say what has been solved: it is damaged, or "
                                     "has been changed; repair it, or rename it to begin a new one")
        return states

    def file(self, exercise):
        return self.folder / (exercise.name + exercise.suffix)

    def start(self, exercise):
        """Copies what the learner begins with, unless there is a file already."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_new(self.file(exercise), exercise.file("start").read_text(encoding="utf-8"))

    def remember(self, exercise, key, change):
        """Replaces a mark, or None if there is none, by what change() makes of it. Other terminals that want to change
        one wait.

        :return: the mark."""
        with open(f"{self.states_file}.lock", "w", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
            except OSError as error:  # which does not name the file; not every file system has locks
                raise OSError(error.errno, error.strerror, lock.name) from None
            self.states = self.read_states()
            marks = self.states.setdefault(exercise.name, {})
            marks[key] = change(marks.get(key))
            new = Path(f"{self.states_file}.new")
            new.unlink(missing_ok=True)  # left by a process that was killed
            write_new(new, json.dumps(self.states, indent=2))
            new.replace(self.states_file)
        return marks[key]

    def recall(self, exercise, key):
        return self.states.get(exercise.name, {}).get(key)

    def state(self, exercise):
        file = self.file(exercise)
        if not file.exists():
            return "-"
        if self.recall(exercise, "solved") == digest(file):
            return "solved"
        return "changed" if self.recall(exercise, "solved") else "begun"


def are_states(value):
    """Is it {name: {"solved": digest, "hints": number}}? Other marks may be those of a later version."""
    kinds = {"solved": str, "hints": int}
    return isinstance(value, dict) and all(
        isinstance(marks, dict) and all(isinstance(mark, kinds.get(key, object)) for key, mark in marks.items())
        for marks in value.values())


def write_new(path, text):
    """Writes a new file, as a whole or not at all."""
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise
    except OSError as error:
        path.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None


def digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


# ---------------------------------------------------------------------------------------------------
# Checking

def compiler():
    """The one for checks without kernels, and for CUDA on the CPU. CXX may contain arguments, as for CMake."""
    words = os.environ.get("CXX") or "c++"
    try:
        command = shlex.split(words)
    except ValueError:
        command = []
    if not command or not shutil.which(command[0]):
        raise Unusable(f"there is no compiler '{words}' here; the variable CXX names another")
    return command


def prepare(kinds):
    """Builds, unless that is done, what the checks are linked with: CUDA on the CPU, and what they have in common."""
    compiler()
    if "mpi" in kinds:
        for program in ("mpic++", "mpirun"):
            if not shutil.which(program):
                raise Unusable(f"there is no {program} here; ./run.sh install installs Open MPI")
    if "cuda" in kinds:
        done = subprocess.run([CUDA_ON_CPU / "try.sh", "--prepare", "--build", RUNTIME], check=False)
        if done.returncode != 0:
            raise Unusable("CUDA on the CPU could not be built; the reason is above")
    RUNTIME.mkdir(parents=True, exist_ok=True)
    for kind in kinds:
        sources = [*HERE.glob("check*.?pp"), *RUNTIME.glob("libcuda_on_cpu.a")]
        newest = max(source.stat().st_mtime_ns for source in sources)
        for source, made in common_objects(kind).items():
            if made.exists() and made.stat().st_mtime_ns > newest:
                continue
            new = made.with_suffix(f".{os.getpid()}")
            if subprocess.run([*compile_command(kind), "-c", source, "-o", new], check=False).returncode != 0:
                raise Unusable(f"{shown(source)} does not compile; the reason is above")
            new.replace(made)


def compile_command(kind):
    """The compiler with its options, for what is compiled once; kernels have a command of their own."""
    options = ["-std=gnu++20", "-O1", "-g1", f"-I{HERE}"]
    if kind == "cuda":
        return [*compiler(), *options, "-w", "-isystem", CUDA_ON_CPU / "include"]
    if kind == "mpi":  # an index beyond the end of a vector ends the program
        return ["mpic++", *options, "-DOMPI_SKIP_MPICXX", "-D_GLIBCXX_ASSERTIONS"]
    return [*compiler(), *options, "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def common_objects(kind):
    """What all checks of a kind are linked with: object files by their sources. Each command has its own."""
    mark = hashlib.sha256(str(compile_command(kind)).encode()).hexdigest()[:8]
    return {HERE / f"{name}.cpp": RUNTIME / f"{name}_{mark}.o" for name in ("check", f"check_{kind}")}


@functools.cache
def nvcc():
    """Where it is; None if it is nowhere."""
    found = subprocess.run([CUDA_ON_CPU / "try.sh", "--nvcc"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or None


def prepare_gpu():
    for found, program, what in ((nvcc(), "nvcc", "the CUDA Toolkit"),
                                 (shutil.which("nvidia-smi"), "nvidia-smi", "a GPU and its driver")):
        if not found:
            raise Unusable(f"there is no {program} here; --on-gpu needs {what}")
    if "GPU 0" not in subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False).stdout:
        raise Unusable("there is no GPU here; without --on-gpu, none is needed")


def check_command(exercise, answer, program, on_gpu):
    """What makes a program of a check and an answer."""
    source, answer = exercise.file("check"), f'-DEXERCISE_FILE="{answer}"'
    if on_gpu:
        return [nvcc(), "-arch=native", "-lineinfo", "-std=c++20", "-DEXERCISE_ON_GPU", f"-I{HERE}", answer, source,
                HERE / "check.cpp", HERE / "check_cuda.cpp", "-o", program]
    common = common_objects(exercise.kind).values()
    if exercise.kind == "cuda":
        return [CUDA_ON_CPU / "compile.sh", "--instrumented", RUNTIME, source, program, "-O1", "-std=gnu++20",
                f"-I{HERE}", answer, *common]
    return [*compile_command(exercise.kind), answer, source, *common, "-o", program]


def runs_of(exercise, answer, program, on_gpu):
    """(command, environment) of each run of a check."""
    if on_gpu:
        sanitizer = shutil.which("compute-sanitizer", path=f"{Path(nvcc()).parent}:{os.environ['PATH']}")
        tools = ["memcheck", "racecheck", "initcheck", "synccheck"] if sanitizer else []
        return [([program], {}), *(([sanitizer, "--tool", tool, program], {}) for tool in tools)]
    if exercise.kind == "cuda":
        return [([program], {"STAGEWISE_CPU_OBSERVE": "mistakes"}),
                ([program], {"STAGEWISE_CPU_THREAD_ORDER": "reverse", "STAGEWISE_CPU_STREAMS": "lazy"})]
    if exercise.kind == "mpi":
        settings = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                    "OMPI_MCA_btl_base_warn_component_unused": "0", "OMPI_MCA_btl": "^tcp,uct,openib,ofi"}
        return [(["mpirun", "-n", count, "--oversubscribe", "--bind-to", "none", program], settings)
                for count in exercise.fields["ranks"].split()]
    return [([program], {"ASAN_OPTIONS": "detect_leaks=0", "EXERCISE_FILE": str(answer)})]


class Verdict(typing.NamedTuple):
    """What a check has found."""
    passed: list  # of sentences
    complaint: str = ""  # empty: nothing is wrong

    def __bool__(self):
        return not self.complaint


def complaint_of(answer, done):
    """What a run found wrong; empty if nothing."""
    findings = [line for line in done.stderr.splitlines()
                if re.match(r"CUDA on the CPU: |==\d+==ERROR: AddressSanitizer|.*: runtime error: ", line)]
    failures = [line[6:] for line in done.stdout.splitlines() if line.startswith("fail  ")]
    if sanitizer := re.search(rf"^=+ ((?:(?:Error|Warning): )?(?:{SANITIZER}).*)\n(?:.* in ([^ ]+\.cu:\d+))?", done.stdout,
                              re.MULTILINE):
        place = f" ({sanitizer.group(2)})" if sanitizer.group(2) else ""
        findings = [f"compute-sanitizer: {sanitizer.group(1)}{place}"]
    if findings:
        first = re.sub(r"^(==\d+==ERROR|CUDA on the CPU): ", "", findings[0])
        place = re.search(re.escape(str(answer)) + r":\d+", done.stderr) if "Sanitizer" in first else None
        said = first + (f" ({place.group()})" if place else "")
        return said.replace(str(answer), shown(answer))
    if failures:
        return failures[0]
    if done.returncode != 0 or "done" not in done.stdout.splitlines():
        if done.returncode == -signal.SIGXFSZ:
            return "The program prints more and more: is there a loop without an end?"
        how = f"exit code {done.returncode}"
        if done.returncode < 0:
            how = signal.Signals(-done.returncode).name
        last = done.stderr.strip().splitlines()[-1:] or [how]
        return f"The program ended before the check was done: {last[0]}"
    return ""


class Done:
    """What a command has printed, and how it ended."""

    def __init__(self, command, settings, seconds):
        # Whoever calls this may have asked CUDA on the CPU for something else.
        variables = {name: value for name, value in os.environ.items() if not name.startswith("STAGEWISE_CPU_")}
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            limited = ["sh", "-c", f'ulimit -f {LARGEST_FILE}; exec "$@"', "sh", *(str(word) for word in command)]
            process = subprocess.Popen(limited, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       env={**variables, **settings}, start_new_session=True)
            try:
                self.returncode = process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.returncode = None  # it has not ended
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait()
            out.seek(0)
            err.seek(0)
            self.stdout = out.read(MOST_OUTPUT).decode(errors="replace")
            self.stderr = err.read(MOST_OUTPUT).decode(errors="replace")


def seconds_allowed():
    text = os.environ.get("STAGEWISE_EXERCISE_SECONDS") or str(DEFAULT_SECONDS)
    try:
        return float(text)
    except ValueError:
        raise Unusable(f"STAGEWISE_EXERCISE_SECONDS is '{text}', which is no number of seconds") from None


def check(exercise, answer, on_gpu=False):
    """Compiles and runs an answer."""
    seconds = seconds_allowed()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / exercise.name
        compiled = Done(check_command(exercise, answer, program, on_gpu), {}, max(seconds, COMPILER_SECONDS))
        if compiled.returncode is None:
            return Verdict([], "The compiler has not finished: does the file include itself, or something endless?")
        if compiled.returncode != 0:
            said = compiled.stderr.replace(str(answer), shown(answer))
            return Verdict([], "It does not compile:\n" + "\n".join(said.splitlines()[:12]))
        passed = []
        race = None  # where a barrier is said to be missing, it may be there, but not for all threads: the next run tells
        for command, settings in runs_of(exercise, answer, program, on_gpu):
            done = Done(command, settings, seconds)
            right = [line[6:] for line in done.stdout.splitlines() if line.startswith("ok    ")]
            if done.returncode is None:
                verdict = Verdict(right, f"It has not finished after {seconds:g} seconds: it waits for something that "
                                         "never happens, or a loop never ends.")
            else:  # what an earlier run has found right may be wrong in this one
                verdict = Verdict(right, complaint_of(answer, done))
            if race is not None:
                return verdict if "not all threads reach" in verdict.complaint else race
            if "between them is missing" in verdict.complaint:
                race = verdict
            elif not verdict:
                return verdict
            passed += [sentence for sentence in right if sentence not in passed]
        if race is not None:
            return race
        return Verdict(passed)


# ---------------------------------------------------------------------------------------------------
# What is printed

def in_color(text, code):
    is_colored = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return f"\033[{code}m{text}\033[0m" if is_colored else text


def fold(text, indent):
    """Lines of at most 80 columns."""
    return textwrap.fill(" ".join(text.split()), 80, initial_indent=indent, subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False).lstrip()


def print_list(workplace):
    print("Exercises, in the order of the lessons:\n")
    solved = 0
    known = exercises()
    for one in known:
        state = workplace.state(one)
        solved += state == "solved"
        mark = in_color(f"{state:7}", "32") if state == "solved" else f"{state:7}"
        print(f"  {one.name:24} {one.fields['form']:8} {mark} {one.title}")
    print(f"\n{solved} of {len(known)} solved. ./run.sh exercise NAME begins one, or checks what you have written.")


def print_text(exercise, workplace):
    print(in_color(f"{exercise.name}: {exercise.title}", "1") + "\n")
    print(exercise.text.strip() + "\n")
    print(f"Read first: docs/pages/{exercise.fields['page']}.md, \"{exercise.fields['section']}\"")
    print(f"Your file: {shown(workplace.file(exercise))}. Edit it, then: ./run.sh exercise {exercise.name[3:]}")
    print(f"If you are stuck: ./run.sh hint {exercise.name[3:]}")


def command_exercise(arguments):
    workplace = Workplace()
    if arguments.name is None:
        print_list(workplace)
        return 0
    exercise = find(arguments.name)
    file = workplace.file(exercise)
    if not file.exists():
        workplace.start(exercise)
        arguments.task = True
    if arguments.task:
        print_text(exercise, workplace)
        return 0
    if arguments.on_gpu:
        if exercise.kind != "cuda":
            raise Unusable(f"{exercise.name} has nothing for a GPU to do; leave out --on-gpu")
        prepare_gpu()
    else:
        prepare({exercise.kind})
    checked = digest(file)
    verdict = check(exercise, file, arguments.on_gpu)
    for sentence in verdict.passed:
        print(f"{in_color('ok', '32')}    {sentence}")
    if not verdict:
        first, *rest = verdict.complaint.split("\n")
        print(f"{in_color('wrong', '31')} {fold(first, indent='      ')}")
        print("\n".join(rest), end="\n" if rest else "")
        print(f"\n{exercise.name}: not yet. ./run.sh hint {exercise.name[3:]} helps, --task shows the task again.")
        return 1
    if arguments.on_gpu:
        print(f"\n{exercise.name}: right on this GPU. Without --on-gpu, the check also counts what it does.")
        return 0
    workplace.remember(exercise, "solved", lambda _: checked)
    unsolved = [one for one in exercises() if workplace.state(one) != "solved"]
    unsolved.sort(key=lambda one: one.name < exercise.name)  # those that follow come first
    print(f"\n{exercise.name}: solved. ./run.sh solution {exercise.name[3:]} shows ours.")
    if unsolved:
        print(f"Next: ./run.sh exercise {unsolved[0].name[3:]}")
    return 0


def command_hint(arguments):
    workplace = Workplace()
    exercise = find(arguments.name)
    if not workplace.file(exercise).exists():
        raise Unusable(f"{exercise.name} has not been begun: ./run.sh exercise {exercise.name[3:]}")
    count = workplace.remember(exercise, "hints", lambda seen: min((seen or 0) + 1, len(exercise.hints)))
    for number, hint in enumerate(exercise.hints[:count], 1):
        print(f"Hint {number} of {len(exercise.hints)}: {hint.strip()}\n")
    if count == len(exercise.hints):
        print(f"That was the last one; ./run.sh solution {exercise.name[3:]} --anyway shows our solution.")
    return 0


def command_solution(arguments):
    workplace = Workplace()
    exercise = find(arguments.name)
    if workplace.state(exercise) == "-" or not workplace.recall(exercise, "solved"):
        if not arguments.anyway:
            raise Unusable(f"{exercise.name} is not solved yet; --anyway shows our solution all the same")
    print(exercise.file("solution").read_text(encoding="utf-8"), end="")
    return 0


# ---------------------------------------------------------------------------------------------------
# For teachers, and for tests

def command_grade(arguments):
    chosen = [find(name) for name in arguments.only.split(",")] if arguments.only else exercises()
    folders = [Path(folder).resolve() for folder in arguments.folders]
    for folder in folders:
        if not folder.is_dir():
            raise Unusable(f"{folder} is no folder; each must have one learner's files")
    handed_in = {(folder, one.name): folder / (one.name + one.suffix) for folder in folders for one in chosen}
    prepare({one.kind for one in chosen if any(handed_in[folder, one.name].exists() for folder in folders)})
    results = {}
    # Several processes of MPI wait for each other, and need the machine for themselves.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool, \
            concurrent.futures.ThreadPoolExecutor(1) as alone:
        for folder in folders:
            for one in chosen:
                file = handed_in[folder, one.name]
                queue = alone if one.kind == "mpi" else pool
                results[folder, one.name] = queue.submit(check, one, file) if file.exists() else None
    rows = []
    for folder in folders:
        verdicts = [results[folder, one.name] for one in chosen]
        cells = ["-" if verdict is None else ("ok" if verdict.result() else "no") for verdict in verdicts]
        rows.append([folder.name, *cells, f"{cells.count('ok')}/{len(chosen)}"])
    heading = ["", *[one.name[:2] for one in chosen], "solved"]
    if arguments.csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(["learner", *[one.name for one in chosen], "solved"])
        writer.writerows(rows)
        return 0
    width = max(len(row[0]) for row in rows)
    for row in [heading, *rows]:
        print(f"{row[0]:{width}} " + " ".join(f"{cell:>2}" for cell in row[1:]))
    if arguments.reasons:
        print()
        for (folder, name), verdict in results.items():
            if verdict is not None and not verdict.result():
                print(f"{folder.name} {name}: " + fold(verdict.result().complaint, indent="    "))
    return 0


def verify(exercise):
    """What is wrong with an exercise itself, as sentences. Tries the start file and all wrong answers."""
    wrong = []
    verdict = check(exercise, exercise.file("solution"))
    if not verdict:
        wrong.append(f"the solution is refused: {verdict.complaint}")
    with tempfile.TemporaryDirectory() as folder:
        answers = exercise.wrong(folder)
        if len(answers) < 3:
            wrong.append("there are fewer than two wrong answers")
        for path, expected in answers:
            verdict = check(exercise, path)
            if verdict:
                wrong.append(f"{path.name} is accepted")
            elif not re.search(expected, verdict.complaint):
                wrong.append(f"{path.name} should get '{expected}', but gets: {verdict.complaint}")
    if len(exercise.hints) < 3:
        wrong.append("there are fewer than three hints")
    return wrong


def command_prepare(_):
    prepare({"cuda", "cpp", *(["mpi"] if shutil.which("mpic++") else [])})
    return 0


def verify_on_gpu(chosen, jobs):
    """Whether a GPU computes what every solution should. Of the other files it says what they get: on a GPU, those
    that are only slow are accepted."""
    prepare_gpu()
    chosen = [one for one in chosen if one.kind == "cuda"]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = [(one, path, pool.submit(check, one, path, True))
                   for one in chosen for path in (one.file("solution"), one.file("start"))]
    failed = 0
    for one, path, result in results:
        verdict = result.result()
        is_solution = path == one.file("solution")
        failed += is_solution and not verdict
        print(f"{one.name}, {path.stem}: {verdict.complaint or 'right'}")
    print(f"{failed} of {len(chosen)} solutions are wrong on this GPU")
    return 1 if failed else 0


def command_verify(arguments):
    if not shutil.which("patch"):
        raise Unusable("there is no patch here, which makes wrong answers of the solutions")
    chosen = [find(name) for name in arguments.names] or exercises()
    if arguments.on_gpu:
        return verify_on_gpu(chosen, arguments.jobs)
    if not arguments.prepared:
        prepare({one.kind for one in chosen})
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = [(one, pool.submit(verify, one)) for one in chosen]
    failed = 0
    for one, result in results:
        for sentence in result.result():
            failed += 1
            print(f"{one.name}: {sentence}")
    counted = [f"{count} {word}{'' if count == 1 else 's'}"
               for count, word in ((len(chosen), "exercise"), (failed, "mistake"))]
    print(f"{counted[0]} verified, {counted[1]} in {'it' if len(chosen) == 1 else 'them'}")
    return 1 if failed else 0


def main(words):
    parser = command_line.Parser(prog="exercise", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)

    def add(name, run, text):
        command = commands.add_parser(name, prog=f"./run.sh {name}", help=text, description=text)
        command.set_defaults(run=run)
        return command

    exercise = add("exercise", command_exercise, "Lists the exercises; with a NAME, begins one or checks it.")
    exercise.add_argument("name", nargs="?", metavar="NAME")
    exercise.add_argument("--task", action="store_true", help="only shows what it asks for")
    exercise.add_argument("--on-gpu", action="store_true", help="checks the results on this machine's GPU")
    add("hint", command_hint, "Shows one more hint for an exercise.").add_argument("name", metavar="NAME")
    solution = add("solution", command_solution, "Shows our solution of an exercise that is solved.")
    solution.add_argument("name", metavar="NAME")
    solution.add_argument("--anyway", action="store_true", help="also if it is not solved")
    grade = add("grade", command_grade, "Checks the files of several learners, and prints a table.")
    grade.add_argument("folders", nargs="+", metavar="FOLDER", help="one learner's files")
    grade.add_argument("--only", metavar="NAME,...", help="these exercises; otherwise all")
    grade.add_argument("--csv", action="store_true", help="as CSV")
    grade.add_argument("--reasons", action="store_true", help="also what is wrong with each answer")
    verification = add("verify", command_verify, "Checks the exercises themselves.")
    verification.add_argument("names", nargs="*")
    verification.add_argument("--jobs", type=int, default=1)
    verification.add_argument("--on-gpu", action="store_true", help="the solutions, on this machine's GPU")
    verification.add_argument("--prepared", action="store_true", help="builds nothing first")
    add("prepare", command_prepare, "Builds what checks are linked with.")
    arguments = parser.parse_args(words)
    sys.exit(arguments.run(arguments))


if __name__ == "__main__":
    sys.exit(command_line.run("exercise", main, sys.argv[1:]))
