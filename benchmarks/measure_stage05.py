#!/usr/bin/env python3
"""Stage 05 on a machine with one or several GPUs: measures, and writes the results file.

    ./run.sh build --preset cuda              builds everything
    python3 benchmarks/measure_stage05.py     writes benchmarks/results/stage05.md

Without a GPU, to try the script itself (the figures mean nothing then, and the file says so):

    python3 benchmarks/measure_stage05.py --quick --programs build/cpu/bin --output FILE

The processes are Open MPI's; with fewer GPUs than processes, they share them, and the file says so.
Trainings count with the median of their epochs without the first, as the programs report them.
The peer is peers/pytorch_ddp.py, in the same run; without PyTorch its columns stay empty. A command
that fails, or takes too long, becomes a line in the file. MNIST is used if STAGEWISE_DATA_DIR (or
datasets/) has it, and generated digits otherwise.
"""

import dataclasses
import functools
import json
import math
import pathlib
import re
import socket
import statistics
import sys
import tempfile

import measuring
from measure_stage04 import CASES, name_of, options_of
from measuring import (HERE, MPIRUN, NOTHING, Failed, code, command_line, duration, ratio, run, seconds_of, short_name,
                       spans_of, table)

PROCESSES = (1, 2, 4)
LIMIT = 60  # seconds, of a command
LONG_EPOCH = 240000  # images, if its ends should hardly count: 30 batches of 8,000
BOUND = 1e-7  # report 000's tolerance
MODES = {1: (0.001, 40), 2: (0.01, 10), 3: (0.025, 1)}  # its learning rates and epochs


@dataclasses.dataclass(frozen=True)
class Network:
    """784-hidden-10, and how it is trained."""
    hidden: str  # the units of each hidden layer, as the option --hidden has them
    activation: str
    precision: str
    batch: int  # of all processes together
    images: int
    data: tuple = ()  # options; none: those of all measurements

    def widths(self):
        return "-".join(["784", *self.hidden.split(","), "10"])

    def __str__(self):
        return f"{self.widths()}, {self.activation}, {self.precision}"

    def words(self):
        return ["--hidden", self.hidden, "--activation", self.activation, "--precision", self.precision]


REPORT_000 = Network("1000", "sigmoid", "double", 800, 54000)
SMALL = Network("256", "relu", "float", 1000, 60000)


def milliseconds(seconds):
    return NOTHING if seconds is None else f"{1e3 * seconds:.1f}"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Bench(measuring.Bench):
    """What all sections need."""

    def __init__(self, options):
        super().__init__(options)
        self.gpus = measuring.gpu_count()
        self.has_torch = bool(measuring.torch_version())
        self.epochs = 2 if self.quick else 8
        self.program = self.words("stage05")[0]

    def network(self, network):
        """A network as it is measured here."""
        if self.quick:
            layers = network.hidden.count(",") + 1
            return dataclasses.replace(network, hidden=",".join(["40"] * layers), batch=100, images=600)
        if self.dataset == "digits":  # of which there are fewer
            return dataclasses.replace(network, images=10000)
        return network

    @functools.cached_property
    def digits(self):
        """Options of a training with generated images, of which there are more than in MNIST."""
        self.run([*self.words("make_dataset"), "--train", self.long_images, "--test", 100,
                  "--output", self.folder / "digits/mnist"])
        return "--dataset", "mnist", "--data-dir", self.folder / "digits"

    @property
    def long_images(self):
        return 2000 if self.quick else LONG_EPOCH

    def long_epochs(self, network):
        """The network, trained with epochs so long that where they end hardly counts."""
        return dataclasses.replace(self.network(network), images=self.long_images, data=self.digits)

    def long_command(self, *words, processes="N", **network):
        """How such a training is run."""
        network = dataclasses.replace(self.long_epochs(REPORT_000), **{"batch": "BATCH", **network})
        return code(f"make_dataset --train {self.long_images} --test 100 --output digits/mnist",
                    command_line(self.train_command(processes, network, *words)))

    def train_command(self, processes, network, *words):
        data = network.data or ("--dataset", self.dataset)
        return [*MPIRUN, processes, self.program, "train", *data, "--train-limit", network.images,
                *network.words(), "--batch-size", network.batch, "--epochs", self.epochs, *words]

    def seconds(self, processes, network, *words):
        """Of an epoch; None if the training fails, which is noted."""
        report = self.attempt(self.report, self.train_command(processes, network, *words), LIMIT)
        return report and seconds_of(report)

    def placement(self):
        """How the processes of a table share the GPUs: a sentence."""
        most = max(PROCESSES)
        if self.gpus == 0:
            return "There is no GPU; the processes share the CPU."
        if self.gpus == 1:
            return "There is 1 GPU; all processes share it."
        if self.gpus >= most:
            return f"There are {self.gpus} GPUs; every process has its own."
        return (f"There are {self.gpus} GPUs; of {most} processes, up to {math.ceil(most / self.gpus)} share one.")


