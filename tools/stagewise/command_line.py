"""Command lines and errors as the C++ programs have them.

Exit codes: 0 done, 1 a run-time failure, 2 wrong usage. An error is one sentence on standard error.
"""

from __future__ import annotations

import argparse
import difflib
import logging
import os
import pathlib
import re
import signal
import sys
import warnings
from typing import Callable, NoReturn, Sequence


NO_OUTPUT = "standard output could not be written to"


class Error(Exception):
    """A failure, as a sentence for the user: what was being done, with what, what was found."""


class UsageError(Error):
    """Wrong usage, as such a sentence."""


class Parser(argparse.ArgumentParser):
    """Reports wrong usage in one sentence, without the usage text."""

    def __init__(self, **options):
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def parse_known_args(self, args=None, namespace=None):
        """Nothing is unknown: a parser of a command would leave it to the one above, which does not
        know the command's options."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            raise UsageError(self._unknown(unknown[0]))
        return found, unknown

    def _unknown(self, word: str) -> str:
        if not word.startswith("-"):
            return f"argument '{word}' is unknown; {self.prog} --help lists what there is"
        names = [name for action in self._actions for name in action.option_strings]
        meant = did_you_mean(word.partition("=")[0], names)
        return f"option '{word}' is unknown; {meant or f'{self.prog} --help lists what there is'}"

    def print_help(self, file=None) -> None:
        """Unlike the library's, fails where nothing can be written."""
        (file or sys.stdout).write(self.format_help())

    def error(self, message: str) -> NoReturn:
        raise UsageError(self._sentence(message))

    def _sentence(self, message: str) -> str:
        if found := re.match(r"argument (?:-\w/)?(\S+): expected (?:one|at least one) argument", message):
            return f"{found[1]} needs a value"
        if found := re.match(r"argument (\S+): invalid choice: ('.*') \(choose from (.*)\)", message):
            choices = found[3].replace("'", "")  # which some versions of Python write
            meant = did_you_mean(found[2][1:-1], choices.split(", "))
            return f"there is no {found[1]} {found[2]}; {meant or 'there are ' + choices}"
        if found := re.match(r"the following arguments are required: (.*)", message):
            verb = "are" if ", " in found[1] else "is"
            names = found[1].replace(", ", " and ")
            return f"{names} {verb} missing; {self.prog} --help explains what is needed"
        return message


def did_you_mean(word: str, names: Sequence[str]) -> str:
    """The end of a sentence if the word may be a typo of one of the names, else nothing."""
    near = difflib.get_close_matches(word, names, 1, 0.65)
    return f"did you mean {near[0]}?" if near else ""


def whole_number(name: str, most: int = 10_000) -> Callable[[str], int]:
    """A reader of option `name`: a whole number from 1 to `most`."""

    def read(text: str) -> int:
        if re.fullmatch(r"[0-9]{1,9}", text) and 1 <= int(text) <= most:
            return int(text)
        raise UsageError(f"{name} is '{text}', but must be a whole number from 1 to {most:,}")

    return read


def path_of(text: str) -> pathlib.Path:
    """Reads an option or argument that names a file."""
    if not text:
        raise UsageError("'' is no file")
    return pathlib.Path(text)


def short(value: float) -> str:
    """145 k, as the tables of the C++ programs have it."""
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def printable(text: str) -> str:
    """Without what could lead a terminal astray, such as a file's name may contain."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def say(text: str) -> None:
    """A line on standard output."""
    print(printable(text))


def make_matplotlib_quiet() -> None:
    """To be called before Matplotlib is loaded. It would report on standard error that it looks for
    fonts, cannot store their list or lacks a glyph, and would refuse to start with an unknown
    backend. Figures that become files need none."""
    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    os.environ.pop("MPLBACKEND", None)


def run(program: str, body: Callable[[Sequence[str]], None], words: Sequence[str]) -> int:
    """Runs a program to its end, and says what went wrong.

    :return: its exit code."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it quietly
    is_closed = sys.stdout is None
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
        getattr(sys, name).reconfigure(errors="backslashreplace")  # a file's name may be any bytes
    code, sentence = _outcome(body, words)
    if code == 0 and is_closed:
        code, sentence = 1, NO_OUTPUT
    if sentence:
        end = "" if sentence[-1] in ".?" else "."
        print(f"{program}: {printable(sentence)}{end}", file=sys.stderr)
    return code


def _outcome(body: Callable[[Sequence[str]], None], words: Sequence[str]) -> tuple[int, str]:
    """Exit code and sentence."""
    try:
        try:
            body(words)
        except SystemExit as end:  # --help
            return int(end.code or 0), ""
        finally:
            sys.stdout.flush()
    except UsageError as error:
        return 2, str(error)
    except Error as error:
        return 1, str(error)
    except MemoryError:
        return 1, "there is too little memory for this"
    except KeyboardInterrupt:
        return 128 + signal.SIGINT, ""
    except OSError as error:
        if error.filename is None:  # Python would try again at the end, and fail in its own way
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1, NO_OUTPUT
        return 1, f"cannot use {error.filename}: {error.strerror}"
    except Exception as error:  # never a stack trace
        return 1, f"an unforeseen error ended the program: {type(error).__name__}: {error}"
    return 0, ""
