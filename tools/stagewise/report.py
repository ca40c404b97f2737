"""Run reports and their tables: what `--report` and `--csv` of the C++ programs have written."""

from __future__ import annotations

import csv
import io
import json
import math
import pathlib
from typing import Any

from stagewise.command_line import Error
from stagewise.files import read_text


ROWS = ("epochs", "steps", "timings", "tables", "rows")
OBJECTS = ("confusion", "limits", "counters", "reference")


def read_report(path: pathlib.Path) -> dict[str, Any]:
    """A run report.

    :raise Error: if it cannot be read or is none."""
    try:
        report = json.loads(read_text(path))
    except (ValueError, RecursionError):
        raise Error(f"cannot read {path}: it is not JSON") from None
    if not isinstance(report, dict) or "stage" not in report:
        raise Error(f"{path} is not a report, which --report writes")
    _expect_structure(report, path)
    return report


def _expect_structure(part: dict[str, Any], path: pathlib.Path) -> None:
    """Refuses rows that are not lists of objects, so that no reader has to check."""
    for key, value in part.items():
        is_list = key in ROWS
        if not is_list and (key not in OBJECTS or value is None):
            continue
        rows = value if is_list else [value]
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise Error(f"cannot use {path}: its '{key}' {'are' if is_list else 'is'} not what --report writes")
        for row in rows:
            _expect_structure(row, path)


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


def number(row: dict[str, Any], key: str, path: pathlib.Path, absent: float | None = None) -> float:
    """A number of a row.

    :param absent: its value if it is missing or null.
    :raise Error: if it is not a number, or not finite."""
    try:
        value = float(absent if absent is not None and row.get(key) is None else row[key])
    except (KeyError, TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise Error(f"cannot use {path}: '{key}' is missing or no number somewhere")
    return value


def class_names(report: dict[str, Any]) -> list[str]:
    """As the data set has them; none if the report has none."""
    names = report.get("class_names")
    return [str(name) for name in names] if isinstance(names, list) else []


def names_of(paths: list[pathlib.Path]) -> list[str]:
    """A name for each file: its own without folder and ending, if that tells them apart."""
    stems = [path.stem for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]
