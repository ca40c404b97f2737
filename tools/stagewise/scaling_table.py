"""What the scaling model says, as tables, sentences and a figure."""

from __future__ import annotations

import dataclasses
from typing import Iterator, Sequence

from stagewise.scaling_fit import Checked
from stagewise.scaling_model import (OF_STAGE_05, STRATEGIES, Cluster, Constants, Network,
                                     Prediction, predict)


@dataclasses.dataclass(frozen=True)
class Question:
    """What is to be predicted."""

    network: Network
    batch: int
    is_per_gpu: bool  # weak scaling, else strong
    gpus: tuple[int, ...]  # rising
    cluster: Cluster
    transports: tuple[str, ...] = OF_STAGE_05


@dataclasses.dataclass(frozen=True)
class Answer:
    """The predictions, and what one GPU does alone."""

    one: Prediction
    rows: list[Prediction]

    def efficiency(self, row: Prediction) -> float:
        """The rate as a part of that of so many GPUs that exchange nothing."""
        return row.rate / (row.gpus * self.one.rate)

    def of(self, strategy: str) -> list[Prediction]:
        """By numbers of GPUs, beginning with one."""
        rows = [row for row in self.rows if row.gpus > 1 and row.strategy == strategy]
        return [self.one, *rows]

    def best(self, gpus: int) -> Prediction:
        return max((row for row in self.rows if row.gpus == gpus), key=lambda row: row.rate)


def answer(question: Question, constants: Constants) -> Answer:
    def rows(gpus: int) -> list[Prediction]:
        batch = question.batch * (gpus if question.is_per_gpu else 1)
        return predict(question.network, batch, gpus, question.cluster, constants,
                       question.transports)

    return Answer(rows(1)[0], [row for gpus in question.gpus for row in rows(gpus)])


# -------------------------------------------------------------------------------------------------
# Texts


def head(question: Question) -> Iterator[str]:
    """What is predicted."""
    network = question.network
    parameters = sum((inputs + 1) * outputs for inputs, outputs in network.layers)
    widths = "-".join(map(str, network.widths))
    yield f"model  mlp {widths}, {network.precision}, {parameters:,} parameters"
    yield f"batch  {question.batch:,} {'on each GPU' if question.is_per_gpu else 'over all GPUs'}"
    link = question.cluster.network
    yield (f"GPUs   {question.cluster.gpus_per_machine} in a machine, which sends "
           f"{link.bandwidth / 1e9:g} GB/s to the others after {link.latency * 1e6:g} us")


def table(found: Answer) -> Iterator[str]:
    """A line for each number of GPUs and strategy."""
    yield (f"{'GPUs':>5}  {'strategy':<13}  {'transport':<12}  {'compute':>11}  {'exchange':>11}  "
           f"{'a step':>11}  {'images/s':>8}  efficiency")
    for row in found.rows:
        is_best = row.gpus > 1 and row is found.best(row.gpus)
        strategy, transport = (row.strategy, row.transport) if row.gpus > 1 else ("-", "-")
        if strategy == "hybrid":
            strategy = f"hybrid, {row.gpus // row.tensor_ranks}x{row.tensor_ranks}"
        line = (f"{row.gpus:>5,}  {strategy:<13}  {transport:<12}  {_us(row.compute)}  "
                f"{_us(row.exchange)}  {_us(row.seconds)}  {short(row.rate):>8}  "
                f"{found.efficiency(row):>10.1%}")
        yield line + ("  best" if is_best else "")


def _us(seconds: float) -> str:
    return f"{1e6 * seconds:>8,.1f} us"


def short(value: float) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def sentences(found: Answer) -> Iterator[str]:
    """Where data parallelism stops paying, and where the others pay."""
    yield _where_data_stops(found)
    for strategy in STRATEGIES[1:]:
        yield _where_pays(found, strategy)


