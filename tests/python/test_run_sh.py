#!/usr/bin/env python3
"""Tests of ./run.sh: from any folder, in anybody's, without any package, with whatever standard output. And of
.ci/gpu."""

import os
import pathlib
import shutil
import unittest

from support import REPOSITORY, Case, made_up  # first: it sets the paths

from stagewise import checkpoint

RUN = REPOSITORY / "run.sh"


class RunSh(Case):
    def copy_project(self) -> pathlib.Path:
        """What run.sh wants to see around it, and a build/."""
        project = self.folder / "project"
        for folder in ("cuda_on_cpu", "exercises", "tools"):
            shutil.copytree(REPOSITORY / folder, project / folder,
                            ignore=shutil.ignore_patterns("build", "__pycache__"))
        for file in ("run.sh", "CMakePresets.json"):
            shutil.copy(REPOSITORY / file, project)
        (project / "build" / "kept").mkdir(parents=True)
        return project

    def test_cleans_its_own_project_only(self):
        project = self.copy_project()
        other = self.folder / "other"
        (other / "build").mkdir(parents=True)
        (other / "project" / "build").mkdir(parents=True)
        (other / "link.sh").symlink_to(project / "run.sh")
        shutil.copy(RUN, other / "copy.sh")
        for command in ("cd other; ./link.sh clean", "CDPATH=$PWD/other project/run.sh clean"):
            outcome = self.run_command("bash", "-c", command)
            self.assertEqual((outcome.returncode, outcome.stderr), (0, ""), command)
            self.assertFalse((project / "build").exists(), command)
            (project / "build").mkdir()
        outcome = self.run_command("other/copy.sh", "clean")
        self.assertEqual((outcome.returncode, outcome.stdout), (1, ""))
        self.assertRegex(outcome.stderr, r"^run\.sh: This script belongs to the project Stagewise, and .*/other is not")
        self.assertTrue((other / "build").exists())
        self.assertTrue((other / "project" / "build").exists())

    def test_standard_output_that_takes_nothing(self):
        project = self.copy_project()
        outputs = {"/dev/full": "tandard output could not be written to", "&-": "tandard output is closed"}
        for words in ("help", "clean", "exercise", "try --help", "solution 5 --anyway"):
            for output, sentence in outputs.items():
                if output == "/dev/full" and not os.path.exists(output):
                    continue
                outcome = self.run_command("bash", "-c", f"{project}/run.sh {words} >{output}")
                self.assertEqual(outcome.returncode, 1, words)
                self.assertRegex(outcome.stderr, rf"^[a-z.]+: [Ss]{sentence}[^\n]*\.\n$", words)
        outcome = self.run_command("bash", "-c", f"{project}/run.sh exercise | head -n 1")
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))

    def test_a_project_of_somebody_else(self):
        project = self.copy_project()
        (self.folder / "my.cu").write_text("int main() {}\n")
        self.folder.chmod(0o755)
        for folder in (project, project / "build"):
            folder.chmod(0o555)
            self.addCleanup(folder.chmod, 0o755)
        # Root may write anywhere.
        user = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        if user and not shutil.which("setpriv"):
            self.skipTest("there is no setpriv, by which root becomes somebody else")
        for words, sentence in (("run.sh clean", "run.sh: Some of {}/build cannot be removed; "),
                                ("run.sh --no-install", "run.sh: The folder {}/build cannot be written to; "),
                                ("run.sh test --no-install", "run.sh: The folder {}/build cannot be written to; "),
                                ("exercises/exercise.py exercise coalescing",
                                 "exercise: cannot use {}/my_exercises: Permission denied"),
                                ("cuda_on_cpu/try.sh my.cu --build project/build/try",
                                 "try: The folder project/build/try, where CUDA on the CPU is built, cannot be")):
            outcome = self.run_command(*user, *f"project/{words}".split())
            self.assertEqual(outcome.returncode, 1, outcome.stderr)
            self.assertRegex(outcome.stderr, "^" + sentence.format(project) + r"[^\n]*\.\n$", words)
        self.assertTrue((project / "build" / "kept").exists())

    def test_filters_on_gpus_that_match_nothing(self):
        """.ci/gpu, with made-up GPUs."""
        (self.folder / ".ci").mkdir()
        shutil.copy(REPOSITORY / ".ci" / "gpu", self.folder / ".ci")
        for name, text in (("bin/nvidia-smi", "echo one; echo two"),
                           ("bin/mpirun", 'while [ "${1#build}" = "$1" ]; do shift; done; exec "$@"'),
                           ("build/cuda/bin/test_stage05_trainings", 'echo "[  PASSED  ] $PASSED."')):
            program = self.folder / name
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_text(f"#!/bin/sh\n{text}\n")
            program.chmod(0o755)
        path = f"PATH={self.folder}/bin:{os.environ['PATH']}"
        for passed, code in (("2 tests", 0), ("0 tests", 1)):
            outcome = self.run_command("env", path, f"PASSED={passed}", ".ci/gpu", "sums")
            self.assertEqual(outcome.returncode, code, outcome.stdout)
            self.assertEqual("ran no test: " in outcome.stdout, code == 1, outcome.stdout)

    def test_from_another_folder(self):
        checkpoint.write(self.folder / "a b.h5", checkpoint.Checkpoint(*made_up("mlp")))
        for words in (("plot", "weights", "a b.h5", "--no-install", "--output", "a.png"),
                      ("predict-scaling", "--gpus", "1,2", "--figure", "c d.svg"),
                      ("convert", "--no-install", "a b.h5", "a.safetensors")):
            outcome = self.run_command(RUN, *words)
            self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
            self.assertIn(f"saved  {words[-1]}", outcome.stdout)
            self.assertTrue((self.folder / words[-1]).exists())

    def test_exit_codes(self):
        self.assertEqual(self.run_command(RUN, "plot", "curves", "no.json").returncode, 1)
        outcome = self.run_command(RUN, "plot", "pie")
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("plot: there is no FIGURE 'pie'; ", outcome.stderr)

    def test_without_packages(self):
        # A PATH on which python3 has nothing but its own modules, and no apt-get is.
        tools = self.folder / "bin"
        tools.mkdir()
        for name in ("bash", "dirname", "nproc", "env", "readlink"):
            (tools / name).symlink_to(shutil.which(name))
        python = tools / "python3"
        asked = self.folder / "asked"
        python.write_text(f'#!/usr/bin/env bash\n[[ "$*" != *"import "[hm]* ]] || {{ echo "$*" >>{asked}; exit 1; }}\n'
                          'exec /usr/bin/python3 -S "$@"\n')
        python.chmod(0o755)
        help_text = self.run_command("env", f"PATH={tools}", RUN, "plot", "--help")
        self.assertEqual((help_text.returncode, help_text.stderr), (0, ""))
        self.assertIn("confusion", help_text.stdout)
        for command in ("plot", "convert"):
            outcome = self.run_command("env", f"PATH={tools}", RUN, command)
            self.assertEqual(outcome.returncode, 2)
            self.assertIn("missing", outcome.stderr)
            self.assertTrue(outcome.stderr.startswith(f"{command}: "), outcome.stderr)
        outcome = self.run_command("env", f"PATH={tools}", RUN, "predict-scaling", "--gpus", "1,2")
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
        self.assertFalse(asked.exists())  # nothing of this needs Matplotlib or h5py


if __name__ == "__main__":
    unittest.main()
