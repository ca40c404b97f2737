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

A training is that of pytorch_mlp_gpu.py, in the forms of training.py.

All forms come a second time, as ...-nhwc, with images in the memory format channels_last.
"""

import statistics
import time

import torch

import training
from training import device, record

IMAGE = (1, 28, 28)
CLASSES = 10
LAYOUTS = {"": torch.contiguous_format, "-nhwc": torch.channels_last}

torch.backends.cudnn.benchmark = True


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
    while len(seconds) < 5 or (len(seconds) < arguments.repetitions and sum(seconds) < arguments.limit):
        start = time.perf_counter()
        forward()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


# All of it


def rate_of_training(form, batch_size, layout, arguments):
    images = max(arguments.images, batch_size)
    trained = training.Training(Network(layout), torch.rand(images, *IMAGE, device=device),
                                torch.randint(CLASSES, (images,), device=device), batch_size)
    return training.rate_of(training.FORMS[form], trained, arguments.epochs, arguments.limit)


def measure_forward(results, case, count, suffix, arguments):
    layout = LAYOUTS[suffix]
    for name, is_recorded in (("eager", False), ("graph", True)):
        for kind, form, source in (("device_seconds", name, from_device),
                                   ("host_seconds", name, from_host),
                                   ("host_seconds", f"bytes-{name}", from_bytes)):
            results.add(kind, case, form + suffix, seconds_of_forward, source, count, layout, is_recorded, arguments)


def measure_training(results, case, batch_size, suffix, arguments):
    for form in training.FORMS:
        results.add("images_per_second", case, form + suffix, rate_of_training, form, batch_size,
                    LAYOUTS[suffix], arguments)


def main():
    options = training.parser(__doc__, 0.7)
    sizes = lambda text: [int(size) for size in text.split(",") if size]
    options.add_argument("--precisions", default="float,tf32", help="[float,tf32]")
    options.add_argument("--batches", type=sizes, default="2,10,100,1000,10000",
                         help="images of a forward pass [2,10,100,1000,10000]")
    options.add_argument("--training", type=sizes, default="100,1000", help="images of a training's batch [100,1000]")
    options.add_argument("--repetitions", type=int, default=200, help="forward passes to measure [200]")
    arguments = options.parse_args()
    precisions = arguments.precisions.split(",")
    if not set(precisions) <= {"float", "tf32"}:
        options.error(f"--precisions is {arguments.precisions}, but there are float and tf32")

    results = training.Results("device_seconds", "host_seconds", "images_per_second")
    for precision in precisions:
        set_precision(precision)
        for suffix in LAYOUTS:
            for count in arguments.batches:
                measure_forward(results, f"{precision}@{count}", count, suffix, arguments)
            for batch_size in arguments.training:
                measure_training(results, f"{precision}@{batch_size}", batch_size, suffix, arguments)
    results.print()


main()
