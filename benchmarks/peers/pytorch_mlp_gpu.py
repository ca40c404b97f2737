#!/usr/bin/env python3
"""The peer of stage 04's training: the same network in PyTorch on a GPU, eager and in a CUDA graph.

Prints one line of JSON: images a second by form and batch size.

The same are: the network (--hidden, --activation, --precision), the loss (cross-entropy), plain SGD,
a data set of 60,000 random images that lies on the GPU as a whole, batches picked by a shuffled
index, the loss added up on the GPU and read once an epoch. No TF32. In the form `graph`, a whole
step (picking the batch included) is recorded once and replayed for every batch; an epoch's order is
made and copied before it. The median of the epochs counts, as with our programs.
"""

import argparse
import json
import statistics
import time

import torch

IMAGES = 60000

options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
options.add_argument("--batch-sizes", default="100,250,1000,10000")
options.add_argument("--hidden", type=int, default=256)
options.add_argument("--activation", choices=["relu", "sigmoid"], default="relu")
options.add_argument("--precision", choices=["float", "double"], default="float")
options.add_argument("--images", type=int, default=IMAGES)
options.add_argument("--epochs", type=int, default=7, help="epochs to measure [7]")
options.add_argument("--forms", default="eager,graph")
arguments = options.parse_args()

torch.backends.cuda.matmul.allow_tf32 = False
torch.manual_seed(1)
device = torch.device("cuda")
dtype = torch.float64 if arguments.precision == "double" else torch.float32
images = torch.rand(arguments.images, 784, device=device, dtype=dtype)
labels = torch.randint(10, (arguments.images,), device=device)


class Training:
    """A network and what it takes to train it on one batch."""

    def __init__(self, batch_size):
        activation = torch.nn.ReLU() if arguments.activation == "relu" else torch.nn.Sigmoid()
        self.network = torch.nn.Sequential(
            torch.nn.Linear(784, arguments.hidden), activation, torch.nn.Linear(arguments.hidden, 10)
        ).to(device, dtype)
        self.loss_of = torch.nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.1)
        self.total = torch.zeros((), device=device, dtype=torch.float64)
        self.index = torch.arange(batch_size, device=device)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss_of(self.network(images[self.index]), labels[self.index])
        loss.backward()
        self.optimizer.step()
        self.total += loss.detach() * len(self.index)


def record(training):
    """A CUDA graph of one step, recorded on a side stream after some steps to warm up."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(5):
            training.step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        training.step()
    return graph


def measure(form, batch_size):
    """Images a second, the median of the epochs."""
    training = Training(batch_size)
    do_step = record(training).replay if form == "graph" else training.step
    count = arguments.images // batch_size * batch_size
    rates = []
    for _ in range(arguments.epochs + 1):
        order = torch.randperm(arguments.images).to(device)
        training.total.zero_()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for first in range(0, count, batch_size):
            training.index.copy_(order[first : first + batch_size])
            do_step()
        training.total.item()
        rates.append(count / (time.perf_counter() - start))
    return statistics.median(rates[1:])


print(
    json.dumps(
        {
            "pytorch": torch.__version__,
            "gpu": torch.cuda.get_device_name(),
            "images_per_second": {
                form: {
                    size: measure(form, int(size)) for size in arguments.batch_sizes.split(",")
                }
                for form in arguments.forms.split(",")
            },
        }
    )
)
