#!/usr/bin/env python3
"""docs/pages/adding_an_activation.md, followed to the letter: tanh.patch on a copy, built and tried.

    python3 check.py SOURCE FOLDER CMAKE
"""
import pathlib
import re
import shutil
import subprocess
import sys

MOST_FILES, MOST_LINES = 6, 40


def run(command, folder, code=0):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != code:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def main():
    source, folder, cmake = map(pathlib.Path, sys.argv[1:])
    patch = source / "tests/recipe/tanh.patch"
    text = patch.read_text()
    files = len(re.findall(r"^\+\+\+ ", text, re.M))
    lines = len(re.findall(r"^\+(?!\+\+ )", text, re.M))
    if files > MOST_FILES or lines > MOST_LINES:
        sys.exit(f"an activation takes {files} files and {lines} lines, more than {MOST_FILES} and {MOST_LINES}")
    if not shutil.which("patch"):
        print("skipped: there is no patch to apply it")
        return
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("build", ".git", "shared"), symlinks=True)
    run(["patch", "--strip=1", "--silent", f"--input={patch}"], folder)
    quickly = "-DCMAKE_CXX_FLAGS_RELEASE=-O0"  # built to be run for a second
    run([cmake, "--preset", "cpu", "-DBUILD_TESTING=ON", quickly], folder)
    run([cmake, "--build", "--preset", "cpu", "--parallel", "2", "--target", "stage01_serial", "test_serial"], folder)
    run([folder / "build/cpu/bin/test_serial", "--gtest_filter=*Tanh*:SerialActivations.*"], folder)
    program = folder / "build/cpu/bin/stage01_serial"
    small = ["--train-limit", "100", "--test-limit", "20", "--hidden", "8", "--activation"]
    said = run([program, "train", *small, "tanh"], folder)
    if "mlp 784-8-10, tanh" not in said:
        sys.exit(f"nobody says that the network has tanh units:\n{said}")
    said = run([program, "train", *small, "tahn"], folder, code=2)
    if "did you mean tanh?" not in said:
        sys.exit(f"the option does not know tanh:\n{said}")


if __name__ == "__main__":
    main()
