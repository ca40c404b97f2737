"""Checkpoints: the parameters of a network in an HDF5 file; see common/io/checkpoint.hpp."""

from __future__ import annotations

import dataclasses
import io
import math
import pathlib
import re
import struct
import zlib
from typing import Iterator

import h5py
import numpy as np

from stagewise.command_line import Error
from stagewise.files import expect_file, replacing
from stagewise.network import Parameters, expect_finite

PRECISIONS = {np.dtype("<f4"): "float", np.dtype("<f8"): "double"}
NUMBER_TYPES = {"seed": "<u8", "epoch": "<i8", "step": "<i8", "checksum": "<u4"}
COUNTERS = ("seed", "epoch", "step")  # 0 in a file without them
MOST_DIMENSIONS = 4
DEEPEST = 200  # letters of a group's path: groups may form a loop


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

    def checksum(self) -> int:
        """The CRC-32 of the contents, as common/io/checkpoint.hpp describes it."""
        value = 0
        for part in self._checked():
            value = zlib.crc32(part, value)
        return value

    def _checked(self) -> Iterator[bytes]:
        yield _text(self.attributes.get("model", ""))
        yield _text(self.attributes["precision"])
        for name in COUNTERS:
            yield struct.pack("<Q", int(self.attributes.get(name, 0)))
        for name in sorted(self.attributes.keys() - {"model", "precision", "checksum", *COUNTERS}, key=_bytes):
            yield _text(name)
            yield _text(self.attributes[name])
        for parameters in self.networks():
            for name in sorted(parameters, key=_bytes):
                values = parameters[name]
                yield _text(name)
                yield struct.pack(f"<{values.ndim}Q", *values.shape)
                yield np.where(np.isnan(values), np.array(np.nan, values.dtype), values).tobytes()

    def precision(self) -> str:
        return PRECISIONS[next(iter(self.parameters.values())).dtype]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(text: str) -> bytes:
    return _bytes(text) + b"\0"


def network_order(name: str) -> tuple[list[str], bool]:
    """A key for sorting: fc2 comes before fc10, and a layer's weights before its bias."""
    layer, _, leaf = name.rpartition("/")
    parts = re.split(r"(\d+)", layer)
    return [part.zfill(20) if part.isdigit() else part for part in parts], leaf == "bias"


def read(path: pathlib.Path) -> Checkpoint:
    """Reads a checkpoint, or a file with parameters at its root and nothing else (report 001's), by
    the rules of the C++ reader, common/io/load_checkpoint.cpp: it refuses the same files.

    :raise Error: naming the file and what is wrong with it; also if one of its numbers is not
        finite."""
    failure = f"the checkpoint {path} cannot be read"
    expect_file(path, failure)
    try:
        if not h5py.is_hdf5(path):
            raise Error("it is not an HDF5 file")
        with h5py.File(path, "r") as file:
            checkpoint, checksum = _contents(file)
        if checksum is not None and checksum != checkpoint.checksum():
            raise Error("its contents do not match its checksum, so it has been damaged or changed")
    except Error as error:
        raise Error(f"{failure}: {error}") from None
    except (KeyError, OSError, RuntimeError, TypeError, ValueError):  # h5py's, for damaged files
        raise Error(f"{failure}: it is damaged, cut short, or may not be opened") from None
    expect_finite(checkpoint.parameters, f"the checkpoint {path}")
    for number, parameters in enumerate(checkpoint.workers, start=1):
        expect_finite(parameters, f"worker {number} in the checkpoint {path}")
    expect_finite(checkpoint.optimizer, f"the optimizer in the checkpoint {path}")
    return checkpoint


def _contents(file: h5py.File) -> tuple[Checkpoint, int | None]:
    attributes = {name: _attribute(file, name) for name in file.attrs}
    checksum = attributes.pop("checksum", None)
    precision = attributes.get("precision", "")
    if precision not in ("", *PRECISIONS.values()):
        raise Error(f"its precision is '{precision}', but must be float or double")
    names = set(file)
    if "parameters" in names:
        parameters = _parameters(file, "/parameters")
    else:
        parameters = {name + ("/filter" if name.startswith("conv") else "/weight"): values
                      for name, values in _parameters(file, "").items()}
        if any(name.count("/") > 1 for name in parameters):
            raise Error("it has neither a group /parameters nor its parameters at the root")
    workers = [_parameters(file, f"/workers/{number}")
               for number in range(1, len(_group(file, "/workers")) + 1 if "workers" in names else 1)]
    optimizer = _parameters(file, "/optimizer") if "optimizer" in names else {}
    if not parameters:
        raise Error("it holds no parameters")
    checkpoint = Checkpoint(attributes, parameters, workers, optimizer)
    if len({values.dtype for network in checkpoint.networks() for values in network.values()}) > 1:
        raise Error("some of its parameters are float, others double")
    if (precision or checkpoint.precision()) != checkpoint.precision():
        raise Error(f"its precision is {precision}, but its parameters are {checkpoint.precision()}")
    attributes["precision"] = checkpoint.precision()
    return checkpoint, checksum


