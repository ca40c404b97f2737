"""Report 000, J. P. Binagia, 2020: MNIST on up to four GPUs with CUDA and MPI, in double."""

import csv
import re

import figures
from exhibit import Exhibit, Report, Shown, counted, rung_seconds, share
from measuring import MPIRUN, NOTHING, Failed, digits, duration, ratio, seconds_of

# Table 1: by mode and processes, the largest max norm and L2 norm of all parameters, and the seconds.
ERRORS = {(1, 1): (3.75e-15, 1.75e-15, 18.4831), (1, 2): (4.64e-15, 2.04e-15, 11.6833),
          (1, 3): (4.92e-15, 2.14e-15, 14.883), (1, 4): (4.22e-15, 1.82e-15, 17.1794),
          (2, 1): (1.48e-8, 7.11e-9, 5.41098), (2, 2): (1.19e-8, 5.72e-9, 4.05076),
          (2, 3): (4.32e-8, 2.06e-8, 3.88052), (2, 4): (9.97e-9, 4.79e-9, 4.97615),
          (3, 1): (2.28e-11, 7.74e-12, 6.56215), (3, 2): (1.06e-10, 3.93e-11, 6.28473),
          (3, 3): (2.65e-11, 7.17e-12, 11.5126), (3, 4): (2.27e-11, 8.40e-12, 11.4637)}
ACCURACIES = {1: 0.894333, 2: 0.924167, 3: 0.845167}
RATES = {1: 0.001, 2: 0.01, 3: 0.025}
EPOCHS = {1: 40, 2: 10, 3: 1}
# Section 3.1 and table 2: m, n, k, the difference from cuBLAS, and the seconds by block size.
PRODUCTS = ((800, 1000, 784, 1.85746e-16, {4: 0.654227, 8: 0.140203, 16: 0.128672, 32: 0.132084}),
            (800, 10, 1000, 3.2505e-16, {4: 0.009971, 8: 0.00299, 16: 0.002807, 32: 0.004545}))
# Table 3: per cent of the time of all kernels.
KERNELS = {"gpuGEMM4d1": 93.2, "sum": 2.2, "addmat": 1.8, "elemwise": 1.6, "transpose": 0.6, "sigmoidKernel": 0.3,
           "repmatKernel": 0.2}
# Sections 4.2 to 5: seconds for 40 epochs on four GPUs, and sequentially.
HISTORY = {"memory per step": 92.18, "memory once": 29.35, "products in tiles": 26.66}
PARALLEL, SEQUENTIAL = 26.6605, 1215.93


def network(bench, images=54000):
    """784-1000-10 in double, as the report trains it."""
    images, hidden, batch = (80, 40, 40) if bench.quick else (images, 1000, 800)
    words = ["--dataset", bench.dataset, "--hidden", hidden, "--activation", "sigmoid", "--precision", "double",
             "--batch-size", batch, "--l2", 1e-4, "--train-limit", images, "--test-limit", 20]
    return words, images


def errors(bench):
    small = ["--dataset", "digits", "--hidden", 10, "--batch-size", 60] if bench.quick else ["--dataset", bench.dataset,
                                                                                             "--hidden", 100]
    sizes = ["--train-limit", 300, "--validation", 60] if bench.quick else ["--validation", 6000]
    rows = []
    worst = 0.0
    for mode in RATES:
        epochs = ["--epochs", 1 if bench.quick else EPOCHS[mode]]
        sequential = bench.folder / f"mode{mode}.h5"
        bench.run([*bench.words("stage01"), "train", *small, *sizes, *epochs, "--activation", "sigmoid", "--precision",
                   "double", *([] if bench.quick else ["--batch-size", 800]), "--learning-rate", RATES[mode], "--l2",
                   1e-4, "--shuffle", "off", "--save", sequential], 600)
        for count in (1, 2, 3, 4):
            text = bench.run([*MPIRUN, count, *bench.words("grade"), "--mode", mode, *small, *sizes, *epochs,
                              "--sequential", sequential], 300)
            line = re.search(rf"^ *{count}((?: +[\d.e+-]+){{8}})$", text, re.MULTILINE)
            if line is None:
                raise Failed("`grade` has printed no errors")
            norms = [float(word) for word in line[1].split()]
            time = re.search(r"^parallel +(.*)", text, re.MULTILINE)[1]
            accuracy = re.search(r"^accuracy +([\d.]+)", text, re.MULTILINE)[1]
            largest, largest_2 = max(norms[::2]), max(norms[1::2])
            worst = max(worst, largest, largest_2)
            theirs = ERRORS[mode, count]
            rows.append([f"mode {mode}, {count} processes", f"{theirs[0]:.1e}", f"{largest:.1e}", f"{theirs[1]:.1e}",
                         f"{largest_2:.1e}", f"{theirs[2]:.3g} s", time, f"{ACCURACIES[mode]:.4f}",
                         f"{float(accuracy):.4f}"])
    return Shown(["training", "max norm, theirs", "ours", "L2 norm, theirs", "ours", "time, theirs", "ours",
                  "accuracy, theirs", "ours"], rows, "at most 4.3e-08", f"at most {worst:.1e}",
                 "The largest error of any of the four parameters, relative to the sequential training.")


