#!/usr/bin/env python3
"""Runs clang-tidy on C++ files of a configured build folder: static_analysis.py BUILD [JOBS [CHANGED...]]

Of all files, or, if some are named as changed, of these and of those that include one of them. A changed .clang-tidy
means all of its folder.

With a single file, clang-tidy spends most of its time on the headers of libraries, and with the
next file it does so again. So the files of a folder are put together into a few large ones. Some
checks look at nothing outside the main file, first of all the static analyzer: these get the files
one by one, but only those of some folders. Files that cannot be put together, such as those with a name in common, are taken apart again.

Prints what is found and exits with 1 if anything is. First of all, that no header escapes: the filters
of the files .clang-tidy must match all of them, and name folders that exist. Files of the exercises are not
among those of a build: exercise.py compiles each by itself, as learners write it.
"""

import concurrent.futures
import fnmatch
import json
import os
import re
import shlex
import subprocess
import sys
import time

MAX_TOGETHER = 20
# Where files, other processes and the system are dealt with: there, the analyzer has most to find.
ANALYZED = re.compile(r"common/(data|io|mpi|cuda)|cuda_on_cpu/src")
OF_ONE_FILE = ["clang-analyzer-*", "clang-diagnostic-shadow*", "misc-unused-*-decls"]
# The analyzer follows a function's paths a fourth as far as by default, in half of the time.
ANALYZER = [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=56250")]


def together(_):
    """The options for files that are put together."""
    return ["--checks=" + ",".join("-" + check for check in OF_ONE_FILE) + ",-bugprone-suspicious-include"]


def alone(file):
    """The options for a single file: of its folder's checks, those that are left."""
    listed = subprocess.run(["clang-tidy", "--list-checks", file, "--"], capture_output=True,
                            text=True, check=True).stdout.split()
    checks = [check for check in listed if any(fnmatch.fnmatch(check, pattern) for pattern in OF_ONE_FILE)]
    # Those of the compiler are not listed.
    return ["--checks=-*,clang-diagnostic-shadow*," + ",".join(checks), *ANALYZER]


def own_files(build):
    """The project's files by folder, each with the flags that say how to read it."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    folders = {}
    for command in commands:
        file = os.path.relpath(os.path.join(command["directory"], command["file"]))
        if file.startswith(("build", "..")):
            continue
        flags, words = [], iter(shlex.split(command["command"]))
        for word in words:
            if word == "-isystem":
                flags.append((word, next(words)))
            elif word.startswith(("-I", "-D", "-U", "-W", "-std")):
                flags.append((word,))
        folders.setdefault(os.path.dirname(file), {})[file] = flags
    return {folder: sorted(members.items()) for folder, members in sorted(folders.items())}


def folders_of(header_filter):
    """Those that a filter such as /folder/(this|that)/.* names."""
    parts = re.match(r"/(?:([^(]*)/)?\(([^()]*)\)/", header_filter)
    if parts is None:
        sys.exit(f"static_analysis.py: the filter {header_filter} is not of the form /folder/(this|that)/...")
    before, names = parts.groups("")
    return [os.path.join(before, name) for name in names.split("|")]


def headers_left_out(root="."):
    """What is wrong with the filters of headers, a sentence each. Headers that bear NVIDIA's names are none of the
    project's own: those in .h, and in the folder where programs look for them."""
    objections, filters = [], {}
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in ("build", ".git"))
        here = os.path.relpath(folder, root)
        header_filter = filters.get(os.path.dirname(here) or ".")
        if ".clang-tidy" in files:
            with open(os.path.join(folder, ".clang-tidy"), encoding="utf-8") as file:
                own = re.search(r"^HeaderFilterRegex: *'(.*)'$", file.read(), re.MULTILINE)
            if own:
                header_filter = own.group(1)
                objections += [f"{os.path.join(here, '.clang-tidy')}: there is no folder {name}"
                               for name in folders_of(header_filter)
                               if not os.path.isdir(os.path.join(root, name))]
        filters[here] = header_filter
        if here == "cuda_on_cpu/include":
            continue
        for name in sorted(files):
            path = "/" + os.path.relpath(os.path.join(folder, name), root)
            if name.endswith((".hpp", ".cuh")) and not re.search(header_filter, path):
                objections.append(f"{path[1:]}: no HeaderFilterRegex of a .clang-tidy matches this header")
    return objections


class Batch:
    """Some files of a folder as one, which is there while the batch is."""

    def __init__(self, members, number):
        self.members = [os.path.abspath(file) for file, _ in members]
        self.folder = os.path.dirname(members[0][0])
        flags = dict.fromkeys(flag for _, flags in members for flag in flags)
        self.flags = [word for flag in flags for word in flag]
        self.is_file = len(members) == 1
        # In the folder itself, whose rules hold for it.
        self.file = members[0][0] if self.is_file else f"{self.folder}/together_{number}.cpp"
        self.name = self.file if self.is_file else f"{self.folder}: {len(members)} files"

    def __enter__(self):
        if not self.is_file:
            with open(self.file, "w", encoding="utf-8") as together:
                together.writelines(f'#include "{member}"\n' for member in self.members)
        return self

    def __exit__(self, *_):
        if not self.is_file:
            os.remove(self.file)

    def can_be_read(self):
        command = ["clang++", "-fsyntax-only", "-w", *self.flags, self.file]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def check(self, options):
        """What clang-tidy objects to; empty if nothing."""
        command = ["clang-tidy", "--dump-config", self.file]
        config = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        headers = re.search(r"^HeaderFilterRegex: *'(.*)'$", config, re.MULTILINE).group(1)
        command = ["clang-tidy", "--quiet", *options(self.file),
                   f"--header-filter=({headers})|(/{self.folder}/[^/]*\\.cpp$)",
                   self.file, "--", *self.flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return ""
        return done.stdout or done.stderr or f"clang-tidy ended with {done.returncode}"


def concerns(file, changed):
    """Whether a file is to be analysed if these have changed."""
    rules = [os.path.dirname(name) for name in changed if os.path.basename(name) == ".clang-tidy"]
    if not changed or any(file.startswith(folder) for folder in rules):
        return True
    if file in changed:
        return True
    with open(file, encoding="utf-8") as text:
        included = re.findall(r'^#include "(.*)"', text.read(), re.MULTILINE)
    return any(name == header or name.endswith("/" + header) for header in included for name in changed)


def analyse(members, options, number):
    """[(name of what was analysed, seconds, objections)]"""
    begin = time.monotonic()
    with Batch(members, number) as batch:
        if batch.is_file or batch.can_be_read():
            objections = batch.check(options)
            return [(batch.name, time.monotonic() - begin, objections)]
    middle = len(members) // 2
    return analyse(members[:middle], options, number) + analyse(members[middle:], options, number)


def main():
    build = sys.argv[1]
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
    changed = sys.argv[3:]
    work = []
    for folder, members in own_files(build).items():
        members = [member for member in members if concerns(member[0], changed)]
        count = -(-len(members) // MAX_TOGETHER)
        work += [(members[i::count], together) for i in range(count)]
        if ANALYZED.fullmatch(folder):
            work += [([member], alone) for member in members]

    objections = headers_left_out()
    print(*objections, sep="\n", end="\n" if objections else "")
    code = 1 if objections else 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        pending = [pool.submit(analyse, *what, number) for number, what in enumerate(work)]
        for done in concurrent.futures.as_completed(pending):
            for name, seconds, objections in done.result():
                print(f"{seconds:5.0f} s  {name}", flush=True)
                if objections:
                    print(objections, flush=True)
                    code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
