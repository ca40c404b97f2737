"""Run reports and their tables: what `--report` and `--csv` of the C++ programs have written."""

from __future__ import annotations

import csv
import io
import json
import pathlib
from typing import Any

from stagewise.command_line import Error
from stagewise.files import read_text


def read_report(path: pathlib.Path) -> dict[str, Any]:
    """A run report.

    :raise Error: if it cannot be read or is none."""
    try:
        report = json.loads(read_text(path))
    except (ValueError, RecursionError):
        raise Error(f"cannot read {path}: it is not JSON") from None
    if not isinstance(report, dict) or "stage" not in report:
        raise Error(f"{path} is not a report, which --report writes")
    return report


def read_table(path: pathlib.Path) -> list[dict[str, str]]:
    """The rows of a table that `train --csv` has written.

    :raise Error: if it cannot be read or is none."""
    try:
        rows = list(csv.DictReader(io.StringIO(read_text(path))))
    except csv.Error:
        raise Error(f"cannot read {path}: it is not CSV") from None
    if rows and not {"epoch", "step", "loss", "accuracy"} <= rows[0].keys():
        raise Error(f"{path} is not a log of a training, which train --csv writes")
    if not rows:
        raise Error(f"{path} has no rows")
    return rows


def number(row: dict[str, Any], key: str, path: pathlib.Path) -> float:
    """A number of a row.

    :raise Error: if it is not there or is none."""
    try:
        return float(row[key])
    except (KeyError, TypeError, ValueError):
        raise Error(f"cannot use {path}: '{key}' is missing or no number somewhere") from None


def names_of(paths: list[pathlib.Path]) -> list[str]:
    """A name for each file: its own without folder and ending, if that tells them apart."""
    stems = [path.stem for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]
