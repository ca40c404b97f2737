"""How long a training step takes on many GPUs.

A step is what a GPU computes, plus what its ranks exchange: latencies, and bytes over bandwidths
(docs/pages/scaling_model.md). All times are in seconds. The constants were measured: those of sums and steps are the
ones with the least squares of relative errors for the points in scaling_points.py.
"""

from __future__ import annotations

import math
from typing import Callable, Iterator, NamedTuple

STRATEGIES = ("data", "tensor", "hybrid")
OF_STAGE_05 = ("peer", "nccl", "host")  # what the program has

ELEMENT_BYTES = {"float": 4, "double": 8}
MOST_PEERS = 8  # of the transport peer, in one machine
INBOX_BYTES = 2**20  # of two ranks: threshold_of_two, in transport/peer.cpp
EAGER_BYTES = 4096  # that Open MPI sends without asking, to a process of the same machine
MIN_BUCKET = 2**18  # numbers: min_bucket, in distribute_data.cpp
HOP = 0.67e-6  # a store that another GPU of the machine waits for, measured between two H200s
KERNEL = 2.6e-6  # a kernel that does next to nothing: take_chunk in h200_stage04.md


class Link(NamedTuple):
    """What a rank sends through."""

    latency: float  # seconds until the first byte is there
    bandwidth: float  # bytes a second, in each direction


class StepCosts(NamedTuple):
    """What a step costs a GPU that computes it."""

    begin: float  # the first three kernels, and whatever a step takes besides
    operation: float
    byte: float  # 1 / 4.81 TB/s: not measured, but the memory's bandwidth


ONE_SHOT = Link(2.8843e-6, 165.712e9)
TWO_SHOT = Link(2.8641e-6, 341.921e9)
NCCL = Link(5.3771e-6, 191.532e9)
HOST = Link(6.6883e-6, 3.31291e9)
STEP = {"float": StepCosts(11.0097e-6, 1 / 38.4702e12, 1 / 4.81e12),
        "double": StepCosts(18.2351e-6, 1 / 49.1181e12, 1 / 4.81e12)}


# -------------------------------------------------------------------------------------------------
# Sums


class Group(NamedTuple):
    """Ranks that add up: as many in each of some machines."""

    machines: int
    inside: int  # ranks in each machine
    network: Link  # what all of them in a machine together have to the other machines

    @property
    def ranks(self) -> int:
        return self.machines * self.inside


def ring(ranks: int, size: float, link: Link) -> float:
    """Shards go around twice: N - 1 steps until they are complete, N - 1 until all have them."""
    return 2 * (ranks - 1) * link.latency + 2 * (ranks - 1) / ranks * size / link.bandwidth


def piped_tree(ranks: int, size: float, link: Link) -> float:
    """Up and down again in small pieces, all levels at once, in two trees with half of the message each: a rank that
    is in the middle of one tree is a leaf of the other, so each sends it twice, however many ranks there are. NCCL's
    tree."""
    return 2 * _levels(ranks) * link.latency + (2 * size / link.bandwidth if ranks > 1 else 0)


def _levels(ranks: int) -> int:
    return (ranks - 1).bit_length()


def inbox(ranks: int) -> float:
    """The longest message that the kernel sends in one shot, in bytes."""
    return INBOX_BYTES * ranks / (2 * (ranks - 1) ** 2) if ranks > 2 else INBOX_BYTES


def one_shot(ranks: int, size: float, link: Link = ONE_SHOT) -> float:
    """Each sends everything to each, in pieces that fit into an inbox; a piece waits once."""
    pieces = max(1, math.ceil(size / inbox(ranks)))
    return pieces * link.latency + (ranks - 1) * size / link.bandwidth if ranks > 1 else 0


def two_shot(ranks: int, size: float, link: Link = TWO_SHOT) -> float:
    """Each adds up a shard that it reads from all, and writes the sums to all, between two barriers."""
    return 2 * link.latency + 2 * (ranks - 1) / ranks * size / link.bandwidth if ranks > 1 else 0


def peer(group: Group, size: float) -> float:
    """One shot up to the threshold, else two."""
    return (two_shot if size > inbox(max(2, group.ranks)) else one_shot)(group.ranks, size)


def nccl(group: Group, size: float, link: Link = NCCL) -> float:
    """The faster of a ring through all machines and of a tree of machines, in each of which there is a chain; these
    are NCCL's own formulas for its choice. The link's latency is paid once a sum."""
    ranks, machines, network = group.ranks, group.machines, group.network
    if ranks == 1:
        return 0.0
    bandwidth = min(link.bandwidth, network.bandwidth) if machines > 1 else link.bandwidth
    around = (2 * (ranks - machines) * HOP + 2 * (machines - 1) * network.latency
              + 2 * (ranks - 1) / ranks * size / bandwidth)
    up_and_down = 2 * (group.inside - 1) * HOP + 2 * _levels(machines) * network.latency + 2 * size / bandwidth
    return link.latency + min(around, up_and_down)


