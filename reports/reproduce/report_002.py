"""Report 002, K. Black, 2021: a small library for one network, 784-256-10, beside PyTorch."""

import figures
from exhibit import Exhibit, Report, Shown
from measuring import NOTHING, digits, rate_of, ratio

# Table 1: seconds for 10 epochs of 10,000 images, sequential and on the GPU, by operation and whether it is on the way
# back.
SECONDS = {("gather", False): (0.034, 0.108), ("gemm", False): (132, 0.522), ("add_bias", False): (0.073, 0.014),
           ("relu", False): (0.107, 0.007), ("softmax_cross_entropy", False): (0.013, 0.010),
           ("gemm", True): (184, 0.105), ("column_sums", True): (0.069, 0.021), ("relu_backward", True): (0.208, 0.007),
           ("softmax_cross_entropy_backward", True): (0.015, 0.007), ("sgd_update", True): (0.705, 0.029)}
TILES = (4, 8, 16, 32)


def operations(bench):
    """Seconds by operation, scaled to the report's 10 epochs of 10,000 images."""
    forms = [("stage01", ["--gemm", "naive"]), ("stage02", ["--block-size", 32]), ("stage03", [])]
    columns = []
    for program, words in forms:
        report = bench.train(program, *bench.images(), "--batch-size", 100, "--timings", *words,
                             epochs=1 if program == "stage01" else 3)
        steps = max(timing["calls"] for timing in report["timings"])
        sums = {}
        for timing in report["timings"]:
            key = (timing["operation"].split()[0], timing["backward_seconds"] > 0)
            seconds = timing["forward_seconds"] + timing["backward_seconds"]
            sums[key] = sums.get(key, 0) + 1000 * seconds / steps
        columns.append(sums)
    rows = [[f"`{name}`, {'back' if is_backward else 'forward'}", *map(digits, theirs),
             *(digits(sums.get((name, is_backward))) for sums in columns)]
            for (name, is_backward), theirs in SECONDS.items()]
    rows.append(["all of these", *(digits(sum(column)) for column in zip(*SECONDS.values())),
                 *(digits(sum(sums.get(key, 0) for key in SECONDS)) for sums in columns)])
    return Shown(["operation", "sequential, theirs", "GPU, theirs", "stage 01", "stage 02, 32 x 32", "stage 03"], rows,
                 "0.830 s; 0.522 of them the product forward", f"{rows[-1][5]} s; {rows[1][5]} of them",
                 "Seconds for 10 epochs of 10,000 images in batches of 100: each operation measured by itself, from the"
                 " mean of a step.",
                 figures.bars((2, 4, 5), "seconds"))


def latency(bench):
    model = bench.folder / "model.h5"
    bench.train("stage01", *bench.images(), "--save", model, epochs=1)

    def paths(program, *words):
        return bench.latency(program, model, "--batch-size", 1, "--test-limit", 20 if bench.quick else 500, *words)

    serial = paths("stage01", "--gemm", "naive")["eager"]
    rows = [["stage 01, naive", serial, "1x"]]
    rows += [[f"stage 02, {tile} x {tile}", paths("stage02", "--block-size", tile)["eager"], "15x to 16.6x"]
             for tile in TILES]
    rows.append(["stage 03", paths("stage03")["eager"], NOTHING])
    rows += [[f"stage 04, {path}", seconds, NOTHING] for path, seconds in paths("ladder persistent").items()]
    medians = bench.peer("pytorch_latency.py").get("median_seconds", {})
    rows += [[f"PyTorch, {name}", medians[form], theirs]
             for form, name, theirs in (("eager", "eager", "10.2x"), ("graph", "CUDA graph", NOTHING)) if medians]
    fastest = min(rows, key=lambda row: row[1])
    return Shown(["program", "us", "over sequential, theirs", "ours"],
                 [[name, digits(1e6 * seconds), theirs, ratio(serial, seconds)] for name, seconds, theirs in rows],
                 "16.6 times the sequential program; PyTorch 10.2 times",
                 f"{ratio(serial, fastest[1])}: {fastest[0]}",
                 "One image from the host's memory to its class there; the report's sequential program took 1,310 us.",
                 figures.bars((1,), "microseconds for one image"))


