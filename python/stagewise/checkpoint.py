"""Checkpoints: the parameters of a network in an HDF5 file; see common/io/checkpoint.hpp."""

from __future__ import annotations

import dataclasses
import pathlib
import re

import h5py
import numpy as np

from stagewise.checksum import checksum_of
from stagewise.command_line import Error
from stagewise.files import expect_file, replacing
from stagewise.network import Parameters

PRECISIONS = {np.dtype("<f4"): "float", np.dtype("<f8"): "double"}
NUMBER_TYPES = {"seed": "<u8", "epoch": "<i8", "step": "<i8", "checksum": "<u4"}


@dataclasses.dataclass
class Checkpoint:
    """What a checkpoint file holds."""

    attributes: dict[str, str | int]  # of the root, by name, without the checksum
    parameters: Parameters  # "fc1/weight" [in, out], "conv1/filter" [height, width, in, out], ...
    workers: list[Parameters] = dataclasses.field(default_factory=list)  # where they have their own
    optimizer: Parameters = dataclasses.field(default_factory=dict)  # "velocity/fc1/weight", ...

    def networks(self) -> list[Parameters]:
        """All that the checksum covers, in its order."""
        return [self.parameters, *self.workers, self.optimizer]

    def precision(self) -> str:
        return PRECISIONS[next(iter(self.parameters.values())).dtype]


def network_order(name: str) -> tuple[list[str], bool]:
    """A key for sorting: fc2 comes before fc10, and a layer's weights before its bias."""
    layer, _, leaf = name.rpartition("/")
    parts = re.split(r"(\d+)", layer)
    return [part.zfill(20) if part.isdigit() else part for part in parts], leaf == "bias"


def read(path: pathlib.Path) -> Checkpoint:
    """Reads a checkpoint, or a file with parameters at its root and nothing else (report 001's).

    :raise Error: naming the file and what is wrong with it."""
    failure = f"the checkpoint {path} cannot be read"
    expect_file(path, failure)
    if not h5py.is_hdf5(path):
        raise Error(f"{failure}: it is not an HDF5 file")
    try:
        with h5py.File(path, "r") as file:
            checkpoint, checksum = _contents(file)
    except Error as error:
        raise Error(f"{failure}: {error}") from None
    except (OSError, RuntimeError, ValueError, TypeError):  # as h5py says it of what is damaged
        raise Error(f"{failure}: it is damaged, cut short, or may not be opened") from None
    expected = checksum_of(checkpoint.attributes, *checkpoint.networks())
    if checksum is not None and checksum != expected:
        raise Error(f"{failure}: its contents do not match its checksum, "
                    "so it has been damaged or changed")
    return checkpoint


def _contents(file: h5py.File) -> tuple[Checkpoint, int | None]:
    attributes = {name: _attribute(name, value) for name, value in file.attrs.items()}
    checksum = attributes.pop("checksum", None)
    if "parameters" in file:
        parameters = _parameters(file["parameters"])
    else:
        parameters = {name + ("/filter" if name.startswith("conv") else "/weight"): values
                      for name, values in _parameters(file).items()}
    workers = [_parameters(file[f"workers/{number}"])
               for number in range(1, len(file.get("workers", ())) + 1)]
    if not parameters:
        raise Error("it holds no parameters")
    optimizer = _parameters(file["optimizer"]) if "optimizer" in file else {}
    checkpoint = Checkpoint(attributes, parameters, workers, optimizer)
    precision = attributes.setdefault("precision", checkpoint.precision())
    if precision != checkpoint.precision():
        raise Error(f"its precision is {precision}, but its parameters are "
                    f"{checkpoint.precision()}")
    return checkpoint, checksum


def _attribute(name: str, value: object) -> str | int:
    if name in NUMBER_TYPES and isinstance(value, np.integer):
        return int(value)
    if name not in NUMBER_TYPES and isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if name not in NUMBER_TYPES and isinstance(value, str):
        return value
    kind = "a whole number" if name in NUMBER_TYPES else "a text"
    raise Error(f"its attribute '{name}' is not {kind}")


def _parameters(group: h5py.Group) -> Parameters:
    """All data sets below a group."""
    found: Parameters = {}

    def visit(name: str, item: object) -> None:
        if not isinstance(item, h5py.Dataset):
            return
        kind = item.dtype.newbyteorder("<")
        if kind not in PRECISIONS:
            raise Error(f"{item.name} does not hold floating-point numbers of 4 or 8 bytes")
        found[name] = item[...].astype(kind, copy=False)

    group.visititems(visit)
    if len({values.dtype for values in found.values()}) > 1:
        raise Error("some of its parameters are float, others double")
    return {name: found[name] for name in sorted(found, key=network_order)}


def write(path: pathlib.Path, checkpoint: Checkpoint) -> None:
    """Writes a checkpoint, as a whole or not at all, in the format of the C++ programs: that of
    HDF5 since 2008, in which all headers have checksums, and without the time.

    :raise Error: naming the file and the reason."""
    checksum = checksum_of(checkpoint.attributes, *checkpoint.networks())
    with replacing(path, "checkpoint") as partial:
        access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
        access.set_libver_bounds(h5py.h5f.LIBVER_V18, h5py.h5f.LIBVER_V18)
        file = h5py.File(h5py.h5f.create(bytes(partial), h5py.h5f.ACC_TRUNC,
                                         _without_times(h5py.h5p.FILE_CREATE), access))
        with file:
            for name, value in _ordered(checkpoint.attributes) + [("checksum", checksum)]:
                _write_attribute(file, name, value)
            networks = {"parameters": checkpoint.parameters}
            networks.update({f"workers/{number}": parameters
                             for number, parameters in enumerate(checkpoint.workers, start=1)})
            networks["optimizer"] = checkpoint.optimizer
            for group, parameters in networks.items():
                for name in sorted(parameters, key=network_order):
                    _write_parameter(file, f"{group}/{name}", parameters[name])


def _ordered(attributes: dict[str, str | int]) -> list[tuple[str, str | int]]:
    first = ["model", "precision", "seed", "epoch", "step"]
    names = [name for name in first if name in attributes]
    return [(name, attributes[name]) for name in names + sorted(attributes.keys() - set(first))]


def _without_times(kind):
    """Properties for creating an object that does not record when."""
    creation = h5py.h5p.create(kind)
    creation.set_obj_track_times(False)
    return creation


def _write_attribute(file: h5py.File, name: str, value: str | int) -> None:
    if name in NUMBER_TYPES:
        file.attrs.create(name, value, dtype=NUMBER_TYPES[name])
        return
    data = value.encode("utf-8", "surrogateescape")
    kind = h5py.h5t.C_S1.copy()  # as long as the text
    kind.set_size(max(1, len(data)))
    kind.set_strpad(h5py.h5t.STR_NULLPAD)
    kind.set_cset(h5py.h5t.CSET_UTF8)
    attribute = h5py.h5a.create(file.id, name.encode(), kind, h5py.h5s.create(h5py.h5s.SCALAR))
    attribute.write(np.array(data, dtype=f"S{max(1, len(data))}"), mtype=kind)


def _write_parameter(file: h5py.File, path: str, values: np.ndarray) -> None:
    parts = path.split("/")
    for end in range(1, len(parts)):
        group = "/".join(parts[:end])
        if group not in file:
            h5py.h5g.create(file.id, group.encode(), gcpl=_without_times(h5py.h5p.GROUP_CREATE))
    file.create_dataset(path, data=values, track_times=False)
