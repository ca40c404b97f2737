#!/usr/bin/env python3
"""The peer of stage 04's training: the same networks in PyTorch on a GPU, in several forms.

    python3 benchmarks/peers/pytorch_mlp_gpu.py 784-256-10@100 784-1000-10@800,sigmoid,double

A case is a network, the size of a batch and, after commas, what is not as usual: sigmoid (relu),
double (float), squared-error (cross-entropy). Prints one line of JSON: images a second by case and
form, and why a form failed.

The same are: the network, the loss, plain SGD, a data set of random samples (--images) that lies on
the GPU as a whole, batches picked by a shuffled index, the loss added up on the GPU and read once
an epoch. No TF32.

    eager            every operation is launched by the host
    graph            a step, picking the batch included, is recorded once, and replayed for each batch
    epoch            a whole epoch of steps is recorded once, and replayed with each order
    streamed         samples lie in the host's memory; for each step, the host picks a batch, copies
                     it, launches every operation, and reads the loss
    streamed-graph   the same with a recorded step

Batches are full: what is left of an epoch is not trained on. An epoch's order is made and copied
before it. The median of the epochs counts, as with our programs.
"""

import argparse
import gc
import json
import statistics
import time

import torch

DEFAULTS = {"relu", "float", "cross-entropy"}
WORDS = {*DEFAULTS, "sigmoid", "double", "squared-error"}

torch.backends.cuda.matmul.allow_tf32 = False
torch.manual_seed(1)
device = torch.device("cuda")


class Case:
    """What "784-256-10@100,sigmoid" says."""

    def __init__(self, text):
        network, *words = text.split(",")
        unknown = set(words) - WORDS
        if unknown:
            raise ValueError(f"{text}: {', '.join(unknown)} is unknown")
        widths, batch_size = network.split("@")
        self.name = text
        self.widths = [int(width) for width in widths.split("-")]
        self.batch_size = int(batch_size)
        self.dtype = torch.float64 if "double" in words else torch.float32
        self.is_sigmoid = "sigmoid" in words
        self.has_targets = "squared-error" in words


def make_network(case):
    """Linear layers with activations between them; with a squared error also after a sigmoid's."""
    layers = []
    for width, following in zip(case.widths, case.widths[1:]):
        layers += [torch.nn.Linear(width, following),
                   torch.nn.Sigmoid() if case.is_sigmoid else torch.nn.ReLU()]
    if not (case.is_sigmoid and case.has_targets):
        layers.pop()
    return torch.nn.Sequential(*layers).to(device, case.dtype)


def squared_error(outputs, classes):
    """Summed over the outputs, the mean over the batch."""
    targets = torch.nn.functional.one_hot(classes, outputs.shape[1]).to(outputs.dtype)
    return (outputs - targets).square().sum(dim=1).mean()


class Training:
    """A network, its data, and what it takes to train it on one batch."""

    def __init__(self, case, images):
        self.batch_size = case.batch_size
        self.images = torch.rand(images, case.widths[0], device=device, dtype=case.dtype)
        self.labels = torch.randint(case.widths[-1], (images,), device=device)
        self.network = make_network(case)
        self.loss_of = squared_error if case.has_targets else torch.nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.01)
        self.total = torch.zeros((), device=device, dtype=torch.float64)
        self.index = torch.arange(case.batch_size, device=device)
        self.batch = self.images[self.index]
        self.batch_labels = self.labels[self.index]

    def train(self, batch, batch_labels):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss_of(self.network(batch), batch_labels)
        loss.backward()
        self.optimizer.step()
        self.total += loss.detach() * self.batch_size

    def step(self):
        """On the samples that `index` names."""
        self.train(self.images[self.index], self.labels[self.index])

    def step_on_batch(self):
        """On what was copied to `batch`."""
        self.train(self.batch, self.batch_labels)


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


# A form is a function of a training and the number of samples in an epoch. It makes the epoch: a
# function of the order of its samples.


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
            training.train(training.images[rows], training.labels[rows])

    replay = record(steps, training.step)

    def epoch(order):
        own_order.copy_(order)
        replay()
        training.total.item()
    return epoch


def streaming(training, do_step):
    images, labels = training.images.cpu(), training.labels.cpu()
    staged = torch.empty_like(training.batch, device="cpu").pin_memory()
    staged_labels = torch.empty_like(training.batch_labels, device="cpu").pin_memory()

    def epoch(order):
        for rows in order.cpu().split(training.batch_size):
            torch.index_select(images, 0, rows, out=staged)
            torch.index_select(labels, 0, rows, out=staged_labels)
            training.batch.copy_(staged, non_blocking=True)
            training.batch_labels.copy_(staged_labels, non_blocking=True)
            do_step()
            training.total.item()
    return epoch


def streamed(training, _count):
    return streaming(training, training.step_on_batch)


def streamed_graph(training, _count):
    return streaming(training, record(training.step_on_batch, training.step_on_batch))


FORMS = {"eager": eager, "graph": graph, "epoch": whole_epoch, "streamed": streamed,
         "streamed-graph": streamed_graph}


def measure(case, form, arguments):
    """Images a second, the median of the epochs without the first."""
    images = arguments.steps * case.batch_size or max(arguments.images, case.batch_size)
    count = images // case.batch_size * case.batch_size
    training = Training(case, images)
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


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("cases", nargs="+", metavar="CASE", help="784-256-10@100,sigmoid,double")
    options.add_argument("--forms", default="eager,graph,epoch", help=",".join(FORMS))
    options.add_argument("--images", type=int, default=60000, help="samples of an epoch [60000]")
    options.add_argument("--steps", type=int, default=0, help="instead: batches of an epoch")
    options.add_argument("--epochs", type=int, default=7, help="epochs to measure [7]")
    options.add_argument("--limit", type=float, default=1.5,
                         help="seconds after which three of them are enough [1.5]")
    arguments = options.parse_args()

    rates = {}
    failures = {}
    for case in map(Case, arguments.cases):
        rates[case.name] = {}
        for form in arguments.forms.split(","):
            try:
                rates[case.name][form] = measure(case, form, arguments)
            except RuntimeError as error:  # such as too little memory; the other forms still count
                failures[f"{case.name} {form}"] = str(error).splitlines()[0]
            gc.collect()
            torch.cuda.empty_cache()
    print(json.dumps({"pytorch": torch.__version__, "gpu": torch.cuda.get_device_name(),
                      "images_per_second": rates, "failures": failures}))


main()
