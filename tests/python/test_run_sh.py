#!/usr/bin/env python3
"""Tests of ./run.sh plot and ./run.sh convert: from any folder, and without any package."""

import pathlib
import shutil
import unittest

from support import REPOSITORY, Case, made_up  # first: it sets the paths

from stagewise import checkpoint

RUN = REPOSITORY / "run.sh"


class RunSh(Case):
    def test_from_another_folder(self):
        checkpoint.write(self.folder / "a b.h5", checkpoint.Checkpoint(*made_up("mlp")))
        for words, written in ((("plot", "weights", "a b.h5", "--no-install", "--output", "a.png"),
                                "a.png"),
                               (("convert", "--no-install", "a b.h5", "a.safetensors"),
                                "a.safetensors")):
            outcome = self.run_command(RUN, *words)
            self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
            self.assertTrue(outcome.stdout.startswith("saved  a."), outcome.stdout)
            self.assertTrue((self.folder / written).exists())

    def test_exit_codes(self):
        self.assertEqual(self.run_command(RUN, "plot", "curves", "no.json").returncode, 1)
        outcome = self.run_command(RUN, "plot", "pie")
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("plot: there is no FIGURE 'pie'; ", outcome.stderr)

    def test_without_packages(self):
        # A PATH on which python3 has nothing but its own modules, and no apt-get is.
        tools = self.folder / "bin"
        tools.mkdir()
        for name in ("bash", "dirname", "nproc", "env"):
            (tools / name).symlink_to(shutil.which(name))
        python = tools / "python3"
        python.write_text('#!/usr/bin/env bash\n[[ "$*" != *"import h5py"* ]] || exit 1\n'
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


if __name__ == "__main__":
    unittest.main()
