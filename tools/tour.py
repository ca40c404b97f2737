#!/usr/bin/env python3
"""The tour: every stage trains the same small network and gets a row that compares it with the stage before.

    tour.py begin FOLDER [--gpus N]       a new tour, whose files are kept in FOLDER
    tour.py row FOLDER PROGRAM            trains with this stage's program and prints its row
    tour.py end FOLDER                    what the columns mean
    tour.py count FOLDER PROGRAM...       what a step of each stage asks of a GPU; by programs of the target instrumented_stages

./run.sh calls the first three, one after the other as the stages are built; ./run.sh count calls the last.
Exit code: 0; 1 if a stage disagrees with the one before; 2 for a command line that makes no sense; 3 if a stage fails.
"""

import argparse
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Sigmoid units, because at the kink of a relu a rounding difference can lead to a different network. Without a GPU in
# double, because only then does agreement to ten digits say something about the code rather than the arithmetic; on a
# GPU in float, since many have few units for doubles, and of a size at which each stage's idea shows.
PROBLEMS = {
    False: {"images": 2000, "hidden": 64, "precision": "double", "batch": 100, "rate": "0.5", "bound": 1e-10},
    True: {"images": 10000, "hidden": 1000, "precision": "float", "batch": 1000, "rate": "0.5", "bound": 1e-3},
}
EPOCHS = 3

# What is counted: a single step of a network that has also been measured on a GPU.
COUNTED_IMAGES = 1000
COUNTED_STEP = ["train", "--dataset", "digits", "--train-limit", COUNTED_IMAGES, "--test-limit", 1, "--hidden", 256,
                "--epochs", 1, "--batch-size", COUNTED_IMAGES, "--explain"]
MEASURED = Path(__file__).parent.parent / "benchmarks/results/tour.json"

MPI_STAGE = "stage05_mpi"


class TourError(Exception):
    """A sentence for whoever runs the tour."""


def short_name(program):
    """02_naive_cuda of stage02_naive_cuda."""
    return program.name.removeprefix("stage")


def run(program, arguments, log, files, processes=2):
    """Runs a stage's program, in several processes if it is made for them, with its output in a log."""
    for file in (log, *files):  # an earlier tour's must not pass for this one's
        file.unlink(missing_ok=True)
    command = [program, *arguments]
    if program.name == MPI_STAGE:
        command = ["mpirun", "-n", processes, "--oversubscribe", "--bind-to", "none", *command]
    with log.open("w", encoding="utf-8") as output:
        try:
            code = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                                  check=False).returncode
        except OSError as error:
            raise TourError(f"{command[0]} cannot be started: {error.strerror}") from error
    if code != 0:
        raise TourError(f"{program.name} ended with exit code {code}; what it printed is above and in {log}")


