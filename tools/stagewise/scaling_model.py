"""How long a training step takes on many GPUs.

A step is what a GPU computes, plus what its ranks exchange: latencies, and bytes over bandwidths
(docs/pages/scaling_model.md). All times are in seconds. The constants are fitted to measurements,
in scaling_fit.py; all functions are straight lines in them.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from typing import Callable, Iterator

STRATEGIES = ("data", "tensor", "hybrid")
TRANSPORTS = ("peer", "nccl", "host", "hierarchical")
OF_STAGE_05 = ("peer", "nccl", "host")  # what the program has

ELEMENT_BYTES = {"float": 4, "double": 8}
MOST_PEERS = 8  # of the transport peer, in one machine
INBOX_BYTES = 2**20  # of two ranks: threshold_of_two, in transport/peer.cpp
EAGER_BYTES = 4096  # that Open MPI sends without asking, to a process of the same machine
MIN_BUCKET = 2**18  # numbers: min_bucket, in distribute_data.cpp
HOP = 0.67e-6  # a store that another GPU of the machine waits for, measured between two H200s
KERNEL = 2.6e-6  # a kernel that does next to nothing: take_chunk in h200_stage04.md


# -------------------------------------------------------------------------------------------------
# Sums


@dataclasses.dataclass(frozen=True)
class Link:
    """What a rank sends through."""

    latency: float  # seconds until the first byte is there
    bandwidth: float  # bytes a second, in each direction


def ring(ranks: int, size: float, link: Link) -> float:
    """Shards go around twice: N - 1 steps until they are complete, N - 1 until all have them."""
    return 2 * (ranks - 1) * link.latency + 2 * (ranks - 1) / ranks * size / link.bandwidth


def tree(ranks: int, size: float, link: Link) -> float:
    """The whole message up and down again, level by level: not pipelined."""
    return 2 * _levels(ranks) * (link.latency + size / link.bandwidth)


def piped_tree(ranks: int, size: float, link: Link) -> float:
    """The same in small pieces, all levels at once, in two trees with half of the message each: a
    rank that is in the middle of one tree is a leaf of the other, so each sends it twice, however
    many ranks there are. NCCL's tree."""
    return 2 * _levels(ranks) * link.latency + (2 * size / link.bandwidth if ranks > 1 else 0)


def _levels(ranks: int) -> int:
    return (ranks - 1).bit_length()


def inbox(ranks: int) -> float:
    """The longest message that the kernel sends in one shot, in bytes."""
    return INBOX_BYTES * ranks / (2 * (ranks - 1) ** 2) if ranks > 2 else INBOX_BYTES


def one_shot(ranks: int, size: float, link: Link) -> float:
    """Each sends everything to each, in pieces that fit into an inbox; a piece waits once."""
    if ranks == 1:
        return 0.0
    pieces = max(1, math.ceil(size / inbox(ranks)))
    return pieces * link.latency + (ranks - 1) * size / link.bandwidth


def two_shot(ranks: int, size: float, link: Link) -> float:
    """Each adds up a shard that it reads from all, and writes the sums to all, between two
    barriers."""
    if ranks == 1:
        return 0.0
    return 2 * link.latency + 2 * (ranks - 1) / ranks * size / link.bandwidth


@dataclasses.dataclass(frozen=True)
class Group:
    """Ranks that add up: as many in each of some machines."""

    machines: int
    inside: int  # ranks in each machine
    network: Link  # what all of them in a machine together have to the other machines

    @property
    def ranks(self) -> int:
        return self.machines * self.inside