def host(group: Group, size: float, link: Link = HOST) -> float:
    """A ring in the hosts' memory, copies included. MPI sends short messages at once; before a long one it asks, and
    waits for the answer."""
    network = group.network
    bandwidth = min(link.bandwidth, network.bandwidth) if group.machines > 1 else link.bandwidth
    waits = 1 if size / group.ranks <= EAGER_BYTES else 2
    return ring(group.ranks, size, Link(waits * link.latency, bandwidth)) + 2 * (group.machines - 1) * network.latency


def hierarchical(group: Group, size: float, link: Link = TWO_SHOT) -> float:
    """Two shots with a sum in between: after the first, each rank of a machine has a shard, which it adds up with
    those of the other machines that have the same one."""
    share = Link(group.network.latency, group.network.bandwidth / group.inside)
    return two_shot(group.inside, size, link) + min(way(group.machines, size / group.inside, share)
                                                    for way in (ring, piped_tree))


TRANSPORTS: dict[str, Callable[[Group, float], float]] = {
    "peer": peer, "nccl": nccl, "host": host, "hierarchical": hierarchical}


# -------------------------------------------------------------------------------------------------
# What a rank computes and sends


class Network(NamedTuple):
    """An mlp: the number of features, of units of each hidden layer, of classes."""

    widths: tuple[int, ...]
    precision: str

    def __str__(self) -> str:
        return f"{'-'.join(map(str, self.widths))}, {self.precision}"

    @property
    def layers(self) -> list[tuple[int, int]]:
        """Inputs and outputs of each layer."""
        return list(zip(self.widths, self.widths[1:]))

    def most_tensor_ranks(self) -> int:
        """Every split layer has a unit for each; check_splittable() in distribute_tensor.cpp."""
        return min(self.widths[1:-1:2], default=1)

    def of_rank(self, tensor_ranks: int) -> list[tuple[int, int]]:
        """The layers as the rank with the largest part has them: pair by pair, the first is split by columns, the
        second by rows; the last of an odd number is whole."""
        layers = self.layers
        for first in range(0, len(layers) - 1, 2):
            units = most_units(layers[first][1], tensor_ranks)
            layers[first] = (layers[first][0], units)
            layers[first + 1] = (units, layers[first + 1][1])
        return layers


