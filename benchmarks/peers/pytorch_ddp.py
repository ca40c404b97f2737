#!/usr/bin/env python3
"""The peer of stage 05's training: the same network in PyTorch's DistributedDataParallel.

    python3 -m torch.distributed.run --nproc_per_node 4 benchmarks/peers/pytorch_ddp.py

Rank 0 prints a line of JSON for every form: the median seconds an epoch takes, by batch size.

The same are: the network (--hidden, --activation, --precision), the loss (cross-entropy), plain SGD
with the mean of the gradients of all processes, the size of a batch, which is that of all processes
together. Every process has all images, random ones, on its GPU, and picks its part of a batch by a
shuffled index; the losses are added up on the GPU and read once an epoch. No TF32. An epoch has
whole batches only, and a batch as many images as can be shared evenly; the time is scaled to all
images. In the form `graph`, a whole step (picking the batch and adding up the gradients included)
is recorded once and replayed for every batch; that needs NCCL. An epoch's order is made and copied
before it.

NCCL wants a GPU for each process. Where processes share one, use --backend gloo.
"""

import argparse
import gc
import json
import os
import statistics
import time

import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel

from training import Training

IMAGES = 60000
WARM_UP = 11  # steps that DistributedDataParallel asks for before it is recorded

options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
options.add_argument("--batch-sizes", default="1000", help="of all processes together [1000]")
options.add_argument("--hidden", type=int, default=256)
options.add_argument("--activation", choices=["relu", "sigmoid"], default="relu")
options.add_argument("--precision", choices=["float", "double"], default="float")
options.add_argument("--images", type=int, default=IMAGES)
options.add_argument("--epochs", type=int, default=7, help="epochs to measure [7]")
options.add_argument("--forms", default="eager,graph")
options.add_argument("--backend", choices=["nccl", "gloo"], default="nccl")
arguments = options.parse_args()

rank = int(os.environ["RANK"])
processes = int(os.environ["WORLD_SIZE"])
batch_sizes = [int(size) for size in arguments.batch_sizes.split(",")]
forms = arguments.forms.split(",")
for size in batch_sizes:
    if size < processes:
        options.error(f"a batch of {size} cannot be shared among {processes} processes")
    if size > arguments.images:
        options.error(f"a batch of {size} is more than all {arguments.images} images")
if "graph" in forms and arguments.backend != "nccl":
    options.error("only NCCL's sums can be recorded: --forms graph needs --backend nccl")

# Else a thread of PyTorch's looks after NCCL's work while a graph is recorded.
os.environ.setdefault("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0")
torch.backends.cuda.matmul.allow_tf32 = False
torch.manual_seed(1)  # the same images and orders in all processes
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
torch.cuda.set_device(device)
torch.distributed.init_process_group(arguments.backend)
dtype = torch.float64 if arguments.precision == "double" else torch.float32
images = torch.rand(arguments.images, 784, device=device, dtype=dtype)
labels = torch.randint(10, (arguments.images,), device=device)


def training_of(part):
    """What it takes to train a network on this process's part of a batch."""
    activation = torch.nn.ReLU() if arguments.activation == "relu" else torch.nn.Sigmoid()
    network = torch.nn.Sequential(torch.nn.Linear(784, arguments.hidden), activation,
                                  torch.nn.Linear(arguments.hidden, 10)).to(device, dtype)
    network = DistributedDataParallel(network, device_ids=[device.index], gradient_as_bucket_view=True)
    return Training(network, images, labels, part, rate=0.1)


def record(training, stream):
    """A CUDA graph of one step, recorded after some steps to warm up."""
    for _ in range(WARM_UP):
        training.step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
        training.step()
    return graph


def wait_for_all(training):
    """Until every process has come here and its GPU has nothing left to do."""
    torch.distributed.all_reduce(training.total)
    torch.cuda.synchronize()


def measure(form, batch_size):
    """Seconds an epoch takes, the median."""
    part = batch_size // processes
    steps = arguments.images // batch_size
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    seconds = []
    # All in one stream, which is not the default one: that could not be recorded.
    with torch.cuda.stream(stream):
        training = training_of(part)
        do_step = record(training, stream).replay if form == "graph" else training.step
        for _ in range(arguments.epochs + 1):
            order = torch.randperm(arguments.images).to(device)
            training.total.zero_()
            wait_for_all(training)
            start = time.perf_counter()
            for step in range(steps):
                first = step * batch_size + rank * part
                training.index.copy_(order[first : first + part])
                do_step()
            torch.distributed.all_reduce(training.total)
            training.total.item()
            seconds.append(time.perf_counter() - start)
    torch.cuda.synchronize()
    return statistics.median(seconds[1:]) * arguments.images / (steps * part * processes)


for form in forms:
    result = {size: measure(form, size) for size in batch_sizes}
    gc.collect()  # a graph must go before the communicator whose sums it has recorded
    if rank == 0:
        print(json.dumps({"seconds_per_epoch": {form: result}}), flush=True)
torch.distributed.destroy_process_group()