def nccl(group: Group, size: float, link: Link) -> float:
    """The faster of a ring through all machines and of a tree of machines, in each of which there
    is a chain; these are NCCL's own formulas for its choice. The link's latency is paid once a
    sum."""
    if group.ranks == 1:
        return 0.0
    ranks, machines, network = group.ranks, group.machines, group.network
    bandwidth = min(link.bandwidth, network.bandwidth) if machines > 1 else link.bandwidth
    around = (2 * (ranks - machines) * HOP + 2 * (machines - 1) * network.latency
              + 2 * (ranks - 1) / ranks * size / bandwidth)
    up_and_down = (2 * (group.inside - 1) * HOP
                   + 2 * _levels(machines) * network.latency + 2 * size / bandwidth)
    return link.latency + min(around, up_and_down)


def host(group: Group, size: float, link: Link) -> float:
    """A ring in the hosts' memory, copies included. MPI sends short messages at once; before a long
    one it asks, and waits for the answer."""
    network = group.network
    bandwidth = min(link.bandwidth, network.bandwidth) if group.machines > 1 else link.bandwidth
    waits = 1 if size / group.ranks <= EAGER_BYTES else 2
    return (ring(group.ranks, size, Link(waits * link.latency, bandwidth))
            + 2 * (group.machines - 1) * network.latency)


def hierarchical(group: Group, size: float, link: Link) -> float:
    """Two shots with a sum in between: after the first, each rank of a machine has a shard, which
    it adds up with those of the other machines that have the same one."""
    share = Link(group.network.latency, group.network.bandwidth / group.inside)
    shard = size / group.inside
    return two_shot(group.inside, size, link) + min(way(group.machines, shard, share)
                                                    for way in (ring, piped_tree))


# -------------------------------------------------------------------------------------------------
# What a rank computes


@dataclasses.dataclass(frozen=True)
class Network:
    """An mlp: the number of features, of units of each hidden layer, of classes."""

    widths: tuple[int, ...]
    precision: str

    @property
    def layers(self) -> list[tuple[int, int]]:
        """Inputs and outputs of each layer."""
        return list(zip(self.widths, self.widths[1:]))

    @property
    def element(self) -> int:
        return ELEMENT_BYTES[self.precision]

    def most_tensor_ranks(self) -> int:
        """Every split layer has a unit for each; check_splittable() in distribute_tensor.cpp."""
        return min(self.widths[1:-1:2], default=1)

    def of_rank(self, tensor_ranks: int) -> list[tuple[int, int]]:
        """The layers as the rank with the largest part has them: pair by pair, the first is split
        by columns, the second by rows; the last of an odd number is whole."""
        layers = self.layers
        for first in range(0, len(layers) - 1, 2):
            units = most_units(layers[first][1], tensor_ranks)
            layers[first] = (layers[first][0], units)
            layers[first + 1] = (units, layers[first + 1][1])
        return layers


