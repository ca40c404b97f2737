#!/usr/bin/env python3
"""The peer of `--model cnn`: report 001's network in PyTorch and cuDNN on a GPU, in several forms.

    python3 benchmarks/peers/pytorch_cnn.py
    python3 benchmarks/peers/pytorch_cnn.py --precisions tf32 --batches 10000 --training ""

Images of 28x28x1; twice a convolution (5x5x32, then 5x5x64) with bias, ReLU and average pooling of
2x2; fully connected layers 1024-128 with ReLU and 128-10. A case is a precision and the size of a
batch: "float@100" (no TF32), "tf32@100" (cuDNN and cuBLAS may use it). Prints one line of JSON: by
case and form, the seconds of a forward pass on the device and from host to host, a training's
images a second, and why a form failed.

A forward pass ends with the argmax of the outputs, and is waited for; the median of many counts. On
the device, images and classes lie on the GPU; from host to host, both lie in the host's pinned
memory. Its forms:

    eager            every operation is launched by the host
    graph            copies and operations are recorded once
    bytes-...        host to host, the same with images of bytes, which the GPU divides by 255

A training is that of pytorch_mlp_gpu.py: softmax cross-entropy, plain SGD, random samples that lie
on the GPU as a whole, batches picked by a shuffled index, the loss read once an epoch. Its forms:

    eager            every operation is launched by the host
    graph            a step, picking the batch included, is recorded once, and replayed for a batch
    epoch            a whole epoch of steps is recorded once, and replayed with each order

All forms come a second time, as ...-nhwc, with images in the memory format channels_last.
"""

import argparse
import gc
import json
import statistics
import time

import torch

IMAGE = (1, 28, 28)
CLASSES = 10
LAYOUTS = {"": torch.contiguous_format, "-nhwc": torch.channels_last}

torch.backends.cudnn.benchmark = True
torch.manual_seed(1)
device = torch.device("cuda")


def set_precision(name):
    """Of products and convolutions: cuDNN would use TF32 unless told not to."""
    torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
    torch.backends.cudnn.allow_tf32 = name == "tf32"


class Network(torch.nn.Module):
    def __init__(self, layout):
        super().__init__()
        self.convolutions = torch.nn.Sequential(
            torch.nn.Conv2d(1, 32, 5), torch.nn.ReLU(inplace=True), torch.nn.AvgPool2d(2),
            torch.nn.Conv2d(32, 64, 5), torch.nn.ReLU(inplace=True), torch.nn.AvgPool2d(2))
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(1024, 128), torch.nn.ReLU(inplace=True), torch.nn.Linear(128, CLASSES))
        self.is_nhwc = layout == torch.channels_last
        self.to(device, memory_format=layout)

    def forward(self, images):
        maps = self.convolutions(images)
        if self.is_nhwc:  # flattened as they lie in memory, so that nothing is copied
            maps = maps.permute(0, 2, 3, 1)
        return self.layers(maps.flatten(1))


