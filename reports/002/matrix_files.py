#!/usr/bin/env python3
"""Turns a checkpoint into report 002's matrix files, one for each weight and bias, or takes its parameters from them.

    reports/002/matrix_files.py --export net model.h5     writes net/w1.data, net/b1.data, ...
    reports/002/matrix_files.py --import net model.h5     replaces the checkpoint's parameters

Where the checkpoint to import into does not exist, the files must be those of an mlp. The report's text names height,
width and floats; the magic number and the widths of the integers are those of its published program (export.py).
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import sys
from typing import Sequence

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from stagewise import command_line  # noqa: E402: the path comes first
from stagewise.command_line import Error, UsageError  # noqa: E402
from stagewise.files import expect_file, expect_kept, reason, replacing  # noqa: E402

try:
    import numpy as np

    from stagewise import checkpoint
except ImportError as missing:
    sys.exit(f"matrix_files: this python3 has no {missing.name}; ./run.sh install installs it, for /usr/bin/python3.")

## [header]
MAGIC = b"\x93CS378H\0"
SIZE = np.dtype("<u4")  # of the height, then of the width: the least significant byte first
VALUE = np.dtype("<f4")
## [header]
HEADER_BYTES = len(MAGIC) + 2 * SIZE.itemsize
SUFFIX = ".data"


## [names]
def parameter_of(stem: str) -> str:
    """w1 -> fc1/weight, b1 -> fc1/bias, conv1_filter -> conv1/filter."""
    if found := re.fullmatch(r"([wb])([1-9][0-9]*)", stem):
        return f"fc{found[2]}/{'weight' if found[1] == 'w' else 'bias'}"
    return stem.replace("_", "/")


def stem_of(parameter: str) -> str:
    """The other way."""
    if found := re.fullmatch(r"fc([1-9][0-9]*)/(weight|bias)", parameter):
        return found[2][0] + found[1]
    return parameter.replace("/", "_")
## [names]


def file_of(parameter: str) -> str:
    """The name of a parameter's file."""
    stem = stem_of(parameter)
    if parameter_of(stem) != parameter:
        raise Error(f"the parameter '{parameter}' cannot have a matrix file: {stem}{SUFFIX} is that of "
                    f"'{parameter_of(stem)}'")
    return stem + SUFFIX


def by(shape: Sequence[int]) -> str:
    return f"{shape[0]} x {shape[1]}"


def read_matrix(path: pathlib.Path) -> np.ndarray:
    """The matrix in a file, [height, width]."""
    expect_file(path, f"the matrix {path} cannot be read")
    data = path.read_bytes()
    if len(data) < HEADER_BYTES:
        raise Error(f"{path} is no matrix file: it has {len(data)} bytes, and the header alone takes {HEADER_BYTES}")
    if not data.startswith(MAGIC):
        raise Error(f"{path} is no matrix file: it begins with 0x{data[:len(MAGIC)].hex()} where 0x{MAGIC.hex()} was "
                    "expected")
    shape = tuple(map(int, np.frombuffer(data, SIZE, 2, len(MAGIC))))
    follow, wanted = len(data) - HEADER_BYTES, VALUE.itemsize * shape[0] * shape[1]
    if follow != wanted:
        is_short = follow < wanted
        raise Error(f"{path} is {'cut short' if is_short else 'too long'}: its header announces a matrix of "
                    f"{by(shape)} floats, but {'only ' if is_short else ''}{follow} bytes follow it")
    if 0 in shape:
        raise Error(f"{path} has a matrix of {by(shape)}, but neither may be 0")
    matrix = np.frombuffer(data, VALUE, offset=HEADER_BYTES).reshape(shape)
    for row, column in np.argwhere(~np.isfinite(matrix))[:1]:
        kind = "a NaN" if np.isnan(matrix[row, column]) else "an infinite number"
        raise Error(f"{path} has {kind} at [{row}, {column}], where a finite number was expected")
    return matrix


def bytes_of(matrix: np.ndarray) -> bytes:
    return MAGIC + np.array(matrix.shape, SIZE).tobytes() + matrix.astype(VALUE).tobytes()


def matrix_of(name: str, values: np.ndarray) -> np.ndarray:
    """A parameter as its matrix: a bias is a row; of anything else, the last dimension is the height."""
    for value in values[~(np.abs(values) <= np.finfo(VALUE).max)][:1]:
        raise Error(f"the parameter '{name}' has a value of {value:g}, which no finite float is")
    return values.reshape(1, -1) if values.ndim < 2 else values.reshape(-1, values.shape[-1]).T


