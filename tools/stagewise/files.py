"""Files that are read or written as a whole."""

from __future__ import annotations

import contextlib
import os
import pathlib
import stat
import tempfile
from typing import Iterable, Iterator

from stagewise.command_line import Error, UsageError


def reason(error: OSError) -> str:
    """Why the system refused, as the C++ programs put it."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return error.strerror or str(error)


def expect_kept(read: Iterable[pathlib.Path], written: pathlib.Path) -> None:
    """Refuses a result that would replace a file that is read, under any name or through links of
    either kind, as the C++ programs do."""
    for path in read:
        if _is_same_file(path, written):
            raise UsageError(f"'{written}' would replace '{path}', which is read")


def _is_same_file(a: pathlib.Path, b: pathlib.Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:  # one does not exist yet
        return os.path.realpath(a) == os.path.realpath(b)


def expect_file(path: pathlib.Path, failure: str) -> None:
    """Refuses what cannot be read as a file.

    :param failure: the beginning of the sentence: "cannot read FILE"."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise Error(f"{failure}: {reason(error)}") from None
    if not stat.S_ISREG(mode):
        raise Error(f"{failure}: it is {'a folder' if stat.S_ISDIR(mode) else 'not a regular file'}")


def read_text(path: pathlib.Path) -> str:
    """The contents of a text file in UTF-8."""
    expect_file(path, f"cannot read {path}")
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise Error(f"cannot read {path}: {reason(error)}") from None
    except ValueError:
        raise Error(f"cannot read {path}: it is not a text in UTF-8") from None


@contextlib.contextmanager
def replacing(path: pathlib.Path, what: str) -> Iterator[pathlib.Path]:
    """For writing a file as a whole or not at all.

    Gives the name of a file beside it, which takes its place at the end, or is removed if anything
    fails.

    :param what: the file is, for errors: "figure"."""
    failure = f"the {what} {path} cannot be written"
    target = pathlib.Path(os.path.realpath(path))  # a link stays; its target is replaced
    partial = None
    try:
        _expect_writable(target, failure)
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:200]}.", suffix=".partial", dir=target.parent)
        os.close(handle)
        partial = pathlib.Path(name)
        yield partial
        partial.chmod(_permissions(target))
        partial.replace(target)
    except OSError as error:
        raise Error(f"{failure}: {reason(error)}") from None
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)


def _expect_writable(target: pathlib.Path, failure: str) -> None:
    try:
        target.stat()
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise Error(f"{failure}: there is no folder {target.parent}") from None
        return
    expect_file(target, failure)
    if not os.access(target, os.W_OK):
        raise Error(f"{failure}: Permission denied")


def _permissions(target: pathlib.Path) -> int:
    """Those of the file that is replaced, else those of any new file."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