# Section 1


PARAMETERS = ("W[0]", "b[0]", "W[1]", "b[1]")
NORMS = [f"{name} {norm}" for name in PARAMETERS for norm in ("max", "L2")]


def sequential_command(bench, mode, learning_rate="RATE", epochs="EPOCHS"):
    """Stage 01's training, with which a mode is compared, and the words that it has in common with grade."""
    small = ["--train-limit", 600, "--validation", 100, "--hidden", 20, "--batch-size", 100]
    held_out = 6000 if bench.dataset == "mnist" else 1000
    shared = ["--dataset", bench.dataset, *(small if bench.quick else ["--validation", held_out, "--hidden", 100,
                                                                       "--batch-size", 800]), "--epochs", epochs]
    path = bench.folder / f"seq{mode}.h5"
    return [*bench.words("stage01"), "train", *shared, "--activation", "sigmoid", "--precision", "double",
            "--learning-rate", learning_rate, "--l2", 1e-4, "--shuffle", "off", "--seed", 1, "--gemm", "reordered",
            "--save", path], [*shared, "--sequential", path]


def grade(bench, command):
    """What a grading says: the errors by NORMS, the time of the parallel training, the accuracy."""
    try:
        text = bench.run(command, LIMIT)
    except Failed as failure:  # the exit code is the verdict: there may be a table all the same
        text = failure.output
        said = re.search(r"^verdict +(.*)$", text, re.MULTILINE)
        bench.problems.append(f"`{command_line(command)}`: {said.group(1)}" if said else str(failure))
    errors = re.search(r"^procs .*\n +\d+ +(.*)$", text, re.MULTILINE)
    taken = re.search(r"^parallel +(.*)$", text, re.MULTILINE)
    accuracy = re.search(r"^accuracy +([\d.]+)", text, re.MULTILINE)
    if not errors or not taken or not accuracy:
        raise Failed(f"`{command_line(command)}` says neither errors nor times")
    return errors.group(1).split(), taken.group(1), accuracy.group(1)


def graded_forms(bench):
    """[(words, processes)] for which table 1 is graded."""
    forms = [([], processes) for processes in (1, 2, 3, 4)]
    for strategy, fewest in (("data", 2), ("tensor", 2), ("hybrid", 4)):
        for transport in ("nccl", "peer", "host") if bench.gpus else ("peer", "host"):
            words = ["--strategy", strategy, "--transport", transport]
            words += ["--tensor-ranks", 2] if strategy == "hybrid" else []
            forms += [(words, processes) for processes in range(fewest, 5)
                      if transport == "host" or bench.gpus == 0 or bench.gpus >= processes]
    return forms


def verdict(found, expected):
    if not found:
        return "No error was measured.\n"
    worst, where = max(found, key=lambda error: math.inf if math.isnan(error[0]) else error[0])
    bound = f"at most {BOUND:.0e}" if worst <= BOUND else f"NOT at most {BOUND:.0e}"
    missing = expected - len(found)
    return (f"The largest error of all is {worst:.1e} ({where}): {bound}."
            + (f" {missing} of {expected} errors are missing." if missing else "") + "\n")