def _attribute(file: h5py.File, name: str) -> str | int:
    is_number = name in NUMBER_TYPES
    kind = "a whole number" if is_number else "a text"
    if math.prod(file.attrs.get_id(name).shape) != 1:
        raise Error(f"its attribute '{name}' is not {kind}")
    value = np.asarray(file.attrs[name]).item()
    if is_number and type(value) is int:  # and no bool
        limits = np.iinfo(NUMBER_TYPES[name])
        if not max(0, limits.min) <= value <= limits.max:
            raise Error(f"its attribute '{name}' is {value}, which is no {name}")
        return value
    if not is_number and isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    if is_number or not isinstance(value, str):
        raise Error(f"its attribute '{name}' is not {kind}")
    return value.split("\0")[0]


def _own(file: h5py.File, path: str) -> h5py.Group | h5py.Dataset:
    """What the file itself has at a path. Links are refused: they may lead to other files, whose
    bytes must not get into a result."""
    group, _, name = path.rpartition("/")
    if not isinstance(file[group or "/"].get(name, getlink=True), h5py.HardLink):
        raise Error(f"{path} is a link to elsewhere")
    return file[path]


def _group(file: h5py.File, path: str) -> h5py.Group:
    group = _own(file, path) if path else file
    if not isinstance(group, h5py.Group):
        raise Error(f"it has no group {path}")
    return group


def _parameters(file: h5py.File, group: str) -> Parameters:
    """All data sets below a group, by their paths from there."""
    found = {path[len(group) + 1:]: values for path, values in _data_sets(file, group)}
    return {name: found[name] for name in sorted(found, key=network_order)}


def _data_sets(file: h5py.File, group: str) -> Iterator[tuple[str, np.ndarray]]:
    if len(group) > DEEPEST:
        raise Error("its groups are nested too deeply")
    for name in _group(file, group):
        path = f"{group}/{name}"
        item = _own(file, path)
        if isinstance(item, h5py.Group):
            yield from _data_sets(file, path)
        elif isinstance(item, h5py.Dataset):
            if objection := _objection_to(item):
                raise Error(f"{path} {objection}")
            yield path, item[...].astype(item.dtype.newbyteorder("<"), copy=False)
        else:
            raise Error(f"{path} is neither a group nor a data set")


def _objection_to(item: h5py.Dataset) -> str:
    """Why its values must not be read, or ""; see hdf5::objection_to() in common/io."""
    if item.dtype.newbyteorder("<") not in PRECISIONS:
        return "does not hold floating-point numbers of 4 or 8 bytes"
    shape = item.shape or ()
    if len(shape) > MOST_DIMENSIONS:
        return f"has {len(shape)} dimensions, but at most {MOST_DIMENSIONS} are used"
    creation = item.id.get_create_plist()
    if creation.get_layout() == h5py.h5d.VIRTUAL or creation.get_external_count():
        return "has its values in another file"
    if creation.get_layout() == h5py.h5d.CHUNKED:
        return "is stored in chunks; `h5repack -f NONE -l CONTI FILE NEW_FILE` stores it in one piece"
    if math.prod(shape) * item.dtype.itemsize != item.id.get_storage_size():
        return f"claims the shape {list(shape)}, but the file does not hold so many values"
    return ""


def write(path: pathlib.Path, checkpoint: Checkpoint) -> None:
    """Writes a checkpoint, as a whole or not at all.

    :raise Error: naming the file and the reason."""
    data = _image(checkpoint)
    with replacing(path, "checkpoint") as partial:
        partial.write_bytes(data)


def _image(checkpoint: Checkpoint) -> bytes:
    """The file, in the format of the C++ programs: that of HDF5 since 2008, in which all headers
    have checksums, and without times. It is built in memory, since HDF5 does not recover from a
    full disk."""
    image = io.BytesIO()
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_V18, h5py.h5f.LIBVER_V18)
    access.set_fileobj_driver(h5py.h5fd.fileobj_driver, image)
    file = h5py.File(h5py.h5f.create(b"checkpoint", h5py.h5f.ACC_TRUNC, _without_times(h5py.h5p.FILE_CREATE), access))
    with file:
        for name, value in _ordered(checkpoint.attributes) + [("checksum", checkpoint.checksum())]:
            _write_attribute(file, name, value)
        networks = {"parameters": checkpoint.parameters}
        networks.update({f"workers/{number}": parameters
                         for number, parameters in enumerate(checkpoint.workers, start=1)})
        networks["optimizer"] = checkpoint.optimizer
        for group, parameters in networks.items():
            for name in sorted(parameters, key=network_order):
                _write_parameter(file, f"{group}/{name}", parameters[name])
    return image.getvalue()


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
    data = _bytes(value)
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