def throughput(bench):
    sizes = (10, 100) if bench.quick else (10, 100, 250, 1000, 2500, 10000)
    tiles = (8, 32) if bench.quick else TILES
    forms = [(f"stage 02, {tile} x {tile}", "stage02", ["--block-size", tile]) for tile in tiles]
    forms += [("stage 03", "stage03", []), ("stage 04, streamed", "stage04", ["--stream-batches"]),
              ("stage 04", "stage04", [])]
    cases = {size: f"784-256-10@{size}" for size in sizes}
    copied = bench.peer_rates(cases.values(), "--forms", "streamed,streamed-graph", "--images", 10000)
    resident = bench.peer_rates(cases.values(), "--images", 10000)
    rows = []
    best = best_peer = 0.0
    for size in sizes:
        ours = [rate_of(bench.train(program, *bench.images(), "--batch-size", size, *words))
                for _, program, words in forms]
        rates = copied.get(cases[size], {})
        fastest = max(resident.get(cases[size], {}).values(), default=None)
        best, best_peer = max(best, *ours), max(best_peer, fastest or 0)
        rows.append([f"{size:,}", *map(digits, ours), digits(rates.get("streamed")), digits(rates.get("streamed-graph")),
                     digits(fastest)])
    return Shown(["batch", *(name for name, _, _ in forms), "PyTorch, copies", "PyTorch, copies, CUDA graph",
                  "PyTorch, resident, fastest"], rows,
                 "311,000 images/s (8 x 8, 1,000); PyTorch 785,500", f"{digits(best)} images/s; PyTorch "
                 f"{digits(best_peer or None)}",
                 "Images a second in training, from 10,000 images; the sequential program trained with 228. In the first"
                 " columns, in \"streamed\" and in PyTorch's loops with copies, a batch is copied from the host for every"
                 " step; PyTorch's loops read the loss of every step, too.",
                 figures.lines(range(1, len(forms) + 4), "batch", "images a second"))


def losses(bench):
    """Section 4.2: the same losses as PyTorch's, epoch by epoch."""
    epochs = 2 if bench.quick else 10
    words = [*bench.images(), "--hidden", 256, "--batch-size", 100, "--learning-rate", 0.1, "--shuffle", "off",
             "--precision", "double"]
    of_stage = [[epoch["train_loss"] for epoch in bench.train(stage, *words, epochs=epochs)["epochs"]]
                for stage in ("stage01", "stage03", "stage04")]
    rows = [[number + 1, *(f"{loss:.12f}" for loss in row)] for number, row in enumerate(zip(*of_stage))]
    worst = max(abs(loss / row[0] - 1) for row in zip(*of_stage) for loss in row)
    return Shown(["epoch", "stage 01", "stage 03", "stage 04"], rows, "the same losses as PyTorch's after every epoch",
                 f"the stages differ by {worst:.1e}",
                 "The mean loss of an epoch's steps, in double, beginning with the same parameters. What PyTorch makes of"
                 " the same checkpoint is `./run.sh convert`'s, and its tests compare the two.",
                 figures.lines((1, 3), "epoch", "loss", log=False))


REPORT = Report("002", "a small library beside a large one", "a Quadro RTX 6000 and a Xeon Gold 6226R, 2021", [
    Exhibit("Section 4.2", "losses by epoch", "stage03_shared_memory train --precision double", losses),
    Exhibit("Table 1", "the time of every operation", "stage02_naive_cuda train --block-size 32 --timings", operations),
    Exhibit("Figure 1", "latency of one image by tile size", "ladder persistent evaluate --latency --batch-size 1", latency),
    Exhibit("Figures 2 and 3", "throughput by tile size and batch", "stage04_minibatch train --batch-size 1000",
            throughput)])
