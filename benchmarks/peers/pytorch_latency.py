#!/usr/bin/env python3
"""The peer of `evaluate --latency`: one image at a time through a network in PyTorch on a GPU.

Prints one line of JSON: the median seconds from an image in the host's memory to its class there,
by form. In the form `eager`, the image is copied, every operation is launched, and the class copied
back; `graph` is a recording of all of that, with the image in pinned memory. No TF32.
"""

import argparse
import json
import statistics
import time

import torch

from training import device, record

options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
options.add_argument("--hidden", default="256", help="widths of the hidden layers [256]")
options.add_argument("--images", type=int, default=2000, help="images to measure [2000]")
arguments = options.parse_args()

torch.backends.cuda.matmul.allow_tf32 = False
images = torch.rand(arguments.images, 784)
widths = [784, *map(int, arguments.hidden.split(",")), 10]
layers = []
for width, following in zip(widths, widths[1:]):
    layers += [torch.nn.Linear(width, following), torch.nn.ReLU()]
network = torch.nn.Sequential(*layers[:-1]).to(device)


def eager():
    return lambda image: network(image.unsqueeze(0).to(device)).argmax(dim=1).item()


def graph():
    staged = torch.zeros(1, 784).pin_memory()
    answer = torch.zeros(1, dtype=torch.int64).pin_memory()

    def work():
        answer.copy_(network(staged.to(device, non_blocking=True)).argmax(dim=1), non_blocking=True)

    replay = record(work, work)

    def answer_to(image):
        staged[0].copy_(image)
        replay()
        torch.cuda.synchronize()
        return int(answer[0])

    return answer_to


def measure(answer_to):
    seconds = []
    for image in images:
        start = time.perf_counter()
        answer_to(image)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[len(seconds) // 10:])  # the first ones warm up


with torch.no_grad():
    medians = {"eager": measure(eager()), "graph": measure(graph())}
print(json.dumps({"pytorch": torch.__version__, "median_seconds": medians}))