def grading(bench):
    found, rows = [], []
    forms = {(*words, processes): [*words[1:4:2], processes] for words, processes in graded_forms(bench) if words}
    for mode, (learning_rate, epochs) in MODES.items():
        command, shared = sequential_command(bench, mode, learning_rate, 2 if bench.quick else epochs)
        trained = bench.attempt(bench.report, command)
        for words, processes in graded_forms(bench):
            graded = trained and bench.attempt(
                grade, bench, [*MPIRUN, processes, *bench.words("grade"), "--mode", mode, *words, *shared])
            errors, *others = graded or ([], NOTHING, NOTHING)
            where = ", ".join(map(str, [*words[1::2], f"mode {mode}", f"N = {processes}"]))
            found += [(float(error), f"{norm}, {where}") for error, norm in zip(errors, NORMS)]
            if words:
                forms[(*words, processes)].append(f"{max(map(float, errors)):.1e}" if errors else NOTHING)
            else:
                seconds = trained and sum(epoch["seconds"] for epoch in trained["epochs"])
                rows.append([mode, processes, *(errors or [NOTHING] * len(NORMS)), others[0], duration(seconds), others[1]])
    command, shared = sequential_command(bench, "MODE")
    commands = code(command_line(command),
                    command_line([*MPIRUN, "N", *bench.words("grade"), "--mode", "MODE", *shared]))
    rates = ", ".join(f"{learning_rate} and {epochs}" for learning_rate, epochs in MODES.values())
    return ("How far the parallel training's parameters are from those of stage 01's, which one core computes, relative"
            f" to the larger of the two; RATE and EPOCHS of modes 1, 2, 3 are {rates}.\n\n{commands}\nBy default:\n\n"
            + table(["mode", "N", *NORMS, "parallel", "sequential", "accuracy"], rows)
            + "\nThe largest of these errors for each strategy and transport, which grade gets as `--strategy` and"
            " `--transport`, hybrid with `--tensor-ranks 2`:\n\n"
            + table(["strategy", "transport", "N", *(f"mode {mode}" for mode in MODES)], list(forms.values())) + "\n"
            + verdict(found, len(NORMS) * len(MODES) * len(graded_forms(bench))))


# The other sections


DATA, TENSOR = ["--strategy", "data"], ["--strategy", "tensor"]
FORMS = (("data, mean of gradients", DATA),
         ("", [*DATA, "--data-from", "root"]),
         ("", [*DATA, "--transport", "host"]),
         ("", [*DATA, "--transport", "nccl"]),
         ("", [*DATA, "--transport", "nccl", "--overlap", "on"]),
         ("", [*DATA, "--transport", "host", "--overlap", "off"]),
         ("", [*DATA, "--average", "weights", "--average-every", 10]),
         ("", TENSOR))


def forms(bench, network):
    network = bench.network(network)
    rows = []
    alone = None
    for name, words in FORMS:
        row = [name or f"`{command_line(words)}`"]
        ratio = "-"
        for processes in PROCESSES:
            if processes == 1 and words not in (DATA, TENSOR):
                row.append("-")  # they are about what processes exchange
                continue
            seconds = bench.seconds(processes, network, *words)
            row.append(milliseconds(seconds))
            if processes == 1 and words == DATA:
                alone = seconds
            elif processes == 2 and seconds and alone:
                ratio = f"{seconds / alone:.2f}"
        rows.append([*row, ratio])
    command = code(command_line([*bench.train_command("N", network), "FORM"]))
    return (f"Milliseconds an epoch of {network.images:,} images takes N processes together, for"
            f" {network} and a batch of {network.batch:,}; the first line is `--strategy data`: gradients"
            " summed layer by layer by the transport that `auto` picks (`peer` over NVLink, else"
            " `nccl` if each process has a GPU, else `host`). Behind them, what"
            " two processes take relative to the one of the first line.\n\n"
            f"{command}\n{bench.placement()}\n\n"
            + table(["", *(f"N = {processes}" for processes in PROCESSES), "2 : 1"], rows))


# Strong scaling keeps the batch of all processes, weak scaling that of each.
SCALING = (("strong", 800), ("strong", 8000), ("weak", 800), ("weak", 8000))
SCALED_FORMS = (("data", "nccl"), ("data", "peer"), ("tensor", "nccl"), ("tensor", "peer"),
                ("hybrid", "nccl"), ("hybrid", "peer"))


def step_seconds(bench, processes, network, *words):
    seconds = bench.seconds(processes, network, *words)
    return seconds and seconds * network.batch / network.images


def scaled_batch(bench, kind, batch, processes):
    return batch // (16 if bench.quick else 1) * (processes if kind == "weak" else 1)


