"""What the tests of tools/ share: networks, and the programs with what they say."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tools"))

import numpy as np  # noqa: E402: the paths come first

from stagewise import command_line  # noqa: E402: the paths come first
from stagewise.network import Parameters, network_of  # noqa: E402

Attributes = dict[str, "str | int"]

MLP = {"model": "mlp", "hidden": "6,5", "activation": "relu", "loss": "cross-entropy",
       "biases": "on", "sample-shape": "4,3,1", "class-count": "7"}
NETWORKS = {
    "mlp": MLP,
    "mlp of colours": MLP | {"sample-shape": "5,4,3", "activation": "sigmoid"},
    "mlp of a table": MLP | {"sample-shape": "9", "hidden": "none"},
    "mlp with sigmoid outputs": MLP | {"activation": "sigmoid", "loss": "squared-error"},
    "mlp with linear outputs": MLP | {"loss": "squared-error", "biases": "off"},
    "neuron": {"model": "neuron", "sample-shape": "3,2,3", "class-count": "2"},
    "cnn": {"model": "cnn", "sample-shape": "16,20,3", "class-count": "4", "biases": "on"},
    "cnn without biases": {"model": "cnn", "sample-shape": "20,16,1", "class-count": "3",
                           "biases": "off"},
}


def made_up(name: str, dtype: type = np.float32, seed: int = 1) -> tuple[Attributes, Parameters]:
    """A checkpoint's attributes, of one of NETWORKS, and random parameters."""
    random = np.random.default_rng(seed)
    precision = "float" if dtype == np.float32 else "double"
    attributes: Attributes = {**NETWORKS[name], "precision": precision, "seed": 2**64 - 1,
                                        "epoch": 3, "step": 2**40, "dataset": "Größe, 'x' $y$"}
    network = network_of(attributes, "it")
    parameters = {}
    for layer, shape in network.layers().items():
        weight = "filter" if len(shape) == 4 else "weight"
        scale = 2 / np.sqrt(np.prod(shape[:-1]))
        if network.biases:
            parameters[f"{layer}/bias"] = random.normal(size=shape[-1:]).astype(dtype)
        parameters[f"{layer}/{weight}"] = (scale * random.normal(size=shape)).astype(dtype)
    return attributes, parameters


def samples_of(network, count: int = 5, seed: int = 2) -> np.ndarray:
    """Made-up samples, [count, height, width, channels] or [count, features]."""
    return np.random.default_rng(seed).random((count, *network.sample))


