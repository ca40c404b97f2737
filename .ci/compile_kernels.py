#!/usr/bin/env python3
"""Lets a compiler read all kernels of a configured and built folder: compile_kernels.py BUILD JOBS COMPILER

Only reads: no code is made. Prints what it objects to and exits with 1 if it objects to anything.
"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys


def commands(build, compiler):
    """(file, command) for each translated kernel."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    for entry in entries:
        if not entry["file"].endswith(".cu.cpp") or "_observed.dir/" in entry["command"]:
            continue  # what an observed program has once more
        if not os.path.exists(entry["file"]):
            continue  # of tests that only the preset asan builds, with a compiler of its own
        flags, words = [], iter(shlex.split(entry["command"]))
        for word in words:
            if word in ("-isystem", "-iquote"):
                flags += [word, next(words)]
            elif word.startswith(("-I", "-D", "-U", "-std")):
                flags.append(word)
        yield entry["file"], [compiler, "-fsyntax-only", *flags, entry["file"]]


def read(job):
    file, command = job
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return file, done.returncode, done.stderr


def main():
    build, jobs, compiler = sys.argv[1:]
    read_well, failed = 0, 0
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        for file, code, said in pool.map(read, commands(build, compiler)):
            read_well += code == 0
            if code != 0:
                failed += 1
                print(f"{file}:\n{said}", flush=True)
    print(f"{read_well} files without errors, {failed} with errors")
    return 1 if failed or not read_well else 0


if __name__ == "__main__":
    sys.exit(main())