def scaled_forms(processes):
    """(form, options) of those that these processes can have; for one, they are all the same."""
    if processes == 1:
        return [(SCALED_FORMS[0], [])]
    return [((strategy, transport), ["--strategy", strategy, "--transport", transport])
            for strategy, transport in SCALED_FORMS  # of hybrid, two networks at least, each on two processes
            if strategy != "hybrid" or (processes >= 4 and processes % 2 == 0)]


def scaling_of_pytorch(bench, network, counts):
    """PyTorch's fastest seconds a step, by processes and batch."""
    fastest = {}
    for processes in counts:
        batches = sorted({scaled_batch(bench, kind, batch, processes) for kind, batch in SCALING})
        for by_batch in (bench.attempt(peer, bench, network, processes, batches) or {}).values():
            for batch, seconds in by_batch.items():
                key = processes, int(batch)
                fastest[key] = min(seconds * int(batch) / network.images, fastest.get(key, math.inf))
    return fastest


def scaled(bench, network, kind, processes, one):
    """Cells for every form: microseconds a step, and the gain over `one`, the seconds a step of one
    process takes, which is None if this is it; and the least seconds."""
    cells = dict.fromkeys(SCALED_FORMS, NOTHING)
    measured = []
    for form, words in scaled_forms(processes):
        seconds = step_seconds(bench, processes, network, *words)
        if seconds:
            measured.append(seconds)
            gain = (one or seconds) / seconds
            cells[form] = f"{1e6 * seconds:.1f} " + (f"({100 * gain:.0f} %)" if kind == "weak" else f"({gain:.2f}x)")
    if processes == 1:
        cells = {form: NOTHING if "hybrid" in form else cells[SCALED_FORMS[0]] for form in SCALED_FORMS}
    return list(cells.values()), min(measured, default=None)


def scaling(bench):
    network = bench.long_epochs(REPORT_000)
    counts = list(range(1, min(max(bench.gpus, 2), 4) + 1))
    theirs = scaling_of_pytorch(bench, network, counts)
    rows = []
    for kind, of_kind in SCALING:
        one = None
        for processes in counts:
            batch = scaled_batch(bench, kind, of_kind, processes)
            cells, best = scaled(bench, dataclasses.replace(network, batch=batch), kind, processes, one)
            one = best if processes == 1 else one
            peers = theirs.get((processes, batch))
            rows.append([kind, f"{batch:,}", processes, *cells,
                         f"{1e6 * peers:.1f}" if peers else NOTHING, ratio(peers, best)])
    return (f"Microseconds a step with N processes, for {network}: an epoch's time, divided by its"
            " batches, of which the last, if it is not full, counts as a fraction. Strong scaling:"
            " in brackets, how many times as fast as one process with the same batch. Weak scaling:"
            " in brackets, the efficiency: the time of one process with its share, divided by this"
            " one. PyTorch's is the faster of eager and a CUDA graph, with as many images, both with"
            " DistributedDataParallel's sums; behind it, how many times as long as the fastest of"
            " ours that takes.\n\n"
            f"{bench.long_command('--strategy', 'STRATEGY', '--transport', 'TRANSPORT')}\n"
            f"{bench.placement()}\n\n"
            + table(["scaling", "batch", "N", *map(", ".join, SCALED_FORMS), "PyTorch", ""], rows))


# Where a step's time goes


def spans_of_ranks(traces):
    """[(begin, end, name)] of each rank's kernels and copies, in nanoseconds since the first, from their traces. As
    nanoseconds since 1970, times have more digits than a float."""
    ranks = list(map(spans_of, traces))
    origin = min((span[0] for spans in ranks for span in spans), default=0)
    return [[(begin - origin, end - origin, name) for begin, end, _, name in spans] for spans in ranks]


def traced_ranks(bench, processes, network, *words):
    """spans_of_ranks() of a training; nothing if it has no late steps."""
    with tempfile.TemporaryDirectory() as folder:
        script = f'STAGEWISE_KERNELS="$0/$OMPI_COMM_WORLD_RANK" CUDA_INJECTION64_PATH="{bench.tracer()}" exec "$@"'
        command = bench.train_command(processes, network, *words)
        place = command.index(bench.program)
        bench.run([*command[:place], "bash", "-c", script, folder, *command[place:]], LIMIT)
        ranks = spans_of_ranks((pathlib.Path(folder) / str(rank)).read_text(encoding="utf-8")
                               for rank in range(processes))
    return ranks if all(any("output_layer" in name for *_, name in spans) for spans in ranks) else []