def products(bench):
    text = bench.run([*bench.words("grade"), "--mode", 4], 120)
    found = re.findall(r"^ *(\d+) +(\d+) +(\d+) +(\S+) +([\d.e+-]+) +(.*)", text, re.MULTILINE)
    if len(found) != 2:
        raise Failed("`grade` has printed no differences")
    rows = [[f"{m} x {n} x {k}", f"{theirs:.1e}", line[4], line[3], line[5]]
            for (m, n, k, theirs, _), line in zip(PRODUCTS, found)]
    return Shown(["C = 2 A B + 5 C", "difference, theirs", "ours", "our kernel", "time"], rows, "at most 3.3e-16",
                 f"at most {max(float(line[4]) for line in found):.1e}",
                 "The relative difference from a library's product: cuBLAS, or OpenBLAS without a GPU. The report divides"
                 " a norm by a norm; ours is the largest of all elements.")


def block_sizes(bench):
    rows = []
    for m, n, k, _, theirs in PRODUCTS:
        words = ["--m", m // 10, "--n", max(n // 10, 10), "--k", k // 10] if bench.quick else ["--m", m, "--n", n,
                                                                                             "--k", k]
        for tile, seconds in theirs.items():
            ours = rung_seconds(bench, "gemm", f"tile-{tile}", *words, "--alpha", 2, "--beta", 5, "--precision",
                                "double", "--repetitions", 1 if bench.quick else 20)
            rows.append([f"{m} x {n} x {k}, {tile} x {tile}", duration(seconds), duration(ours),
                         ratio(seconds, theirs[16]), ours])
    for first in (0, 4):
        of_16 = rows[first + 2][4]
        for row in rows[first:first + 4]:
            row[4] = ratio(row[4], of_16)
    return Shown(["product, block", "theirs", "ours", "over 16 x 16, theirs", "ours"], rows,
                 "16 x 16 is the fastest", f"{min(rows[:4], key=lambda row: float(row[4][:-1]))[0].split(', ')[1]} is",
                 "The report does not say of how many products its times are. Its tile is that of stage 03's rungs"
                 " `tile-4` to `tile-32`, which a register tile has replaced since.")


def coalescing(bench):
    """Figures 2 to 4: what the two changes of section 4.4 do to memory."""
    rows = []
    for rung, theirs in (("uncoalesced", "16 transactions a load"), ("conflicts", "16 turns"), ("padded", "2 turns")):
        size = ["--m", 64, "--n", 64, "--k", 64]
        lines = list(csv.DictReader(counted(bench, "gemm", "--rung", rung, *size, "--precision", "double")))
        loads = next(line for line in lines if line["accesses"] == "global loads")
        shared = [line for line in lines if line["accesses"].startswith("shared")]
        turns = max((int(line["wavefronts"]) / (int(line["wavefronts"]) - int(line["conflicts"])) for line in shared),
                    default=None)
        rows.append([f"`{rung}`", theirs, digits(int(loads["sectors"]) / int(loads["requests"])), digits(turns)])
    return Shown(["rung", "theirs", "sectors a load, ours", "shared memory's turns a request, ours"], rows,
                 "16 transactions a load; 16 turns a request, then 2",
                 f"{rows[0][2]} sectors a load, then {rows[1][2]}; {rows[1][3]} turns, then {rows[2][3]}",
                 "The same two mistakes and cures are rungs of the ladder, counted for 64 x 64 x 64 in double. The report's"
                 " blocks are 16 x 16, and its GPU has banks of 64 bits; the ladder's last two are 32 x 32.")


def kernels(bench):
    words, _ = network(bench)
    of_stage = {stage: bench.shares(stage, *words) for stage in ("stage02", "stage03")}
    rows = [[f"`{name}`", NOTHING, *(share(shares.get(name)) for shares in of_stage.values())]
            for name in of_stage["stage03"]]
    rows += [[f"`{name}()`", f"{percent} %", NOTHING, NOTHING] for name, percent in KERNELS.items()]
    return Shown(["operation", "theirs", "stage 02", "stage 03"], rows, "products: 93.2 %",
                 f"products: {share(of_stage['stage03'].get('gemm'))}",
                 "The shares of the time of all kernels, whose names in the report are others.")