def read_report(program, path, kind, take):
    """What take() finds in the report that a program has written."""
    try:
        return take(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TourError(f"{program.name} did not write a report to {path} that the tour understands; is it a program of "
                        f"{kind}?") from error


def largest_difference(compare, before, after, bound):
    """The largest relative difference of a parameter, and whether all are within the bound."""
    done = subprocess.run([compare, before, after, "--tolerance", repr(bound)], stdout=subprocess.PIPE, text=True,
                          check=False)
    found = re.findall(r"^\S+\s+(\d\.\d+e[+-]\d+|nan)\s", done.stdout, re.MULTILINE)
    if not found:
        raise TourError(f"{before} and {after} cannot be compared; what {compare.name} said is above")
    numbers = [float(number) for number in found]
    return max(numbers, key=lambda number: (number != number, number)), done.returncode == 0


def three_digits(value):
    return f"{value:,.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f}"


def factor(value):
    return f"{three_digits(value)}x"


def duration(seconds):
    size, unit = next(((size, unit) for size, unit in ((1, "s"), (1e-3, "ms")) if seconds >= 0.9995 * size), (1e-6, "us"))
    return f"{three_digits(seconds / size)} {unit}"


def rate(value):
    if value < 9999.5:
        return f"{value:,.0f}"
    size, unit = (1e6, "M") if value >= 999.5e3 else (1e3, "k")
    return f"{three_digits(value / size)} {unit}"


def show(cells, widths):
    """A line of cells; negative widths are of texts."""
    print(" ".join(cell.ljust(-width) if width < 0 else cell.rjust(width) for cell, width in zip(cells, widths)).rstrip(),
          flush=True)


# ---------------------------------------------------------------------------------------------------------------------
# The rows. What they have to know of each other is in the folder: tour.json.

HEADINGS = [("stage", -16), ("on", -4), ("epoch", 7), ("images/s", 8), ("vs 01", 7), ("prev", 5), ("loss", 5),
            ("acc", 5), ("diff", 7), ("verdict", -7)]
TIMES = slice(2, 6)


def columns(cells, gpus):
    """Without a GPU, times say nothing about the stages."""
    cells = list(cells)
    if not gpus:
        del cells[TIMES]
    return cells


def begin(folder, gpus):
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / ".tour"
    if any(folder.iterdir()) and not mark.exists():
        raise TourError(f"the folder {folder} has files that no tour has written; it takes one that is new or empty")
    mark.touch()
    (folder / "tour.json").write_text(json.dumps({"gpus": gpus, "rows": []}), encoding="utf-8")
    problem = PROBLEMS[gpus > 0]
    print(f"{problem['images']:,} digits, 784-{problem['hidden']}-10, sigmoid, {problem['precision']}, "
          f"batches of {problem['batch']:,}\n")
    headings, widths = zip(*columns(HEADINGS, gpus))
    show(headings, widths)


def take_training(report):
    fastest = min(report["epochs"], key=lambda epoch: epoch["seconds"])  # the first includes warming up
    return {"device": report["device"], "cuda_on_cpu": report["cuda_on_cpu"], "loss": report["test_loss"],
            "accuracy": report["test_accuracy"], "seconds": fastest["seconds"],
            "images_per_second": fastest["images_per_second"]}


def kind_of(row):
    """CPU of 'CPU (one core)'; with a star if the CPU plays the GPU."""
    return "CPU*" if row["cuda_on_cpu"] else row["device"].split(" (")[0].replace("NVIDIA ", "")[:4]


def visit(folder, program):
    tour = json.loads((folder / "tour.json").read_text(encoding="utf-8"))
    gpus, rows = tour["gpus"], tour["rows"]
    problem = PROBLEMS[gpus > 0]
    checkpoint, report = folder / f"{program.name}.h5", folder / f"{program.name}.json"
    if sys.stdout.isatty():
        print(f"    {program.name} trains", end="\r", flush=True)
    run(program, ["train", "--dataset", "digits", "--train-limit", problem["images"], "--hidden", problem["hidden"],
                  "--epochs", EPOCHS, "--batch-size", problem["batch"], "--activation", "sigmoid", "--precision",
                  problem["precision"], "--seed", 1, "--learning-rate", problem["rate"], "--save", checkpoint,
                  "--report", report],
        folder / f"{program.name}.log", [checkpoint, report], processes=max(gpus, 2))
    row = read_report(program, report, "a stage", take_training)
    row |= {"stage": program.name, "checkpoint": str(checkpoint)}
    # Two processes that share a GPU are compared, and say nothing about two GPUs.
    row["timed"] = program.name != MPI_STAGE or gpus > 1
    difference, verdict = "-", "-"
    if rows:
        compare = program.parent / "compare_checkpoints"
        largest, agrees = largest_difference(compare, rows[-1]["checkpoint"], checkpoint, problem["bound"])
        difference, verdict = f"{largest:.1e}", "equal" if agrees else "DIFFERS"
    rows.append(row)
    (folder / "tour.json").write_text(json.dumps(tour), encoding="utf-8")
    times = ["-"] * 4
    if row["timed"]:
        before = rows[-2]["seconds"] / row["seconds"] if len(rows) > 1 else None
        times = [duration(row["seconds"]), rate(row["images_per_second"]), factor(rows[0]["seconds"] / row["seconds"]),
                 factor(before) if before else "-"]
    if sys.stdout.isatty():
        print("\033[K", end="")
    show(columns([short_name(program), kind_of(row), *times, f"{row['loss']:.3f}", f"{row['accuracy']:.3f}", difference,
                  verdict], gpus), [width for _, width in columns(HEADINGS, gpus)])
    return 1 if verdict == "DIFFERS" else 0


def end(folder):
    tour = json.loads((folder / "tour.json").read_text(encoding="utf-8"))
    gpus, rows = tour["gpus"], tour["rows"]
    print()
    if gpus:
        print(f"epoch    time of the fastest of {EPOCHS} epochs   vs 01, prev  speed-up over stage 01\n"
              "loss     on the test set, as is acc                      and the stage before")
    else:
        print("loss     on the test set, as is acc, the accuracy")
    print("diff     largest relative difference of a parameter from the stage before,\n"
          f"         equal up to {PROBLEMS[gpus > 0]['bound']:.0e}")
    if any(row["stage"] == MPI_STAGE for row in rows):
        processes = "two processes" if gpus < 3 else f"{gpus} processes"
        print(f"05_mpi   {processes}, started by mpirun, train the network together")
        if gpus == 1:
            print("         and the only GPU, so that they are not timed")
    devices = {}
    for row in rows:
        devices.setdefault(row["device"], row)
    for device, row in devices.items():
        print(f"{kind_of(row):<8} {device}{': its times mean nothing about GPUs' if row['cuda_on_cpu'] else ''}")


# ---------------------------------------------------------------------------------------------------------------------
# What a step asks of a GPU.

SUMS = ("launches", "copies", "loads", "load_sectors", "stores", "store_sectors", "distinct_bytes")


def take_counters(report):
    """The counters of all lines of a step, and the seconds that they take at least."""
    sums = dict.fromkeys(SUMS, 0)
    floor = 0
    for line in report["timings"]:
        for name in SUMS:
            sums[name] += line["counters"][name]
        floor += line["counted_floor_seconds"]
    return sums, floor


def count_step(folder, program):
    report = folder / f"{program.name}_counters.json"
    transport = ["--transport", "peer"] if program.name == MPI_STAGE else []
    run(program, [*COUNTED_STEP, "--report", report, *transport], folder / f"{program.name}_counters.log", [report])
    return read_report(program, report, "the target instrumented_stages", take_counters)


def count(folder, programs, measured_file):
    try:
        measured = json.loads(measured_file.read_text(encoding="utf-8"))["stages"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TourError(f"the file {measured_file} of --measured has no results of stages") from error
    folder.mkdir(parents=True, exist_ok=True)
    lines = [["stage", "kernels", "copies", "requests", "KB", "sectors", "floor", "measured", "on"]]

    def add(name, cells):
        known = measured.get(name)
        lines.append([name.removeprefix("stage"), *cells,
                      duration(COUNTED_IMAGES / known["images_per_second"]) if known else "-",
                      known["on"] if known else "-"])

    add("stage01_serial", ["-"] * 6)
    with ThreadPoolExecutor(2) as pool:
        for program, (sums, floor) in zip(programs, pool.map(lambda program: count_step(folder, program), programs)):
            requests, sectors = sums["loads"] + sums["stores"], sums["load_sectors"] + sums["store_sectors"]
            add(program.name, [f"{sums['launches']:,.0f}", f"{sums['copies']:,.0f}", f"{requests / COUNTED_IMAGES:,.0f}",
                               f"{sectors * 32 / COUNTED_IMAGES / 1000:,.0f}",
                               f"{sectors / requests if requests else 0:.1f}", duration(floor)])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    print("What a step asks of each GPU, counted: 784-256-10, relu, float, 1,000 images\n")
    for line in lines:
        show(line, [-widths[0], *widths[1:-1], -widths[-1]])
    print("""
kernels, copies  that a step launches
requests, KB     of a GPU's warps to global memory, for each of the 1,000 images
sectors          a request takes: 4 for 32 floats, 16 for vectors of 4
floor            about the least that an H200 takes for this: the bytes at the
                 rate of its memory and caches, the operations at its peak, 2 us
                 a launch
measured         what a step took on that device; from benchmarks/results, of
                 several days and hosts""")


def main(arguments):
    parser = argparse.ArgumentParser(prog="tour.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name, work):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        command.set_defaults(work=work)
        return command

    add("begin", lambda options: begin(options.folder, options.gpus)).add_argument(
        "--gpus", type=int, default=0, help="how many there are [0: the CPU plays one]")
    add("row", lambda options: visit(options.folder, options.program.resolve())).add_argument("program", type=Path)
    add("end", lambda options: end(options.folder))
    counting = add("count", lambda options: count(options.folder, [program.resolve() for program in options.program],
                                                  options.measured))
    counting.add_argument("program", type=Path, nargs="+")
    counting.add_argument("--measured", type=Path, default=MEASURED, help="what GPUs have taken")
    options = parser.parse_args(arguments)
    try:
        return options.work(options) or 0
    except TourError as error:
        print(f"tour: {error}.", file=sys.stderr)
    except OSError as error:
        print(f"tour: {error.filename or 'a file'}: {error.strerror}.", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