def length(spans):
    """Of the union of spans."""
    total = 0
    last = -math.inf
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, last))
        last = max(last, end)
    return total


def is_sum(name):
    return re.search(r"(one_shot|two_shot)_kernel|nccl", name) is not None


def late_steps(ranks, steps):
    """Of each rank: its spans in the later half of the steps, the nanoseconds from the first of these
    to the last, their number, and how far its clock is behind that of rank 0."""
    late = []
    for spans in ranks:
        spans.sort()
        starts = [begin for begin, _, name in spans if "output_layer" in name][:2 * steps]
        begin, end = starts[len(starts) // 2], starts[-1]
        late.append(([(first, min(last, end), name) for first, last, name in spans
                      if begin <= first < end], end - begin,
                     len(starts) - 1 - len(starts) // 2))
    sums = [[span for span in spans if is_sum(span[2])] for spans, *_ in late]
    count = min(map(len, sums))
    # A sum ends everywhere at the same time: that is how clocks are compared.
    behind = [statistics.median(own[k][1] - sums[0][k][1] for k in range(count)) if count else 0 for own in sums]
    return [(*of_rank, late_by) for of_rank, late_by in zip(late, behind)]


def parts_of_step(ranks, steps):
    """Microseconds of a step, the mean of all ranks and of the last steps: all, in which a kernel
    computes, and of the rest those in which a sum runs: while not all ranks have begun it, and
    after that."""
    late = late_steps(ranks, steps)
    sums = [[(begin, end) for begin, end, name in spans if is_sum(name)] for spans, *_ in late]
    all_begun = [max(begins[0] - late_by for begins, (*_, late_by) in zip(kth, late)) for kth in zip(*sums)]
    parts = []
    for (spans, whole, number, late_by), own in zip(late, sums):
        computing = [(begin, end) for begin, end, name in spans if not is_sum(name)]
        waiting = [(begin, max(begin, min(end, begun + late_by))) for (begin, end), begun in zip(own, all_begun)]
        compute = length(computing)
        with_waits = length(computing + waiting)
        with_sums = length(computing + own)
        parts.append([t / number / 1e3 for t in (whole, compute, with_waits - compute, with_sums - with_waits,
                                                 whole - with_sums)])
    return [statistics.mean(column) for column in zip(*parts)]


def rows_of_step(form, ranks, steps):
    """[[form, kernel, lane, begins, ends]] of a step of median length, from its last layer on, in
    microseconds; a last row says when the next begins."""
    late = late_steps(ranks, steps)
    starts = [begin for begin, _, name in late[0][0] if "output_layer" in name]
    steps_of_rank = list(zip(starts, starts[1:]))[1:]  # what the first began with is cut off
    if not steps_of_rank:
        return []
    median = statistics.median_low(end - begin for begin, end in steps_of_rank)
    first, next_step = next(step for step in steps_of_rank if step[1] - step[0] == median)
    rows = []
    for rank, (spans, *_, late_by) in enumerate(late):
        for begin, end, name in spans:
            begin, end = max(first, begin - late_by), min(end - late_by, next_step)
            if begin < end:
                shown_name = "NCCL's sum" if "nccl" in name else short_name(name)
                rows.append([form, f"`{shown_name}`", 2 * rank + is_sum(name),
                             f"{(begin - first) / 1e3:.2f}", f"{(end - first) / 1e3:.2f}"])
    return [*rows, [form, "the next step", 0, f"{(next_step - first) / 1e3:.2f}", "-"]]


DEEP = dataclasses.replace(REPORT_000, hidden="1000,1000")
TIMELINES = (("data, peer", REPORT_000, [*DATA, "--transport", "peer"]),
             ("tensor, peer", REPORT_000, ["--transport", "peer", "--strategy", "tensor"]),
             ("data, peer", DEEP, [*DATA, "--transport", "peer", "--overlap", "on"]),
             ("data, peer, --overlap off", DEEP, [*DATA, "--transport", "peer"]),
             ("data, nccl", DEEP, [*DATA, "--transport", "nccl", "--overlap", "on"]))


def timeline(bench):
    rows = []
    for form, of_form, words in TIMELINES:
        network = bench.network(of_form)
        batch = network.batch if bench.quick else 1600
        steps = min(32, network.images // batch)
        network = dataclasses.replace(network, batch=batch, images=steps * batch)
        ranks = bench.attempt(traced_ranks, bench, 2, network, *words)
        if ranks:
            rows += rows_of_step(f"{network.widths()}, {form}, {batch:,}", ranks, steps)
    return ("A step on two GPUs, from the last layer to the next step's, in microseconds, by `libtrace_kernels.so`;"
            " `plot_results.py` draws it. The ranks' clocks are aligned at the ends of sums. Rank r's sums are in"
            " lane 2 r + 1, all else that it runs in lane 2 r.\n\n"
            + table(["training", "kernel", "lane", "begins", "ends"], rows))


OVERLAPS = ((REPORT_000, (800, 8000, 32000)), (DEEP, (800, 1600, 8000)))


def overlap(bench):
    rows = []
    forms = [(transport, ["--overlap", choice]) for transport in ("nccl", "peer", "host") for choice in ("on", "off")]
    for of_row, batches in OVERLAPS:
        for batch in batches:
            network = dataclasses.replace(bench.long_epochs(of_row), batch=batch // (16 if bench.quick else 1))
            cells = []
            for transport, words in forms:
                seconds = step_seconds(bench, 2, network, *DATA, "--transport", transport, *words)
                cells.append(f"{1e6 * seconds:.1f}" if seconds else NOTHING)
            rows.append([network.widths(), f"{network.batch:,}", *cells])
    return ("Microseconds a step with two processes, data parallelism, sigmoid, double: with sums"
            " of gradients that may run beside the backward pass, and with one sum after it. With one"
            " hidden layer, both are the same program.\n\n"
            + bench.long_command(*DATA, "--transport", "TRANSPORT", hidden="HIDDEN", processes=2) + "\n"
            + table(["network", "batch", *(f"`{transport}`, {words[-1]}" for transport, words in forms)],
                    rows))


def split(bench):
    rows = []
    steps = 32
    for kind, of_kind in SCALING[::2]:
        for processes in range(1, min(max(bench.gpus, 2), 4) + 1):
            batch = scaled_batch(bench, kind, of_kind, processes)
            whole = bench.network(REPORT_000)
            network = dataclasses.replace(whole, batch=batch, images=min(steps, whole.images // batch) * batch)
            for form, words in scaled_forms(processes):
                ranks = bench.attempt(traced_ranks, bench, processes, network, *words)
                if ranks:
                    parts = parts_of_step(ranks, network.images // batch)
                    rows.append([kind, f"{batch:,}", processes, ", ".join(form) if words else "",
                                 *(f"{t:.1f}" for t in parts)])
    return ("Microseconds of a step, from traces of all ranks (`libtrace_kernels.so`, which adds some): the mean of"
            " the ranks, over the later half of the steps. Compute: a kernel other than a sum runs. The rest of the"
            " step: a sum waits, as not all ranks have begun it; ranks exchange numbers; nothing runs.\n\n"
            + table(["scaling", "batch", "N", "form", "step", "compute", "wait", "exchange",
                     "nothing"], rows))


def peer_command(bench, network, processes, backend, forms, port, batches):
    return ["python3", "-m", "torch.distributed.run", "--nproc_per_node", processes,
            "--master_addr", "127.0.0.1", "--master_port", port, HERE / "peers/pytorch_ddp.py",
            "--backend", backend, "--forms", forms, *network.words(), "--batch-sizes", ",".join(map(str, batches)),
            "--images", network.images, "--epochs", bench.epochs - 1]


def backend_of(bench, processes):
    """The peer's, and the forms that can use it."""
    return ("nccl", "eager,graph") if bench.gpus >= processes else ("gloo", "eager")


def peer(bench, network, processes, batches):
    """PyTorch's seconds an epoch, by form and batch: those that it measured, even if it failed
    then."""
    if not bench.has_torch:
        return {}
    command = peer_command(bench, network, processes, *backend_of(bench, processes), free_port(), batches)
    try:
        text = run([sys.executable, *command[1:]], limit=bench.limit(LIMIT), name=command_line(command))
    except Failed as failure:
        text = failure.output
        bench.problems.append(str(failure))
    seconds = {}
    for line in text.splitlines():
        if line.startswith("{"):
            seconds |= json.loads(line)["seconds_per_epoch"]
    return seconds


def beside_pytorch(bench):
    rows = []
    commands = []
    for network in map(bench.network, (SMALL, REPORT_000)):
        commands.append(command_line(bench.train_command("N", network)))
        commands.append(command_line(peer_command(bench, network, "N", "BACKEND", "FORMS", "PORT", [network.batch])))
        for processes in PROCESSES:
            ours = bench.seconds(processes, network)
            theirs = bench.attempt(peer, bench, network, processes, [network.batch]) or {}
            row = [f"{network}, {network.batch:,}", processes, milliseconds(ours), backend_of(bench, processes)[0]]
            for form in ("eager", "graph"):
                seconds = theirs.get(form, {}).get(str(network.batch))
                row += [milliseconds(seconds), ratio(seconds, ours)]
            rows.append(row)
    note = "" if bench.has_torch else " There is no PyTorch here; its columns are empty."
    return ("Milliseconds an epoch takes stage 05 and PyTorch's DistributedDataParallel, N"
            " processes each, the data with all of them; behind PyTorch's, how many times stage"
            " 05's that is. Stage 05's transport is what `auto` picks; PyTorch adds up with NCCL where"
            " each process has a GPU of its own"
            " (FORMS is `eager,graph`), else with gloo, whose sums go through the host's memory and"
            " cannot be recorded (FORMS is `eager`).\n\n"
            f"{code(*commands)}\n{bench.placement()}{note}\n\n"
            + table(["network, batch", "N", "stage 05", "BACKEND", "PyTorch eager", "",
                     "PyTorch, CUDA graph", ""], rows))


def sums(bench):
    parts = []
    for processes in PROCESSES[1:]:
        command = [*MPIRUN, processes, *bench.words("ladder"), "all-reduce"]
        parts.append(f"{code(command_line(command))}\n{code(bench.run(command, LIMIT).rstrip())}")
    return ("Sums of a message over N processes, in place: what the slowest one takes, in a CUDA"
            " graph where it can be recorded.\n\n" + "\n\n".join(parts))


# About what a rank has of 784-1000-10, alone, with two and with four.
PARTS = tuple(f"784-{hidden}-10@{batch},sigmoid,double" for hidden in (1000, 500, 250)
              for batch in (200, 800, 3200, 8000))


def steps_on_one(bench):
    rows = []
    images = bench.long_images
    for case in dict.fromkeys((*CASES, *PARTS)):
        words = options_of(case)
        batch = int(words[words.index("--batch-size") + 1])
        whole = images // batch * batch
        if whole == 0:
            continue
        command = [*bench.words("stage04"), "train", *bench.digits, "--train-limit", whole, "--epochs",
                   bench.epochs, *words]
        report = bench.attempt(bench.report, command, LIMIT)
        if report:
            rows.append([name_of(case), f"{1e6 * seconds_of(report) * batch / whole:.1f}"])
    return ("Microseconds of a step, an epoch's time divided by its steps: what the scaling"
            " model needs to know of one GPU.\n\n"
            + code(f"make_dataset --train {images} --test 100 --output digits/mnist",
                   f"stage04_minibatch train --dataset mnist --data-dir digits --train-limit IMAGES"
                   f" --epochs {bench.epochs} --hidden HIDDEN --batch-size BATCH")
            + "\n" + table(["network, batch", "us a step"], rows))


SECTIONS = [("Report 000's table 1", grading),
            ("Forms of training report 000's default network, in double", functools.partial(forms, network=REPORT_000)),
            ("Forms of training 784-256-10, in float", functools.partial(forms, network=SMALL)),
            ("Strong and weak scaling", scaling),
            ("Beside PyTorch", beside_pytorch),
            ("The all-reduce ladder", sums),
            ("Where a step's time goes", split),
            ("What runs when on two ranks", timeline),
            ("Steps on one GPU", steps_on_one),
            ("What overlap buys", overlap)]
# 5 is what can be spared, should time run out.
ORDER = [2, 3, 4, 9, 6, 7, 8, 10, 1, 5]

if __name__ == "__main__":
    measuring.main(__doc__, "Stage 05", SECTIONS, Bench, ORDER, budget=500)
