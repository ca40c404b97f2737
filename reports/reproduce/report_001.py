"""Report 001, A. Agarwal, K. Usgaonkar, S. Saini, 2016: the forward pass of a convolutional network."""

import figures
from exhibit import Exhibit, Report, Shown, rung_seconds, share
from measuring import Failed, duration, ratio

# "The results": seconds of the serial and of the final program, and the correctness, by images.
RESULTS = {2: (0.016239, 0.149981, 1.0), 10: (0.0736901, 0.136396, 1.0), 100: (0.906477, 0.156085, 0.95),
           10000: (64.9948, 1.48153, 0.8722)}
# The profile's longest kernels, for 10 images, in seconds.
KERNELS = {"convolution, second layer": 2.615e-3, "convolution, first layer": 200e-6, "product, first": 134e-6,
           "pooling, first": 69e-6, "product, second": 19e-6, "pooling, second": 18e-6}
LAYERS = {"first layer": (28, 1, 32), "second layer": (12, 32, 64)}


def data_of(bench, images):
    """The report's file of so many images: the last one is MNIST's test set."""
    model = bench.data_file("ece408/model.hdf5")
    words = ["--model", "cnn", "--load", model]
    if images == 10000:
        if not bench.has_mnist:
            raise Failed("the 10,000 images are MNIST's test set, which is not there")
        return [*words, "--dataset", "mnist", "--test-limit", 500 if bench.quick else 10000]
    return [*words, "--dataset", bench.data_file(f"ece408/test{images}.hdf5"), "--format", "hdf5"]


def results(bench):
    counts = (2, 10) if bench.quick else RESULTS
    rows = []
    for count in counts:
        words = data_of(bench, count)
        answer = bench.report([*bench.words("stage01"), "evaluate", *words])["test_accuracy"]
        times = []
        for program in ("stage01", "stage03", "stage04"):
            report = bench.report([*bench.words(program), "evaluate", *words, "--batch-size", count, "--latency"], 200)
            times.append(min(path["median_seconds"] for path in report["latency"] if path["path"] != "device"))
        serial, final, correct = RESULTS[count]
        rows.append([f"{count:,}", f"{correct}", f"{answer:.4f}".rstrip("0").rstrip("."), duration(serial),
                     duration(final), *map(duration, times), ratio(serial, final), ratio(times[0], min(times[1:]))])
    return Shown(["images", "correct, theirs", "ours", "serial, theirs", "final, theirs", "stage 01", "stage 03",
                  "stage 04", "final over serial, theirs", "ours"], rows, "43 times the serial program, for 10,000 images",
                 f"{rows[-1][-1]}, for {rows[-1][0]}",
                 "The report's times have the start of CUDA in them, so that two images take as long as a hundred. Ours are"
                 " those of a running program, from host to host.",
                 figures.lines((3, 4, 5, 6, 7), "images", "seconds"))


def profile(bench):
    report = bench.train("stage03", "--model", "cnn", "--dataset", bench.dataset, "--train-limit", 50, "--test-limit", 10,
                         "--batch-size", 10, "--timings")
    timings = [timing for timing in report["timings"] if timing["forward_seconds"] > 0]
    total = sum(timing["forward_seconds"] for timing in timings)
    longest = sorted(timings, key=lambda timing: -timing["forward_seconds"])[:len(KERNELS)]
    rows = [[name, duration(seconds), f"`{timing['operation'].split()[0]}`",
             duration(timing["forward_seconds"] / timing["calls"]), share(timing["forward_seconds"] / total)]
            for (name, seconds), timing in zip(KERNELS.items(), longest)]
    return Shown(["kernel, theirs", "time", "operation, ours", "time", "share"], rows,
                 "the second convolution takes 86 % of six kernels", f"{rows[0][2]} takes {rows[0][4]}",
                 "The longest first, of a training's forward passes.")


def steps(bench):
    """The successful and the unsuccessful optimizations, layer by layer, and the crossover."""
    rungs = ("direct", "texture", "fast-math", "im2col", "implicit", "separate", "fused")
    counts = (2,) if bench.quick else (1, 2, 10, 100, 10000)
    rows = []
    for layer, (size, channels, filters) in LAYERS.items():
        for count in counts:
            times = []
            for rung in rungs:
                words = ["--images", count, "--size", size, "--channels", channels, "--filters", filters,
                         "--repetitions", 1 if bench.quick else 20]
                try:
                    times.append(rung_seconds(bench, "convolution", rung, *words))
                except Failed:
                    times.append(None)  # without a GPU there are neither textures nor nvcc's option
            rows.append([f"{layer}, {count:,}", *map(duration, times), ratio(times[0], times[3])])
    return Shown(["layer, images", *(f"`{rung}`" for rung in rungs), "product over direct"], rows,
                 "the product pays from 100 images on; textures and a fused relu do not",
                 f"the product over direct: {rows[0][-1]} for {rows[0][0].split(', ')[1]}",
                 "For fewer than 100 images the report used serial loops, so its crossover is one from a CPU to a GPU."
                 " Its relu within the product had changed the accuracy; each rung here is verified.")


def copies(bench):
    """Streams: what copying costs from host to host."""
    count = 10 if bench.quick else 10000
    report = bench.report([*bench.words("stage04"), "evaluate", *data_of(bench, count), "--batch-size", count,
                           "--latency"], 200)
    rows = [[path["path"], duration(path["median_seconds"])] for path in report["latency"]]
    names = [row[0] for row in rows]
    return Shown(["path", f"{count:,} images"], rows, "part of \"almost 6 times\"",
                 ", ".join(f"{name} {time}" for name, time in rows),
                 "The report cuts its batch into parts and copies one while it computes another. "
                 + ("The path `streamed` does so" if "streamed" in names else "Stage 04 does so where it pays")
                 + "; `device` has no copies at all.")


REPORT = Report("001", "a convolutional network, forward", "a course's server, 2016; the GPU is not named", [
    Exhibit("Results", "correctness and time by images", "stage04_minibatch evaluate --model cnn --load model.hdf5 --latency",
            results),
    Exhibit("Profile", "the longest kernels for 10 images", "stage03_shared_memory train --model cnn --batch-size 10 --timings", profile),
    Exhibit("Optimizations", "unrolling, relu, textures, fast-math", "ladder convolution --images 100", steps),
    Exhibit("Optimization 2", "streams", "stage04_minibatch evaluate --latency", copies)])