def parameter_in(path: pathlib.Path, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Reads a parameter of a known shape. Of a bias, a column is as good as a row."""
    matrix = read_matrix(path)
    wanted = matrix_of(name, np.broadcast_to(np.float32(0), shape)).shape
    if matrix.shape != wanted and not (len(shape) < 2 and matrix.shape == wanted[::-1]):
        hint = ": it lies transposed, a row is an output" if matrix.shape == wanted[::-1] else ""
        raise Error(f"{path} has a matrix of {by(matrix.shape)}, but the parameter '{name}' of shape {list(shape)} "
                    f"takes one of {by(wanted)}{hint}")
    return np.ascontiguousarray(matrix.T.reshape(shape))


def matrices_in(folder: pathlib.Path) -> list[str]:
    """The names of the matrix files in a folder."""
    if not folder.is_dir():
        raise Error(f"the folder {folder} cannot be read: "
                    + ("it is not a folder" if folder.exists() else "there is no such folder"))
    return sorted(path.name for path in folder.iterdir() if path.name.endswith(SUFFIX))


def export_to(folder: pathlib.Path, source: pathlib.Path) -> None:
    """Writes a file for each parameter, all of them or none."""
    parameters = checkpoint.read(source).parameters
    files = {name: file_of(name) for name in parameters}
    contents = {name: matrix_of(name, values) for name, values in parameters.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(f"the folder {folder} cannot be made: {reason(error)}") from None
    for stranger in sorted(set(matrices_in(folder)) - set(files.values())):
        raise Error(f"the folder {folder} already holds {stranger}, which would pass for a parameter of this network; "
                    "name another folder")
    for file in files.values():
        expect_kept([source], folder / file)
    if len({os.path.realpath(folder / file) for file in files.values()}) < len(files):
        raise Error(f"two of the matrices in {folder} are the same file, by a link")
    with contextlib.ExitStack() as written:
        for name, file in files.items():
            written.enter_context(replacing(folder / file, "matrix")).write_bytes(bytes_of(contents[name]))
    report(files, contents)
    is_rounded = next(iter(parameters.values())).dtype != VALUE
    command_line.say(f"written to {folder}"
                     + (", rounded to float: the checkpoint's doubles have 9 digits more" if is_rounded else ""))


def import_from(folder: pathlib.Path, target: pathlib.Path) -> None:
    """Replaces the parameters of a checkpoint, or makes one. Everything else in it stays, except for what belonged
    to the old parameters: those of its workers, and what its optimizer keeps."""
    is_new = not target.exists()
    if is_new:
        found = mlp_in(folder)
    else:
        found = checkpoint.read(target)
        dtype = next(iter(found.parameters.values())).dtype
        for stranger in sorted(set(matrices_in(folder)) - {file_of(name) for name in found.parameters}):
            raise Error(f"the folder {folder} holds {stranger}, but the checkpoint {target} has no parameter "
                        f"'{parameter_of(stranger[:-len(SUFFIX)])}'")
        found.parameters = {name: parameter_in(folder / file_of(name), name, values.shape).astype(dtype)
                            for name, values in found.parameters.items()}
        found.workers, found.optimizer = [], {}
    checkpoint.write(target, found)
    report({name: file_of(name) for name in found.parameters},
           {name: matrix_of(name, values) for name, values in found.parameters.items()})
    command_line.say(f"read from {folder} into " + (f"the new {target}: mlp, relu, cross-entropy, float" if is_new
                                                    else str(target)))


def mlp_in(folder: pathlib.Path) -> checkpoint.Checkpoint:
    """A checkpoint made only from the folder: w1, w2, ... are the layers of an mlp, with relus between them and
    cross-entropy as the loss, as in report 002."""
    names = matrices_in(folder)
    has_biases = "b1" + SUFFIX in names
    parameters = {}
    widths: list[int] = []  # of the layers, as their outputs
    # The first weight is read whether it is there or not: its absence gets the reader's sentence.
    while not widths or f"w{len(widths) + 1}{SUFFIX}" in names:
        layer = f"fc{len(widths) + 1}"
        path = folder / file_of(f"{layer}/weight")
        weight = read_matrix(path)
        if widths and weight.shape[1] != widths[-1]:
            raise Error(f"{path} has a matrix of {by(weight.shape)}, but w{len(widths)}{SUFFIX} has {widths[-1]} rows: "
                        "each layer must have a column for every row of the one before")
        parameters[f"{layer}/weight"] = np.ascontiguousarray(weight.T)
        if has_biases:
            parameters[f"{layer}/bias"] = parameter_in(folder / file_of(f"{layer}/bias"), f"{layer}/bias",
                                                       weight.shape[:1])
        widths.append(weight.shape[0])
    for stranger in sorted(set(names) - set(map(file_of, parameters))):
        raise Error(f"the folder {folder} holds {stranger}, which belongs to none of the layers w1.data, w2.data, ...; "
                    "for any other network than an mlp, import into a checkpoint that has its shapes")
    return checkpoint.Checkpoint(
        {"model": "mlp", "precision": "float", "seed": 1, "epoch": 0, "step": 0, "activation": "relu",
         "loss": "cross-entropy", "hidden": ",".join(map(str, widths[:-1])) or "none",
         "biases": "on" if has_biases else "off"}, parameters)


def report(files: dict[str, str], matrices: dict[str, np.ndarray]) -> None:
    """A line for each file: "w1.data  256 x 784  fc1/weight"."""
    width = max(map(len, files.values()))
    sizes = {name: by(matrix.shape) for name, matrix in matrices.items()}
    for name, file in files.items():
        command_line.say(f"{file:<{width}}  {sizes[name]:>{max(map(len, sizes.values()))}}  {name}")


def main(words: Sequence[str]) -> None:
    parser = command_line.Parser(prog="matrix_files", description=__doc__)
    parser.add_argument("checkpoint", metavar="CHECKPOINT", type=pathlib.Path)
    parser.add_argument("--export", metavar="DIR", type=pathlib.Path, help="write its parameters to DIR")
    parser.add_argument("--import", metavar="DIR", type=pathlib.Path, dest="source",
                        help="replace its parameters by those in DIR")
    options = parser.parse_args(words)
    if (options.export is None) == (options.source is None):
        raise UsageError("say what to do: either --export or --import")
    try:
        if options.export:
            export_to(options.export, options.checkpoint)
        else:
            import_from(options.source, options.checkpoint)
    except Error as error:  # a file that cannot be read is wrong usage here
        raise UsageError(str(error)) from None


if __name__ == "__main__":
    sys.exit(command_line.run("matrix_files", main, sys.argv[1:]))
