"""What the peers on a GPU have in common: the forms of a training, and how work is recorded and timed.

A training is softmax cross-entropy or what `loss_of` says, plain SGD, and a data set of random samples that lies on the
GPU as a whole. Its forms:

    eager            every operation is launched by the host
    graph            a step, picking the batch included, is recorded once, and replayed for each batch
    epoch            a whole epoch of steps is recorded once, and replayed with each order

Batches are picked by a shuffled index, and full: what is left of an epoch is not trained on. An epoch's order is made
and copied before it; the loss is added up on the GPU and read once an epoch.
"""

import argparse
import gc
import json
import statistics
import time

import torch

torch.manual_seed(1)
device = torch.device("cuda")


class Training:
    """A network, its data, and what it takes to train it on one batch."""

    def __init__(self, network, images, labels, batch_size, rate=0.01, loss_of=None):
        self.network = network
        self.images, self.labels = images, labels
        self.batch_size = batch_size
        self.loss_of = loss_of or torch.nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(network.parameters(), lr=rate)
        self.total = torch.zeros((), device=device, dtype=torch.float64)
        self.index = torch.arange(batch_size, device=device)

    def train(self, batch, batch_labels):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss_of(self.network(batch), batch_labels)
        loss.backward()
        self.optimizer.step()
        self.total += loss.detach() * self.batch_size

    def step(self):
        """On the samples that `index` names."""
        self.train(self.images[self.index], self.labels[self.index])


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


# A form is a function of a training and the number of samples in an epoch. It makes the epoch: a function of the order
# of its samples.


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


FORMS = {"eager": eager, "graph": graph, "epoch": whole_epoch}


def rate_of(form, training, epochs, limit):
    """Images a second, the median of the epochs without the first; after `limit` seconds, three of them are enough."""
    images = len(training.images)
    count = images // training.batch_size * training.batch_size
    epoch = form(training, count)
    seconds = []
    while len(seconds) < 3 or (len(seconds) <= epochs and sum(seconds) < limit):
        order = torch.randperm(images)[:count].to(device)
        training.total.zero_()
        torch.cuda.synchronize()
        start = time.perf_counter()
        epoch(order)
        seconds.append(time.perf_counter() - start)
    return count / statistics.median(seconds[1:])


class Results:
    """Figures by their kind, case and form, and why a form failed."""

    def __init__(self, *kinds):
        self.figures = {kind: {} for kind in kinds}
        self.failures = {}

    def add(self, kind, case, form, measure, *words):
        forms = self.figures[kind].setdefault(case, {})
        try:
            forms[form] = measure(*words)
        except RuntimeError as error:  # such as too little memory; the other forms still count
            self.failures[f"{kind} {case} {form}"] = str(error).splitlines()[0]
        gc.collect()
        torch.cuda.empty_cache()

    def print(self):
        """One line of JSON."""
        print(json.dumps({"pytorch": torch.__version__, "gpu": torch.cuda.get_device_name(), **self.figures,
                          "failures": self.failures}))


def parser(description, limit):
    """With the options of a training."""
    result = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--images", type=int, default=60000, help="samples of an epoch [60000]")
    result.add_argument("--epochs", type=int, default=7, help="epochs to measure [7]")
    result.add_argument("--limit", type=float, default=limit,
                        help=f"seconds after which three epochs, or a few passes, are enough [{limit}]")
    return result