def most_units(units: int, tensor_ranks: int) -> int:
    """Of a split layer, those of the rank with most; units_of() in split_parameter.cpp."""
    group = next(size for size in (4, 2, 1)
                 if size == 1 or (units % size == 0 and units // size >= 6 * tensor_ranks))
    return group * math.ceil(units // group / tensor_ranks)


@dataclasses.dataclass(frozen=True)
class Step:
    """What a step costs a GPU that computes it."""

    begin: float  # the first three kernels, and whatever a step takes besides
    operation: float
    byte: float

    def seconds(self, work: Work) -> float:
        return (self.begin + KERNEL * (work.kernels - 3) + self.operation * work.operations
                + self.byte * work.bytes)


@dataclasses.dataclass(frozen=True)
class Work:
    """What there is to do in a step."""

    kernels: int
    operations: float
    bytes: float


class Updates(enum.Enum):
    """Which kernels update the parameters."""

    WITH_GRADIENTS = enum.auto()  # those that compute the gradients
    AFTER_SUMS = enum.auto()  # one more, after the gradients are added up
    IN_SUMS = enum.auto()  # those that add up


def work_of(network: Network, rows: int, tensor_ranks: int = 1,
            updates: Updates = Updates.WITH_GRADIENTS) -> Work:
    """What a rank does in a step, without the sums and what happens in them."""
    of_weights = {Updates.WITH_GRADIENTS: 3, Updates.AFTER_SUMS: 5, Updates.IN_SUMS: 2}[updates]
    operations = numbers = 0
    for index, (inputs, outputs) in enumerate(network.of_rank(tensor_ranks)):
        weights = inputs * outputs
        operations += 4 * rows * weights  # forward, and the gradient of the weights
        numbers += 2 * (rows * inputs + rows * outputs) + of_weights * weights
        if index > 0:  # the gradient of the inputs
            operations += 2 * rows * weights
            numbers += rows * outputs + weights + 2 * rows * inputs
    kernels = kernels_of(len(network.layers), tensor_ranks > 1, updates)
    return Work(kernels, operations, numbers * network.element)


def kernels_of(layers: int, is_split: bool, updates: Updates) -> int:
    """The lines that `info --program` lists, without sums and replicate."""
    # If gradients are added up, those of the last layer and the loss have lines of their own.
    later = {Updates.WITH_GRADIENTS: 0, Updates.AFTER_SUMS: 3, Updates.IN_SUMS: 2}[updates]
    if layers == 1:
        return 3 + max(0, later - 1)
    pairs, odd = divmod(layers, 2)
    return 3 * (layers - 1) + later + (3 * pairs - 2 + odd if is_split else 0)


# -------------------------------------------------------------------------------------------------
# What ranks exchange


def tensor_messages(network: Network, rows: int) -> list[int]:
    """The bytes of the sums in a tensor group: the products of each pair's second layer, and the
    gradients of each pair's input but the first's. Nothing else goes on meanwhile."""
    messages = []
    for first in range(0, len(network.layers) - 1, 2):
        messages.append(rows * network.layers[first + 1][1] * network.element)
        if first > 0:
            messages.append(rows * network.layers[first][0] * network.element)
    return messages


@dataclasses.dataclass(frozen=True)
class Bucket:
    """Gradients that are added up together."""

    size: int  # bytes
    operations_after: float  # of the backward pass, when all of them are computed


def buckets_of(network: Network, rows: int, tensor_ranks: int) -> list[Bucket]:
    """Those of buckets_of() in distribute_data.cpp, from the last layer to the first."""
    layers = network.of_rank(tensor_ranks)
    buckets = []
    count = 0
    for index in range(len(layers) - 1, -1, -1):
        inputs, outputs = layers[index]
        count += inputs * outputs + outputs
        if count >= MIN_BUCKET or index == 0:
            after = sum((4 if below > 0 else 2) * rows * m * n
                        for below, (m, n) in enumerate(layers[:index]))
            buckets.append(Bucket(count * network.element, after))
            count = 0
    return buckets


# -------------------------------------------------------------------------------------------------
# A step of a strategy


@dataclasses.dataclass(frozen=True)
class Constants:
    """All that is measured."""

    one_shot: Link
    two_shot: Link
    nccl: Link
    host: Link
    step: dict[str, Step]  # by precision


@dataclasses.dataclass(frozen=True)
class Cluster:
    """The GPUs that there are."""

    gpus_per_machine: int
    network: Link  # of a machine, to the others


@dataclasses.dataclass(frozen=True)
class Prediction:
    """A step of a strategy on so many GPUs."""

    gpus: int
    strategy: str
    tensor_ranks: int
    transport: str
    batch: int
    compute: float
    exchange: float  # that nothing hides

    @property
    def seconds(self) -> float:
        return self.compute + self.exchange

    @property
    def rate(self) -> float:
        """Images a second."""
        return self.batch / self.seconds


def group_of(cluster: Cluster, gpus: int, count: int, stride: int) -> Group:
    """A group of `count` ranks, which are `stride` apart: 1 in a tensor group, whose ranks are
    neighbours. All GPUs of a machine share its network."""
    used = min(gpus, cluster.gpus_per_machine)  # in each machine
    inside = min(count, max(1, used // stride))
    share = cluster.network.bandwidth * inside / used
    return Group(math.ceil(count / inside), inside, Link(cluster.network.latency, share))


def sum_of(constants: Constants, transport: str) -> Callable[[Group, float], float]:
    """The time of a sum, by its group and bytes."""
    def peer(group: Group, size: float) -> float:
        if size > inbox(max(2, group.ranks)):
            return two_shot(group.ranks, size, constants.two_shot)
        return one_shot(group.ranks, size, constants.one_shot)

    return {
        "peer": peer,
        "nccl": lambda group, size: nccl(group, size, constants.nccl),
        "host": lambda group, size: host(group, size, constants.host),
        "hierarchical": lambda group, size: hierarchical(group, size, constants.two_shot),
    }[transport]


def step_of(network: Network, batch: int, gpus: int, tensor_ranks: int, transport: str,
            cluster: Cluster, constants: Constants) -> Prediction:
    """A step with this many tensor ranks: 1 is data parallelism, as many as GPUs tensor
    parallelism."""
    data_ranks = gpus // tensor_ranks
    rows = math.ceil(batch / data_ranks)  # of the rank with most
    step = constants.step[network.precision]
    updates = (Updates.WITH_GRADIENTS if data_ranks == 1 else
               Updates.IN_SUMS if transport == "peer" else Updates.AFTER_SUMS)
    compute = step.seconds(work_of(network, rows, tensor_ranks, updates))
    add_up = sum_of(constants, transport)
    exchange = 0.0
    if tensor_ranks > 1:
        group = group_of(cluster, gpus, tensor_ranks, 1)
        exchange += sum(add_up(group, size) for size in tensor_messages(network, rows))
    if data_ranks > 1:
        group = group_of(cluster, gpus, data_ranks, tensor_ranks)
        end = 0.0
        for bucket in buckets_of(network, rows, tensor_ranks):
            ready = compute
            if transport == "host":  # sums that are kernels find no place beside the backward pass
                ready -= bucket.operations_after * step.operation
            end = max(end, ready) + add_up(group, bucket.size)
        exchange += end - compute
    strategy = ("data" if tensor_ranks == 1 else "tensor" if data_ranks == 1 else "hybrid")
    return Prediction(gpus, strategy, tensor_ranks, transport, batch, compute, exchange)


def works(transport: str, cluster: Cluster, gpus: int) -> bool:
    """Kernels that access each other's memory need one machine, and are written for up to eight
    GPUs."""
    return transport != "peer" or gpus <= min(MOST_PEERS, cluster.gpus_per_machine)


def _forms(network: Network, gpus: int, cluster: Cluster) -> Iterator[tuple[str, int]]:
    """Strategies with their numbers of tensor ranks. A machine has whole tensor groups, or a tensor
    group whole machines."""
    most, inside = network.most_tensor_ranks(), cluster.gpus_per_machine
    yield "data", 1
    for count in range(2, min(gpus, most) + 1):
        if count == gpus:
            yield "tensor", count
        elif gpus % count == 0 and (min(inside, gpus) % count == 0 or count % inside == 0):
            yield "hybrid", count


def predict(network: Network, batch: int, gpus: int, cluster: Cluster, constants: Constants,
            transports: tuple[str, ...] = OF_STAGE_05) -> list[Prediction]:
    """A step of each strategy that is possible, with the fastest transport and number of tensor
    ranks."""
    if gpus == 1:
        return [step_of(network, batch, 1, 1, transports[0], cluster, constants)]
    fastest: dict[str, Prediction] = {}
    for strategy, tensor_ranks in _forms(network, gpus, cluster):
        for transport in transports:
            if works(transport, cluster, gpus):
                found = step_of(network, batch, gpus, tensor_ranks, transport, cluster, constants)
                if strategy not in fastest or found.seconds < fastest[strategy].seconds:
                    fastest[strategy] = found
    return list(fastest.values())