def most_units(units: int, tensor_ranks: int) -> int:
    """Of a split layer, those of the rank with most; units_of() in split_parameter.cpp."""
    group = next(size for size in (4, 2, 1) if size == 1 or (units % size == 0 and units // size >= 6 * tensor_ranks))
    return group * math.ceil(units // group / tensor_ranks)


class Updates(NamedTuple):
    """Which kernels update the parameters."""

    passes: int  # over the weights, in a step
    kernels: int  # more than three for each further layer
    of_one_layer: int  # the same, for a network of one layer


WITH_GRADIENTS = Updates(3, 0, 0)  # those that compute the gradients
# If gradients are added up, those of the last layer and the loss have lines of their own.
AFTER_SUMS = Updates(5, 3, 2)  # one more, after the gradients are added up
IN_SUMS = Updates(2, 2, 1)  # those that add up


def kernels_of(layers: int, is_split: bool, updates: Updates) -> int:
    """The lines that `info --program` lists, without sums and replicate."""
    if layers == 1:
        return 3 + updates.of_one_layer
    pairs, odd = divmod(layers, 2)
    return 3 * (layers - 1) + updates.kernels + (3 * pairs - 2 + odd if is_split else 0)


def work_of(network: Network, rows: int, tensor_ranks: int = 1, updates: Updates = WITH_GRADIENTS) -> tuple[int, int]:
    """Operations and bytes of a rank in a step, without the sums and what happens in them."""
    operations = numbers = 0
    for index, (inputs, outputs) in enumerate(network.of_rank(tensor_ranks)):
        weights = inputs * outputs
        operations += 4 * rows * weights  # forward, and the gradient of the weights
        numbers += 2 * (rows * inputs + rows * outputs) + updates.passes * weights
        if index > 0:  # the gradient of the inputs
            operations += 2 * rows * weights
            numbers += rows * outputs + weights + 2 * rows * inputs
    return operations, numbers * ELEMENT_BYTES[network.precision]


def compute_seconds(network: Network, rows: int, tensor_ranks: int = 1, updates: Updates = WITH_GRADIENTS) -> float:
    costs = STEP[network.precision]
    operations, size = work_of(network, rows, tensor_ranks, updates)
    kernels = kernels_of(len(network.layers), tensor_ranks > 1, updates)
    return costs.begin + KERNEL * (kernels - 3) + costs.operation * operations + costs.byte * size


def tensor_messages(network: Network, rows: int) -> list[int]:
    """The bytes of the sums in a tensor group: the products of each pair's second layer, and the gradients of each
    pair's input but the first's. Nothing else goes on meanwhile."""
    units = []
    for first in range(0, len(network.layers) - 1, 2):
        units.append(network.layers[first + 1][1])
        if first > 0:
            units.append(network.layers[first][0])
    return [rows * count * ELEMENT_BYTES[network.precision] for count in units]


def buckets_of(network: Network, rows: int, tensor_ranks: int) -> Iterator[tuple[int, int]]:
    """Gradients that are added up together, as buckets_of() in distribute_data.cpp has them, from the last layer to
    the first: bytes, and the operations of the backward pass when all of them are computed."""
    layers = network.of_rank(tensor_ranks)
    count = 0
    for index, (inputs, outputs) in reversed(list(enumerate(layers))):
        count += inputs * outputs + outputs
        if count >= MIN_BUCKET or index == 0:
            after = sum((4 if below > 0 else 2) * rows * m * n for below, (m, n) in enumerate(layers[:index]))
            yield count * ELEMENT_BYTES[network.precision], after
            count = 0


# -------------------------------------------------------------------------------------------------
# A step of a strategy


class Cluster(NamedTuple):
    """The GPUs that there are."""

    gpus_per_machine: int
    network: Link  # of a machine, to the others


class Prediction(NamedTuple):
    """A step of a strategy on so many GPUs."""

    gpus: int
    tensor_ranks: int
    transport: str
    batch: int
    compute: float
    exchange: float  # that nothing hides

    @property
    def strategy(self) -> str:
        return {1: "data", self.gpus: "tensor"}.get(self.tensor_ranks, "hybrid")

    @property
    def seconds(self) -> float:
        return self.compute + self.exchange

    @property
    def rate(self) -> float:
        """Images a second."""
        return self.batch / self.seconds


def group_of(cluster: Cluster, gpus: int, count: int, stride: int) -> Group:
    """A group of `count` ranks, which are `stride` apart: 1 in a tensor group, whose ranks are neighbours. All GPUs
    of a machine share its network."""
    used = min(gpus, cluster.gpus_per_machine)  # in each machine
    inside = min(count, max(1, used // stride))
    share = cluster.network.bandwidth * inside / used
    return Group(math.ceil(count / inside), inside, Link(cluster.network.latency, share))


def step_of(network: Network, batch: int, gpus: int, tensor_ranks: int, transport: str, cluster: Cluster) -> Prediction:
    """A step with this many tensor ranks: 1 is data parallelism, as many as GPUs tensor parallelism."""
    data_ranks = gpus // tensor_ranks
    rows = math.ceil(batch / data_ranks)  # of the rank with most
    updates = WITH_GRADIENTS if data_ranks == 1 else IN_SUMS if transport == "peer" else AFTER_SUMS
    compute = compute_seconds(network, rows, tensor_ranks, updates)
    add_up = TRANSPORTS[transport]
    exchange = 0.0
    if tensor_ranks > 1:
        group = group_of(cluster, gpus, tensor_ranks, 1)
        exchange += sum(add_up(group, size) for size in tensor_messages(network, rows))
    if data_ranks > 1:
        group = group_of(cluster, gpus, data_ranks, tensor_ranks)
        end = 0.0
        for size, operations_after in buckets_of(network, rows, tensor_ranks):
            ready = compute
            if transport == "host":  # sums that are kernels find no place beside the backward pass
                ready -= operations_after * STEP[network.precision].operation
            end = max(end, ready) + add_up(group, size)
        exchange += end - compute
    return Prediction(gpus, tensor_ranks, transport, batch, compute, exchange)


def predict(network: Network, batch: int, gpus: int, cluster: Cluster,
            transports: tuple[str, ...] = OF_STAGE_05) -> list[Prediction]:
    """A step of each strategy that is possible, with the fastest transport and number of tensor ranks.

    Kernels that access each other's memory need one machine, and are written for up to eight GPUs. A machine has
    whole tensor groups, or a tensor group whole machines."""
    if gpus == 1:
        return [step_of(network, batch, 1, 1, transports[0], cluster)]
    inside = cluster.gpus_per_machine
    fastest: dict[str, Prediction] = {}
    for count in range(1, min(gpus, max(1, network.most_tensor_ranks())) + 1):
        if gpus % count or not (count == gpus or min(inside, gpus) % count == 0 or count % inside == 0):
            continue
        for transport in transports:
            if transport == "peer" and gpus > min(MOST_PEERS, inside):
                continue
            found = step_of(network, batch, gpus, count, transport, cluster)
            best = fastest.setdefault(found.strategy, found)
            if found.seconds < best.seconds:
                fastest[found.strategy] = found
    return list(fastest.values())
