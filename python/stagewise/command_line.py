"""Command lines and errors as the C++ programs have them.

Exit codes: 0 done, 1 a run-time failure, 2 wrong usage. An error is one sentence on standard error.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from typing import Callable, NoReturn, Sequence


class Error(Exception):
    """A failure, as a sentence for the user: what was being done, with what, what was found."""


class UsageError(Error):
    """Wrong usage, as such a sentence."""


class Parser(argparse.ArgumentParser):
    """Reports wrong usage in one sentence, without the usage text."""

    def __init__(self, **options):
        super().__init__(allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        raise UsageError(self._sentence(message))

    def _sentence(self, message: str) -> str:
        help_lists = f"{self.prog} --help lists what there is"
        if found := re.match(r"unrecognized arguments: (\S+)", message):
            kind = "option" if found[1].startswith("-") else "argument"
            return f"{kind} '{found[1]}' is unknown; {help_lists}"
        if found := re.match(r"argument (?:-\w/)?(\S+): expected (?:one|at least one) argument",
                             message):
            return f"{found[1]} needs a value"
        if found := re.match(r"argument (\S+): invalid choice: ('.*') \(choose from (.*)\)",
                             message):
            return f"there is no {found[1]} {found[2]}; there are {found[3]}"
        if found := re.match(r"the following arguments are required: (.*)", message):
            return f"{found[1]} is missing; {self.prog} --help explains what is needed"
        return message


def whole_number(name: str, most: int = 10_000) -> Callable[[str], int]:
    """A reader of option `name`: a whole number from 1 to `most`."""

    def read(text: str) -> int:
        if re.fullmatch(r"[0-9]{1,9}", text) and 1 <= int(text) <= most:
            return int(text)
        raise UsageError(f"{name} is '{text}', but must be a whole number from 1 to {most:,}")

    return read


def printable(text: str) -> str:
    """Without what could lead a terminal astray, such as a file's name may contain."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def say(text: str) -> None:
    """A line on standard output."""
    print(printable(text).encode("utf-8", "replace").decode())


def run(program: str, body: Callable[[Sequence[str]], None], words: Sequence[str]) -> int:
    """Runs a program to its end, and says what went wrong.

    :return: its exit code."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it quietly
    try:
        body(words)
        code, sentence = 0, ""
    except SystemExit as end:  # --help
        code, sentence = int(end.code or 0), ""
    except UsageError as error:
        code, sentence = 2, str(error)
    except Error as error:
        code, sentence = 1, str(error)
    except MemoryError:
        code, sentence = 1, "there is too little memory for this"
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception as error:  # never a stack trace
        code, sentence = 1, f"an unforeseen error ended the program: {type(error).__name__}: {error}"
    try:
        sys.stdout.flush()
    except OSError:
        # Python would try again at the end, and say so in its own way.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code, sentence = 1, "standard output could not be written to"
    if sentence:
        end = "" if sentence[-1] in ".?" else "."
        print(f"{program}: {printable(sentence)}{end}", file=sys.stderr)
    return code
