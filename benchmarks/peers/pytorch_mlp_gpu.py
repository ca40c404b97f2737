#!/usr/bin/env python3
"""The peer of stage 04's training: the same networks in PyTorch on a GPU, in several forms.

    python3 benchmarks/peers/pytorch_mlp_gpu.py 784-256-10@100 784-1000-10@800,sigmoid,double

A case is a network, the size of a batch and, after commas, what is not as usual: sigmoid (relu),
double (float), squared-error (cross-entropy). Prints one line of JSON: images a second by case and
form, and why a form failed.

The same are: the network, the loss, plain SGD, a data set of random samples (--images) that lies on the GPU as a whole,
batches picked by a shuffled index, the loss added up on the GPU and read once an epoch. No TF32. The forms are those of
training.py, and

    streamed         samples lie in the host's memory; for each step, the host picks a batch, copies it, launches every
                     operation, and reads the loss
    streamed-graph   the same with a recorded step

The median of the epochs counts, as with our programs.
"""

import torch

import training
from training import device, record

DEFAULTS = {"relu", "float", "cross-entropy"}
WORDS = {*DEFAULTS, "sigmoid", "double", "squared-error"}

torch.backends.cuda.matmul.allow_tf32 = False


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
        layers += [torch.nn.Linear(width, following), torch.nn.Sigmoid() if case.is_sigmoid else torch.nn.ReLU()]
    if not (case.is_sigmoid and case.has_targets):
        layers.pop()
    return torch.nn.Sequential(*layers).to(device, case.dtype)


def squared_error(outputs, classes):
    """Summed over the outputs, the mean over the batch."""
    targets = torch.nn.functional.one_hot(classes, outputs.shape[1]).to(outputs.dtype)
    return (outputs - targets).square().sum(dim=1).mean()


def training_of(case, images):
    return training.Training(make_network(case), torch.rand(images, case.widths[0], device=device, dtype=case.dtype),
                             torch.randint(case.widths[-1], (images,), device=device), case.batch_size,
                             loss_of=squared_error if case.has_targets else None)


def streamed(trained, is_recorded=False):
    """A form in which batches are copied from the host."""
    images, labels = trained.images.cpu(), trained.labels.cpu()
    batch, batch_labels = trained.images[trained.index], trained.labels[trained.index]
    staged, staged_labels = (torch.empty_like(one, device="cpu").pin_memory() for one in (batch, batch_labels))

    def step():
        trained.train(batch, batch_labels)

    do_step = record(step, step) if is_recorded else step

    def epoch(order):
        for rows in order.cpu().split(trained.batch_size):
            torch.index_select(images, 0, rows, out=staged)
            torch.index_select(labels, 0, rows, out=staged_labels)
            batch.copy_(staged, non_blocking=True)
            batch_labels.copy_(staged_labels, non_blocking=True)
            do_step()
            trained.total.item()
    return epoch


FORMS = {**training.FORMS, "streamed": lambda trained, _count: streamed(trained),
         "streamed-graph": lambda trained, _count: streamed(trained, is_recorded=True)}


def measure(case, form, arguments):
    images = arguments.steps * case.batch_size or max(arguments.images, case.batch_size)
    return training.rate_of(FORMS[form], training_of(case, images), arguments.epochs, arguments.limit)


def main():
    options = training.parser(__doc__, 1.5)
    options.add_argument("cases", nargs="+", metavar="CASE", help="784-256-10@100,sigmoid,double")
    options.add_argument("--forms", default="eager,graph,epoch", help=",".join(FORMS))
    options.add_argument("--steps", type=int, default=0, help="instead of --images: batches of an epoch")
    arguments = options.parse_args()
    results = training.Results("images_per_second")
    for case in map(Case, arguments.cases):
        for form in arguments.forms.split(","):
            results.add("images_per_second", case.name, form, measure, case, form, arguments)
    results.print()


main()