def exchange(bench):
    """Figure 1, the timeline: how much of a step is not computing."""
    words, images = network(bench)
    rows = []
    alone = None
    for count in bench.processes():
        seconds = seconds_of(bench.distributed(count, *words))
        alone = alone or seconds
        hidden = max(0.0, 1 - alone / count / seconds)
        rows.append([count, duration(seconds), share(hidden)])
    return Shown(["processes", "an epoch", "of it beyond a share of one process's time"], rows,
                 "copies and MPI_Allreduce fill most of a step", f"{rows[-1][2]} of an epoch with {rows[-1][0]}",
                 "The report's profile shows gaps where gradients travel through the host. Here, GPUs add them up"
                 " themselves, while the gradient of the layer below is computed.")


def history(bench):
    words, images = network(bench)
    forms = [("memory per step", "per_step_memory", ""), ("memory once", "stage02", ""),
             ("products in tiles", "stage03", ""), ("data on the GPU", "stage04", "--fuse off --capture off"),
             ("fused", "stage04", "--capture off"), ("captured", "stage04", "")]
    rows = []
    first = before = None
    for name, program, more in forms:
        seconds = seconds_of(bench.train(program, *words, *more.split(), epochs=4))
        rows.append([name, f"`{program}`", more or NOTHING, digits(HISTORY.get(name)), digits(40 * seconds),
                     ratio(before, seconds), ratio(first, seconds)])
        before = seconds
        first = first or seconds
    case = "784-1000-10@800,sigmoid,double"
    rates = bench.peer_rates([case], "--images", images).get(case, {})
    rows += [[f"PyTorch, {form}", NOTHING, NOTHING, NOTHING, digits(40 * images / value), NOTHING,
              ratio(first, images / value)] for form, value in rates.items()]
    return Shown(["training", "program", "options", "theirs, s", "ours, s", "over the one before", "over the first"],
                 rows, "92.2 s become 26.7 s", f"{rows[0][4]} s become {digits(40 * before)} s",
                 f"40 epochs of {images:,} images, one GPU; the report's figures are of four. Its two changes are those from"
                 " the first row to the third; the others are stage 04's.", figures.bars((3, 4), "seconds for 40 epochs"))


def strategies(bench):
    """What the report left for the future: model parallelism."""
    words, images = network(bench)
    rows = []
    for count in bench.processes():
        data = seconds_of(bench.distributed(count, *words, "--strategy", "data"))
        tensor = seconds_of(bench.distributed(count, *words, "--strategy", "tensor")) if count > 1 else None
        rows.append([count, digits(40 * data), digits(tensor and 40 * tensor), ratio(data, tensor)])
    return Shown(["processes", "data parallelism, s", "tensor parallelism, s", "the second over the first"], rows,
                 "left for the future", f"{rows[-1][2]} s with {rows[-1][0]} processes, {rows[-1][1]} s by data",
                 "Seconds for 40 epochs. Each process holds a part of the hidden layer, and exchanges what its units give"
                 " to the next one instead of gradients.")


def against_sequential(bench):
    words, images = network(bench)
    serial = seconds_of(bench.train("stage01", *words, epochs=2))
    ours = seconds_of(bench.distributed(bench.processes()[-1], *words))
    rows = [["sequential", digits(SEQUENTIAL), digits(40 * serial)], ["parallel", digits(PARALLEL), digits(40 * ours)],
            ["over sequential", ratio(SEQUENTIAL, PARALLEL), ratio(serial, ours)]]
    return Shown(["40 epochs, s", "theirs", "ours"], rows, rows[2][1], rows[2][2],
                 "Stage 01 on one core, beside stage 05 with a process for each GPU.")


REPORT = Report("000", "MNIST on several GPUs", "up to four Tesla K80, Google Cloud, 2020", [
    Exhibit("Table 1", "errors of parallel training", "mpirun -n 4 grade --mode 1", errors),
    Exhibit("Section 3.1", "the product beside cuBLAS", "grade --mode 4", products),
    Exhibit("Table 2", "time of the product by block size", "ladder gemm --rung tile-16 --precision double", block_sizes),
    Exhibit("Figure 1", "the timeline of a step", "mpirun -n 2 stage05_mpi train", exchange),
    Exhibit("Figures 2 to 4", "coalescing and bank conflicts", "./run.sh count", coalescing),
    Exhibit("Table 3", "kernels by their time", "stage03_shared_memory train --timings", kernels),
    Exhibit("Section 4.2", "what each change bought", "per_step_memory train, and stages 02 to 04", history),
    Exhibit("Section 4.3", "model parallelism", "mpirun -n 2 stage05_mpi train --strategy tensor", strategies),
    Exhibit("Section 5", "parallel over sequential", "stage01_serial train, and stage05_mpi", against_sequential)])