def record(work, warm_up):
    """What `work` launches as a CUDA graph, recorded after `warm_up` has been called some times."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(5):
            warm_up()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph.replay


# Forward passes. Where images come from is a function of a network and their number. It makes a
# function that does one pass.


def from_device(network, count):
    images = torch.rand(count, *IMAGE, device=device)
    return lambda: network(images).argmax(dim=1)


def host_to_host(network, images):
    images = images.pin_memory()
    classes = torch.empty(len(images), dtype=torch.int64).pin_memory()

    def work():
        batch = images.to(device, non_blocking=True)
        if batch.dtype == torch.uint8:
            batch = batch / 255
        classes.copy_(network(batch).argmax(dim=1), non_blocking=True)
    return work


def from_host(network, count):
    return host_to_host(network, torch.rand(count, *IMAGE))


def from_bytes(network, count):
    return host_to_host(network, torch.randint(256, (count, *IMAGE), dtype=torch.uint8))


@torch.no_grad()
def seconds_of_forward(source, count, layout, is_recorded, arguments):
    """The median of passes, each of which is waited for."""
    work = source(Network(layout), count)  # kept, since a recording does not keep its memory
    forward = record(work, work) if is_recorded else work
    for _ in range(20):
        forward()
    torch.cuda.synchronize()
    seconds = []
    while len(seconds) < 5 or (len(seconds) < arguments.repetitions
                               and sum(seconds) < arguments.limit):
        start = time.perf_counter()
        forward()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


# Trainings. A form is a function of a training and the number of samples in an epoch. It makes the
# epoch: a function of the order of its samples.


class Training:
    """The network, its data, and what it takes to train it on one batch."""

    def __init__(self, batch_size, layout, images):
        self.batch_size = batch_size
        self.images = torch.rand(images, *IMAGE, device=device)
        self.labels = torch.randint(CLASSES, (images,), device=device)
        self.network = Network(layout)
        self.loss_of = torch.nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.01)
        self.total = torch.zeros((), device=device, dtype=torch.float64)
        self.index = torch.arange(batch_size, device=device)

    def train(self, rows):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss_of(self.network(self.images[rows]), self.labels[rows])
        loss.backward()
        self.optimizer.step()
        self.total += loss.detach() * self.batch_size

    def step(self):
        """On the samples that `index` names."""
        self.train(self.index)


def resident(training, do_step):
    def epoch(order):
        for rows in order.split(training.batch_size):
            training.index.copy_(rows)
            do_step()
        training.total.item()
    return epoch


def eager(training, _count):
    return resident(training, training.step)


def graph(training, _count):
    return resident(training, record(training.step, training.step))


def whole_epoch(training, count):
    own_order = torch.arange(count, device=device)

    def steps():
        for rows in own_order.split(training.batch_size):
            training.train(rows)

    replay = record(steps, training.step)

    def epoch(order):
        own_order.copy_(order)
        replay()
        training.total.item()
    return epoch


FORMS = {"eager": eager, "graph": graph, "epoch": whole_epoch}


def rate_of_training(form, batch_size, layout, arguments):
    """Images a second, the median of the epochs without the first."""
    images = max(arguments.images, batch_size)
    count = images // batch_size * batch_size
    training = Training(batch_size, layout, images)
    epoch = FORMS[form](training, count)
    seconds = []
    while len(seconds) < 3 or (len(seconds) <= arguments.epochs and sum(seconds) < arguments.limit):
        order = torch.randperm(images)[:count].to(device)
        training.total.zero_()
        torch.cuda.synchronize()
        start = time.perf_counter()
        epoch(order)
        seconds.append(time.perf_counter() - start)
    return count / statistics.median(seconds[1:])


# All of it


class Results:
    def __init__(self):
        self.figures = {"device_seconds": {}, "host_seconds": {}, "images_per_second": {}}
        self.failures = {}

    def add(self, kind, case, form, measure, *words):
        forms = self.figures[kind].setdefault(case, {})
        try:
            forms[form] = measure(*words)
        except RuntimeError as error:  # such as too little memory; the other forms still count
            self.failures[f"{kind} {case} {form}"] = str(error).splitlines()[0]
        gc.collect()
        torch.cuda.empty_cache()


def measure_forward(results, case, count, suffix, arguments):
    layout = LAYOUTS[suffix]
    for name, is_recorded in (("eager", False), ("graph", True)):
        for kind, form, source in (("device_seconds", name, from_device),
                                   ("host_seconds", name, from_host),
                                   ("host_seconds", f"bytes-{name}", from_bytes)):
            results.add(kind, case, form + suffix, seconds_of_forward, source, count, layout,
                        is_recorded, arguments)


def measure_training(results, case, batch_size, suffix, arguments):
    for form in FORMS:
        results.add("images_per_second", case, form + suffix, rate_of_training, form, batch_size,
                    LAYOUTS[suffix], arguments)


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    sizes = lambda text: [int(size) for size in text.split(",") if size]
    options.add_argument("--precisions", default="float,tf32", help="[float,tf32]")
    options.add_argument("--batches", type=sizes, default="2,10,100,1000,10000",
                         help="images of a forward pass [2,10,100,1000,10000]")
    options.add_argument("--training", type=sizes, default="100,1000",
                         help="images of a training's batch [100,1000]")
    options.add_argument("--repetitions", type=int, default=200,
                         help="forward passes to measure [200]")
    options.add_argument("--images", type=int, default=60000, help="samples of an epoch [60000]")
    options.add_argument("--epochs", type=int, default=7, help="epochs to measure [7]")
    options.add_argument("--limit", type=float, default=0.7,
                         help="seconds after which a few passes, or three epochs, are enough [0.7]")
    arguments = options.parse_args()
    precisions = arguments.precisions.split(",")
    if not set(precisions) <= {"float", "tf32"}:
        options.error(f"--precisions is {arguments.precisions}, but there are float and tf32")

    results = Results()
    for precision in precisions:
        set_precision(precision)
        for suffix in LAYOUTS:
            for count in arguments.batches:
                measure_forward(results, f"{precision}@{count}", count, suffix, arguments)
            for batch_size in arguments.training:
                measure_training(results, f"{precision}@{batch_size}", batch_size, suffix,
                                 arguments)
    print(json.dumps({"pytorch": torch.__version__, "gpu": torch.cuda.get_device_name(),
                      **results.figures, "failures": results.failures}))


main()
