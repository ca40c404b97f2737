#!/usr/bin/env python3
"""Converts a checkpoint for PyTorch, or comes back from there. ./run.sh convert starts it.

The files' names say which way:

    model.h5  model.safetensors    needs no PyTorch, neither here nor to be read
    model.h5  model.pt             a state_dict, written by torch.save()
    and each of them the other way round

In PyTorch, the network takes images as [batch, channels, height, width]. The page "To PyTorch and
back" of the documentation (docs/pages/pytorch.md) shows how to build and load it.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Sequence

from stagewise import command_line
from stagewise.command_line import Error, UsageError
from stagewise.files import expect_kept

CHECKPOINTS = (".h5", ".hdf5")
PYTORCHS = (".safetensors", ".pt", ".pth")


def parser() -> argparse.ArgumentParser:
    result = command_line.Parser(prog="convert", description=__doc__)
    result.add_argument("source", metavar="FROM", type=pathlib.Path, help="the file to convert")
    result.add_argument("target", metavar="TO", type=pathlib.Path,
                        help="the file to write; an existing one is replaced")
    result.add_argument("--like", metavar="CHECKPOINT", type=pathlib.Path,
                        help="a checkpoint of the same network, for a file that does not say which "
                        "model, data set and options are its own: one that PyTorch has written")
    return result


def is_to_pytorch(source: pathlib.Path, target: pathlib.Path) -> bool:
    """Which way the files' names say.

    :raise UsageError: if they say neither."""
    if source.suffix in CHECKPOINTS and target.suffix in PYTORCHS:
        return True
    if source.suffix in PYTORCHS and target.suffix in CHECKPOINTS:
        return False
    raise UsageError(f"'{source}' and '{target}' are not a checkpoint (.h5) and a file for PyTorch "
                     "(.safetensors or .pt)")


def main(words: Sequence[str]) -> None:
    options = parser().parse_args(words)
    to_pytorch = is_to_pytorch(options.source, options.target)
    if to_pytorch and options.like:
        raise UsageError("--like is for the way back to a checkpoint")
    expect_kept([options.source, *filter(None, [options.like])], options.target)
    try:  # only now, so that neither --help nor an objection to the options needs NumPy and h5py
        from stagewise import conversion
    except ImportError as error:
        raise Error(f"this python3 has no {error.name}; ./run.sh convert installs it") from None
    if to_pytorch:
        conversion.to_pytorch(options.source, options.target)
    else:
        conversion.to_checkpoint(options.source, options.target, options.like)


if __name__ == "__main__":
    sys.exit(command_line.run("convert", main, sys.argv[1:]))
