#!/usr/bin/env python3
"""./run.sh exercise as a learner uses it, on an exercise that is quickly checked."""

import concurrent.futures
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
EXERCISE = REPOSITORY / "exercises" / "05_coalescing"
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "exercises"))

import exercise as program  # noqa: E402: the path comes first


def write_script(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


class ExerciseTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.mine = self.folder / "mine"
        self.file = self.mine / "05_coalescing.cu"

    def run_it(self, *words, code=0, **settings):
        """What a command prints, with these variables set; it must end with this exit code."""
        done = subprocess.run([REPOSITORY / "run.sh", *words, "--no-install"], capture_output=True, text=True, check=False,
                              cwd=self.folder, env={**os.environ, "STAGEWISE_EXERCISES": str(self.mine), **settings})
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

    def test_nvcc_and_its_tools_need_not_be_on_the_path(self):
        self.run_it("exercise", "coalescing")
        # A compiler whose programs find nothing wrong, and a tool beside it that does.
        write_script(self.folder / "toolkit" / "nvcc",
                     'while [ "$1" != -o ]; do shift; done; printf "#!/bin/sh\\necho done\\n" >"$2"; chmod +x "$2"\n')
        write_script(self.folder / "bin" / "nvidia-smi", 'echo "GPU 0: made up"\n')
        settings = {"CUDACXX": str(self.folder / "toolkit" / "nvcc"),
                    "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        write_script(self.folder / "toolkit" / "compute-sanitizer", 'echo "===== Race: made up"; exec "$3"\n')
        self.assertIn("compute-sanitizer: Race: made up",
                      self.run_it("exercise", "coalescing", "--on-gpu", code=1, **settings))
        write_script(self.folder / "toolkit" / "compute-sanitizer", 'exec "$3"\n')
        self.assertIn("right on this GPU", self.run_it("exercise", "coalescing", "--on-gpu", **settings))
        settings["CUDACXX"] += "-of-old"
        self.assertIn("there is no nvcc here", self.run_it("exercise", "coalescing", "--on-gpu", code=2, **settings))

    def test_the_compiler_that_a_variable_names(self):
        self.mine.mkdir()
        for name, suffix in (("01_derivative", ".cpp"), ("05_coalescing", ".cu")):
            shutil.copy(REPOSITORY / "exercises" / name / f"solution{suffix}", self.mine / f"{name}{suffix}")
            self.assertIn("solved.", self.run_it("exercise", name, CXX="env c++ -DUNUSED"))
            for nonsense in ("no-such-compiler", " ", "'"):
                self.assertIn(f"exercise: there is no compiler '{nonsense}' here; ",
                              self.run_it("exercise", name, code=2, CXX=nonsense))
        done = subprocess.run([REPOSITORY / "cuda_on_cpu" / "compile.sh", self.folder, self.file, "a"], text=True,
                              capture_output=True, check=False, env={**os.environ, "CXX": "no-such-compiler"})
        self.assertEqual((done.returncode, done.stderr),
                         (1, "compile.sh: there is no compiler 'no-such-compiler' here; the variable CXX names another\n"))

    def test_a_folder_with_a_comma(self):
        """In which what the checks have in common was compiled."""
        self.run_it("exercise", "coalescing")
        self.run_it("exercise", "coalescing", code=1)  # after this, it is there
        with_comma = self.folder / "built, once"
        with_comma.symlink_to(program.RUNTIME)
        with unittest.mock.patch.object(program, "RUNTIME", with_comma):
            self.assertEqual(program.check(program.find("5"), EXERCISE / "solution.cu").complaint, "")

    def test_damaged_marks_are_kept(self):
        self.run_it("exercise", "coalescing")
        self.run_it("hint", "5")
        states = self.mine / "states.json"
        whole = states.read_text()
        for text in ("", whole[:-5], "[]", "1", "null", "[" * 100_000, '{"05_coalescing": 1}',
                     '{"05_coalescing": {"hints": "1"}}', '{"05_coalescing": {"solved": 1}}', "\x00"):
            states.write_text(text)
            for words in (("exercise",), ("hint", "5"), ("solution", "5")):
                said = self.run_it(*words, code=1)
                self.assertRegex(said, r"^exercise: .*/states\.json does not say what has been solved: .*\.\n$")
            self.assertEqual(states.read_text(), text)
        states.write_text(whole)
        self.assertIn("Hint 2 of 3", self.run_it("hint", "5"))

    def test_marks_behind_a_link(self):
        self.run_it("exercise", "coalescing")
        target = self.folder / "elsewhere.json"
        (self.mine / "states.json").symlink_to(target)
        self.run_it("hint", "5")
        self.assertIn("Hint 2 of 3", self.run_it("hint", "5"))
        self.assertTrue((self.mine / "states.json").is_symlink())
        self.assertEqual(json.loads(target.read_text()), {"05_coalescing": {"hints": 2}})

    def test_marks_of_several_terminals(self):
        self.mine.mkdir()
        os.environ["STAGEWISE_EXERCISES"] = str(self.mine)
        self.addCleanup(os.environ.pop, "STAGEWISE_EXERCISES")

        def one_more(seen):
            time.sleep(0.01)  # in which the others would read what this is about to change
            return (seen or 0) + 1

        chosen = program.exercises()[:4]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for job in [pool.submit(program.Workplace().remember, one, "hints", one_more) for one in 4 * chosen]:
                job.result()
        workplace = program.Workplace()
        self.assertEqual([workplace.recall(one, "hints") for one in chosen], [4, 4, 4, 4])

    def test_a_file_system_without_locks(self):
        self.mine.mkdir()
        refusal = OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
        with unittest.mock.patch.dict(os.environ, STAGEWISE_EXERCISES=str(self.mine)), \
                unittest.mock.patch("fcntl.flock", side_effect=refusal), self.assertRaises(OSError) as raised:
            program.Workplace().remember(program.find("5"), "hints", lambda _: 1)
        self.assertEqual((raised.exception.errno, raised.exception.filename),
                         (errno.ENOLCK, str(self.mine / "states.json.lock")))

    def test_a_full_disk(self):
        self.run_it("exercise", "coalescing")
        self.run_it("hint", "5")
        # No file may grow, which a program is told as if the disk were full.
        done = subprocess.run(["bash", "-c", 'ulimit -f 0; exec "$@"', "-", sys.executable,
                               REPOSITORY / "exercises" / "exercise.py", "hint", "5"], capture_output=True, text=True,
                              check=False, env={**os.environ, "STAGEWISE_EXERCISES": str(self.mine)})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^exercise: cannot use .*/states\.json\.new: File too large\.\n$")
        self.assertIn("Hint 2 of 3", self.run_it("hint", "5"))

    def test_answers_that_cannot_be_checked(self):
        self.mine.mkdir()
        loop = "__global__ void wait() { while (true) {} }\nvoid square_all(int, float*) { wait<<<1, 1>>>(); }\n"
        for text, expected in (("void square_all(int n, float* x) { nonsense; }\n",
                                r"(?s)It does not compile:.*05_coalescing\.cu:1:36: error: "),
                               (loop, "has not finished after 3 seconds"),
                               ("#include <cstdlib>\nvoid square_all(int, float*) { std::exit(0); }\n",
                                "ended before the check was done: exit code 0\n")):
            self.file.write_text(text)
            self.assertRegex(self.run_it("exercise", "coalescing", code=1, STAGEWISE_EXERCISE_SECONDS="3"), expected)
            self.run_it("exercise")
            self.assertEqual(self.file.read_text(), text)  # never overwritten

    def test_unknown_names(self):
        self.assertIn("there is no exercise 'nonsense'", self.run_it("exercise", "nonsense", code=2))
        self.assertIn("give a longer part of the name", self.run_it("exercise", "ion", code=2))
        self.assertIn("NAME is missing; ./run.sh hint --help", self.run_it("hint", code=2))

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
