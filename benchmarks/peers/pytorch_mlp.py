#!/usr/bin/env python3
"""The peer of stage 01 in compare_cpu.py: the same training in PyTorch, on one thread, eager.

Run it with Debian's PyTorch: /usr/bin/python3 pytorch_mlp.py. It prints one line of JSON.

The same are: the network 784-256-10 (ReLU, cross-entropy, float), 60,000 random images, a batch of
100 gathered by shuffled index, plain SGD. PyTorch has less to do: its images are floats already
(ours are bytes), and it counts neither losses nor hits.
"""

import argparse
import json
import pathlib
import re
import time

import torch

IMAGES = 60000
BATCH_SIZE = 100

options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
options.add_argument("--epochs", type=int, default=3, help="epochs to measure [3]")
epochs = options.parse_args().epochs

torch.set_num_threads(1)
torch.manual_seed(1)
images = torch.rand(IMAGES, 784)
labels = torch.randint(10, (IMAGES,))
network = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
loss_of = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(network.parameters(), lr=0.1)


def train(count):
    """Trains on the first `count` samples of a new random order."""
    order = torch.randperm(IMAGES)[:count]
    for batch in order.split(BATCH_SIZE):
        optimizer.zero_grad(set_to_none=True)
        loss_of(network(images[batch]), labels[batch]).backward()
        optimizer.step()


train(IMAGES // 10)  # warms up
start = time.perf_counter()
for _ in range(epochs):
    train(IMAGES)
seconds = time.perf_counter() - start

# Which library does its products: it need not be the one that we link.
libraries = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
blas = sorted(set(re.findall(r"/([^/\s]*(?:blas|mkl_core|blis)[^/\s]*\.so[^/\s]*)", libraries)))

print(json.dumps({"images_per_second": epochs * IMAGES / seconds, "pytorch": torch.__version__, "blas": blas}))
