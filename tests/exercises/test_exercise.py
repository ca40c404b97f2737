#!/usr/bin/env python3
"""./run.sh exercise as a learner uses it, on an exercise that is quickly checked."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
EXERCISE = REPOSITORY / "exercises" / "05_coalescing"


class ExerciseTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.mine = self.folder / "mine"
        self.file = self.mine / "05_coalescing.cu"

    def run_it(self, *words, code=0):
        """What a command prints; it must end with this exit code."""
        done = subprocess.run([REPOSITORY / "run.sh", *words, "--no-install"], capture_output=True, text=True, check=False,
                              cwd=self.folder, env={**os.environ, "STAGEWISE_EXERCISES": str(self.mine)})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout + done.stderr

    def test_from_beginning_to_end(self):
        self.assertRegex(self.run_it("exercise"), r"\n  05_coalescing +repair   - ")
        self.assertRegex(self.run_it("hint", "coalescing", code=2), "has not been begun")
        self.assertRegex(self.run_it("exercise", "coalescing"), "(?s)^05_coalescing: .*Your file: ")
        self.assertEqual(self.file.read_text(), (EXERCISE / "start.cu").read_text())
        self.assertRegex(self.run_it("exercise"), r"05_coalescing +repair   begun ")

        said = self.run_it("exercise", "5", code=1)
        self.assertIn("ok    the squares are right", said)
        self.assertRegex(said, r"wrong For 4096 numbers, a warp's load takes 32\s+sectors")
        self.assertIn("Hint 1 of 3", self.run_it("hint", "5"))
        self.assertIn("Hint 2 of 3", self.run_it("hint", "5"))
        self.assertIn("is not solved yet", self.run_it("solution", "5", code=2))

        self.file.write_text((EXERCISE / "solution.cu").read_text())
        self.assertIn("05_coalescing: solved.", self.run_it("exercise", "coalescing"))
        self.assertRegex(self.run_it("exercise"), r"05_coalescing +repair   solved ")
        self.assertEqual(self.run_it("solution", "5"), (EXERCISE / "solution.cu").read_text())
        self.file.write_text(self.file.read_text() + "// changed\n")
        self.assertRegex(self.run_it("exercise"), r"05_coalescing +repair   changed ")

    @unittest.skipIf(shutil.which("nvidia-smi"), "there is a GPU")
    def test_without_a_gpu_none_is_used(self):
        self.run_it("exercise", "coalescing")
        self.assertRegex(self.run_it("exercise", "coalescing", "--on-gpu", code=2),
                         "there is no nv(cc|idia-smi) here; --on-gpu needs ")

    def test_an_edit_that_does_not_compile(self):
        self.run_it("exercise", "coalescing")
        self.file.write_text("void square_all(int n, float* x) { nonsense; }\n")
        said = self.run_it("exercise", "coalescing", code=1)
        self.assertIn("It does not compile:", said)
        self.assertIn("05_coalescing.cu:1:36: error: ", said)

    def test_an_edit_is_never_overwritten(self):
        self.mine.mkdir()
        self.file.write_text("my own\n")
        self.run_it("exercise", "coalescing", code=1)
        self.run_it("exercise")
        self.assertEqual(self.file.read_text(), "my own\n")

    def test_a_loop_without_an_end(self):
        self.mine.mkdir()
        self.file.write_text("__global__ void wait() { while (true) {} }\n"
                             "void square_all(int, float*) { wait<<<1, 1>>>(); }\n")
        os.environ["STAGEWISE_EXERCISE_SECONDS"] = "3"
        self.addCleanup(os.environ.pop, "STAGEWISE_EXERCISE_SECONDS")
        self.assertIn("has not finished after 3 seconds", self.run_it("exercise", "coalescing", code=1))

    def test_an_answer_that_ends_the_program(self):
        self.mine.mkdir()
        self.file.write_text("#include <cstdlib>\nvoid square_all(int, float*) { std::exit(0); }\n")
        self.assertIn("ended before the check was done: exit code 0\n", self.run_it("exercise", "coalescing", code=1))

    def test_unknown_names(self):
        self.assertIn("there is no exercise 'nonsense'", self.run_it("exercise", "nonsense", code=2))
        self.assertIn("give a longer part of the name", self.run_it("exercise", "ion", code=2))
        self.assertIn("the following arguments are required: NAME", self.run_it("hint", code=2))

    def test_a_class_is_graded(self):
        for name, file in [("anna", "solution.cu"), ("ben", "wrong/2_by_block.cu"), ("cleo", None)]:
            (self.folder / name).mkdir()
            if file:
                (self.folder / name / "05_coalescing.cu").write_text((EXERCISE / file).read_text())
        said = self.run_it("grade", "anna", "ben", "cleo", "--only", "5", "--reasons")
        self.assertRegex(said, r"(?m)^anna +ok 1/1$")
        self.assertRegex(said, r"(?m)^ben +no 0/1$")
        self.assertRegex(said, r"(?m)^cleo +- 0/1$")
        self.assertRegex(said, r"(?m)^ben 05_coalescing: For 4096 numbers")
        self.assertIn("learner,05_coalescing,solved", self.run_it("grade", "anna", "--only", "5", "--csv"))
        self.assertIn("nobody is no folder", self.run_it("grade", "nobody", code=2))


if __name__ == "__main__":
    unittest.main()
