#!/usr/bin/env python3
"""Runs clang-tidy on all C++ files of a configured build folder: static_analysis.py BUILD [JOBS]

For a single file, clang-tidy spends most of its time on the headers of libraries, over and over. So
the files of a folder are put together into a few large ones for all checks but those that look at
nothing outside the main file: the static analyzer and a few others get the files one by one, but not
those of tests, whose macros have more paths than it can follow. Files that cannot be put together, such
as those with a name in common, are taken apart again.

Prints what is found and exits with 1 if anything is.
"""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import time

OF_ONE_FILE = "clang-analyzer-*,misc-unused-using-decls,misc-unused-alias-decls"
# How far the analyzer follows the paths of a function: a fourth of what it does by default, in half
# of the time.
EFFORT = [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=56250")]
ALONE = [f"--checks=-*,{OF_ONE_FILE}", *EFFORT]
# What one file calls its own, another may call a variable: no shadows here, where g++ sees none.
TOGETHER = ["--checks=-" + OF_ONE_FILE.replace(",", ",-") + ",-bugprone-suspicious-include",
            "--extra-arg=-Wno-shadow"]
MOST_TOGETHER = 12


def own_files(build):
    """The project's files, each with the flags that say how it is read: [(file, flags)]."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as commands:
        for command in json.load(commands):
            file = os.path.relpath(os.path.join(command["directory"], command["file"]))
            if file.startswith(("build", "..")):
                continue
            flags, words = [], iter(shlex.split(command["command"]))
            for word in words:
                if word == "-isystem":
                    flags.append((word, next(words)))
                elif word.startswith(("-I", "-D", "-W", "-std")):
                    flags.append((word,))
            yield file, flags


class Batch:
    """Some files of a folder as one, which is there while the batch is."""

    def __init__(self, members, number):
        self.files = [file for file, _ in members]
        folder = os.path.dirname(self.files[0])
        flags = dict.fromkeys(flag for _, flags in members for flag in flags)
        self.flags = [word for flag in flags for word in flag]
        self.alone = len(members) == 1
        self.file = self.files[0] if self.alone else f"{folder}/together_{number}.cpp"
        self.folder = folder

    def __enter__(self):
        if not self.alone:  # in the folder itself, whose rules hold for it
            with open(self.file, "w", encoding="utf-8") as together:
                together.writelines(f'#include "{os.path.abspath(file)}"\n' for file in self.files)
        return self

    def __exit__(self, *_):
        if not self.alone:
            os.remove(self.file)

    def compiles(self):
        command = ["clang++", "-fsyntax-only", "-w", *self.flags, self.file]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def check(self, options):
        """What clang-tidy has to say, and whether it is content."""
        config = subprocess.run(["clang-tidy", "--dump-config", self.file], capture_output=True, text=True, check=True).stdout
        headers = re.search(r"^HeaderFilterRegex: *'(.*)'$", config, re.MULTILINE).group(1)
        headers = f"({headers})|(/{self.folder}/[^/]*\\.cpp$)"
        command = ["clang-tidy", "--quiet", f"--header-filter={headers}", *options, self.file, "--", *self.flags]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        lines = [line for line in done.stdout.splitlines() if not re.match(r"\d+ warnings? (generated|treated as)", line)]
        return "\n".join(lines) if done.returncode else "", done.returncode == 0


def analyse(members, options, number):
    """[(name of what was analysed, findings, whether there are none, seconds)]"""
    begin = time.monotonic()
    with Batch(members, number) as batch:
        if batch.alone or batch.compiles():
            findings, good = batch.check(options)
            name = batch.file if batch.alone else f"{batch.folder}: {len(members)} files"
            return [(name, findings, good, time.monotonic() - begin)]
    middle = len(members) // 2
    return analyse(members[:middle], options, number) + analyse(members[middle:], options, number)


def main():
    build, jobs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
    folders = {}
    for file, flags in sorted(dict(own_files(build)).items()):
        folders.setdefault(os.path.dirname(file), []).append((file, flags))
    work = []
    for members in folders.values():
        count = -(-len(members) // MOST_TOGETHER)
        work += [(members[i::count], TOGETHER) for i in range(count)]
    work += [([member], ALONE) for folder, members in folders.items() if not folder.startswith("tests")
             for member in members]

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        pending = [pool.submit(analyse, members, options, number) for number, (members, options) in enumerate(work)]
        for done in concurrent.futures.as_completed(pending):
            for name, findings, good, seconds in done.result():
                print(f"{seconds:5.0f} s  {name}", flush=True)
                if not good:
                    failures += 1
                    print(findings, flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