class Case(unittest.TestCase):
    """A test in a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def expect_equal_files(self, expected: str, found: str, about: object = "") -> None:
        """Byte by byte. (assertEqual() would look for what differs, for minutes.)"""
        files = [(self.folder / name).read_bytes() for name in (expected, found)]
        self.assertTrue(files[0] == files[1], f"{expected} and {found} differ; {about}")

    def run_program(self, name: str, *words: object) -> subprocess.CompletedProcess:
        """Runs a program of tools/ in the test's folder, in a forked process, which already has the libraries:
        loading them takes longer than anything the program itself does."""
        module = importlib.import_module(name.replace("-", "_"))
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            sys.stdout.flush()
            sys.stderr.flush()
            process = os.fork()
            if process == 0:
                code = 70
                try:
                    os.dup2(out.fileno(), 1)
                    os.dup2(err.fileno(), 2)
                    sys.stdout, sys.stderr = open(1, "w", encoding="utf-8"), open(2, "w", encoding="utf-8")
                    os.chdir(self.folder)
                    code = command_line.run(name, module.main, [str(word) for word in words])
                    sys.stderr.flush()
                finally:
                    os._exit(code)  # never a second runner of tests
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(words, code, out.read(), err.read())

    def run_here(self, name: str, *words: object) -> subprocess.CompletedProcess:
        """The same within this process, for many runs; a crash would end the test."""
        module = importlib.import_module(name.replace("-", "_"))
        streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
                code = command_line.run(name, module.main, [str(word) for word in words])
                sys.stderr.flush()
        finally:
            os.chdir(before)
        return subprocess.CompletedProcess(words, code, *(stream.buffer.getvalue().decode() for stream in streams))

    def run_command(self, *words: object) -> subprocess.CompletedProcess:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([str(word) for word in words], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=120, check=False)

    def run_well(self, *words: object) -> str:
        """Runs a program that must succeed and say nothing on standard error."""
        outcome = self.run_program(*words)
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""), outcome.stdout)
        return outcome.stdout

    def expect_failure(self, code: int, sentence: str, *words: object) -> None:
        """Expects this exit code and this sentence, without the program's name and the period."""
        outcome = self.run_program(*words)
        end = "" if sentence.endswith("?") else "."
        self.assertEqual(outcome.stderr, f"{words[0]}: {sentence}{end}\n")
        self.assertEqual(outcome.returncode, code)

    def run_table(self, program: str) -> None:
        """Expects what tables/PROGRAM.txt says: in a line an exit code and the program's words, in the next one, which
        is indented, the sentence without the period."""
        lines = (pathlib.Path(__file__).parent / "tables" / f"{program}.txt").read_text().splitlines()
        self.assertTrue(all(line.startswith("    ") for line in lines[1::2]) and len(lines) % 2 == 0 < len(lines))
        for command, sentence in zip(lines[::2], lines[1::2]):
            code, *words = command.split()
            with self.subTest(command=command):
                self.expect_failure(int(code), sentence.strip(), program, *words)

    def expect_sentence(self, about: object, *words: object) -> str:
        """Expects a run-time failure that one sentence explains. Returns it."""
        outcome = self.run_here(*words)
        self.assertEqual((outcome.returncode, outcome.stdout), (1, ""), f"{about}: {outcome.stderr}")
        self.assertRegex(outcome.stderr, rf"\A{words[0]}: .+[.?]\n\Z", about)
        self.assertNotIn("unforeseen", outcome.stderr, about)
        return outcome.stderr.partition(": ")[2].strip()

    def make_read_only(self, name: str) -> None:
        """A folder that nobody may write to.

        :raise unittest.SkipTest: if this user, such as root, can write to it nevertheless."""
        (self.folder / name).mkdir()
        (self.folder / name).chmod(0o555)
        self.addCleanup((self.folder / name).chmod, 0o755)
        if os.access(self.folder / name, os.W_OK):
            self.skipTest("This user may write to any folder.")

    def put_links(self, name: str, ending: str) -> list[str]:
        """Other names of a file: a symbolic link, a hard link, a link to the link, and another
        spelling of one of them."""
        names = [f"{kind}{ending}" for kind in ("soft", "hard", "chain")]
        (self.folder / names[0]).symlink_to(name)
        os.link(self.folder / name, self.folder / names[1])
        (self.folder / names[2]).symlink_to(names[0])
        return [*names, f"../{self.folder.name}/{names[0]}"]

    def expect_kept(self, read: str, written: str, *words: object) -> None:
        """Expects a refusal to replace a file that is read, and that the file is as before."""
        before = (self.folder / read).read_bytes()
        self.expect_failure(2, f"'{written}' would replace '{read}', which is read", *words)
        self.assertEqual((self.folder / read).read_bytes(), before)


def stage01(*words: object, folder: pathlib.Path) -> str:
    """Runs stage 01, or another program beside it, whose path the environment has.

    :raise unittest.SkipTest: if it is not there."""
    program = os.environ.get("STAGEWISE_STAGE01", "")
    if not program:
        raise unittest.SkipTest("STAGEWISE_STAGE01 does not name the program stage01_serial")
    command = [program, *map(str, words)]
    if words[0] == "make_dataset":
        command = [str(pathlib.Path(program).parent / "make_dataset"), *map(str, words[1:])]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300,
                          check=True).stdout