def _where_data_stops(found: Answer) -> str:
    rows = found.of("data")
    if len(rows) == 1:
        return "Data parallelism takes more than one GPU."
    most = max(rows, key=lambda row: row.rate)
    if most.gpus == 1:
        sentence = (f"Data parallelism never pays: no number of GPUs trains more than the "
                    f"{short(most.rate)} images/s of one")
    elif most is rows[-1]:
        sentence = (f"Data parallelism pays up to {most.gpus:,} GPUs, the most that were asked "
                    f"for, where it trains {short(most.rate)} images/s")
    else:
        sentence = (f"Data parallelism stops paying beyond {most.gpus:,} GPUs, where it trains "
                    f"{short(most.rate)} images/s, {most.rate / rows[0].rate:.3g} times as many as "
                    "one")
    low = [row.gpus for row in rows if found.efficiency(row) < 0.5]
    return sentence + (f"; its efficiency is below 50 % from {low[0]:,} on." if low else ".")


def _where_pays(found: Answer, strategy: str) -> str:
    """A strategy pays if none is faster with as many GPUs or fewer."""
    name = f"{strategy.capitalize()} parallelism"
    pays = []
    most = found.one.rate
    for gpus in sorted({row.gpus for row in found.rows if row.gpus > 1}):
        best = found.best(gpus)
        if best.rate > most:
            most = best.rate
            if best.strategy == strategy:
                pays.append(best)
    if not pays:
        return f"{name} pays nowhere here: another strategy is faster, or fewer GPUs are."
    best = max(pays, key=lambda row: row.rate)
    counts = [row.gpus for row in pays]
    of_tensor = f" ({best.tensor_ranks} tensor ranks)" if strategy == "hybrid" else ""
    return (f"{name} pays with {_listed(counts, [row.gpus for row in found.rows])} GPUs, where "
            f"nothing else and no fewer GPUs are faster; at {best.gpus:,}{of_tensor} it trains "
            f"{short(best.rate)} images/s.")


def _listed(counts: Sequence[int], all_counts: Sequence[int]) -> str:
    """2, 4, 8, 32 of 2, 4, 8, 16, 32 as "2 to 8 and 32"."""
    order = sorted({count for count in all_counts if count > 1})
    runs: list[list[int]] = []
    for count in counts:
        if runs and order.index(count) == order.index(runs[-1][-1]) + 1:
            runs[-1].append(count)
        else:
            runs.append([count])
    texts = [f"{run[0]:,}" if len(run) == 1 else f"{run[0]:,} to {run[-1]:,}" for run in runs]
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def check_table(points: Sequence[Checked]) -> Iterator[str]:
    """Every point beside the model, and the errors of those that were held out."""
    yield f"{'':<14}  {'':<40}  {'measured':>11}  {'the model':>11}  {'error':>7}"
    for point in points:
        held = "  held out" if point.is_held_out else ""
        yield (f"{point.kind:<14}  {point.what:<40}  {_us(point.measured)}  "
               f"{_us(point.predicted)}  {point.error:>+7.1%}{held}")
    yield ""
    for kind in dict.fromkeys(point.kind for point in points):
        errors = [abs(point.error) for point in points if point.kind == kind and point.is_held_out]
        if errors:
            mean = sum(errors) / len(errors)
            yield (f"{kind + ',':<15} {len(errors)} held out: error {mean:.1%} on average, "
                   f"{max(errors):.1%} at most")


def constants_table(constants: Constants) -> Iterator[str]:
    """All that is fitted."""
    for way in ("one_shot", "two_shot", "nccl", "host"):
        link = getattr(constants, way)
        yield (f"{way.replace('_', '-'):<9} {1e6 * link.latency:.2f} us, "
               f"{link.bandwidth / 1e9:.4g} GB/s")
    for precision, step in constants.step.items():
        yield (f"{precision:<9} {1e6 * step.begin:.1f} us a step, "
               f"{_rate(step.operation, 1e12)} TFLOP/s, {_rate(step.byte, 1e12)} TB/s")


def _rate(seconds: float, unit: float) -> str:
    return f"{1 / seconds / unit:.3g}" if seconds > 0 else "any number of"
