#!/usr/bin/env python3
"""Lets a compiler read kernels of a configured and built folder: compile_kernels.py BUILD JOBS COMPILER [CHANGED...]

All kernels, or, if files are named as changed, those that are made of one of them. Only reads: no code is made. Prints
what it objects to and exits with 1 if it objects to anything.
"""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys


# What all kernels are made by.
OF_ALL = re.compile(r"cuda_on_cpu/translate/|(.*/)?CMakeLists\.txt|(cuda_on_cpu/)?cmake/|CMakePresets|\.ci/compile_kernels")


def sources(build):
    """For each translated kernel, the files of the repository that it is made of: what the build has noted."""
    noted = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    translated = os.path.join(build, "cuda_on_cpu", "")
    real = {}
    made_of = {}
    for target in noted.split("\n\n"):
        paths = [line.strip() for line in target.splitlines()[1:]]
        if not paths or not paths[0].endswith(".cu.cpp"):
            continue
        for path in paths:
            if path not in real:
                name = os.path.relpath(os.path.realpath(os.path.join(build, path)))
                real[path] = name.removeprefix(translated).removesuffix(".cpp")
        made_of[real[paths[0]]] = {real[path] for path in paths}
    return made_of


def commands(build, compiler, changed):
    """(file, command) for each translated kernel that a change concerns."""
    made_of = {} if not changed or any(OF_ALL.match(name) for name in changed) else sources(build)
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    for entry in entries:
        if not entry["file"].endswith(".cu.cpp") or "_instrumented.dir/" in entry["command"]:
            continue  # what an instrumented program has once more
        if not os.path.exists(entry["file"]):
            continue  # of tests that only the preset asan builds, with a compiler of its own
        name = os.path.relpath(entry["file"], os.path.join(build, "cuda_on_cpu")).removesuffix(".cpp")
        if name in made_of and made_of[name].isdisjoint(changed):
            continue
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
    build, jobs, compiler, *changed = sys.argv[1:]
    read_well, failed = 0, 0
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        for file, code, said in pool.map(read, commands(build, compiler, changed)):
            read_well += code == 0
            if code != 0:
                failed += 1
                print(f"{file}:\n{said}", flush=True)
    print(f"{read_well} files without errors, {failed} with errors")
    return 1 if failed or not (read_well or changed) else 0


if __name__ == "__main__":
    sys.exit(main())
