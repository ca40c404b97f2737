#!/usr/bin/env python3
"""Tests of datasets/download.sh, with small files from a server on this machine."""

import gzip
import hashlib
import http.server
import io
import os
import pathlib
import re
import socket
import subprocess
import tarfile
import tempfile
import threading
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "datasets" / "download.sh"
WHOLESALE = "wholesale/wholesale-customers.csv"
TABLE = b"Channel,Region,Fresh\n1,2,3\n2,1,4\n" * 100
NAMES = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
]


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves what is in server.files, also from the middle on, as a download that continues asks."""

    def do_GET(self):
        content = self.server.files.get(self.path)
        span = self.headers.get("Range")
        self.server.requests.append((self.path, span))
        if content is None:
            return self.send_error(404)
        begin = 0
        if span and self.server.continues:
            begin = int(re.fullmatch(r"bytes=(\d+)-", span).group(1))
            if begin >= len(content):
                return self.send_error(416)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        self.wfile.write(content[begin:])

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    """Serves these files while it is open."""

    def __init__(self, files, continues=True):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.continues, self.requests = files, continues, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *error):
        self.shutdown()
        super().__exit__(*error)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


def unused_url():
    """An address where nobody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def mnist(name="mnist"):
    return {f"/{name}/{file}.gz": gzip.compress(file.encode() * 1000) for file in NAMES}


def archive():
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        info = tarfile.TarInfo("cifar-10-batches-bin/test_batch.bin")
        info.size = 5
        tar.addfile(info, io.BytesIO(b"abcde"))
    return buffer.getvalue()


class Download(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name) / "data"
        self.sums = pathlib.Path(folder.name) / "sums.txt"
        self.sums.write_text("# none\n")

    def know(self, files):
        """Writes the list of checksums; of a name without .gz, that of the contents."""
        lines = [f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in files.items()]
        self.sums.write_text("# a comment\n" + "\n".join(lines) + "\n")

    def run_script(self, *arguments, code=0):
        environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        result = subprocess.run(
            [SCRIPT, "--dir", self.dir, "--checksums", self.sums, *arguments],
            capture_output=True, text=True, env=environment, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def test_complete_download(self):
        files = mnist() | mnist("fashion-mnist")
        files |= {f"/{WHOLESALE}": TABLE, "/cifar10/cifar-10-binary.tar.gz": archive()}
        self.know({k[1:-3]: gzip.decompress(v) for k, v in mnist().items()}
                  | {k[1:]: v for k, v in mnist("fashion-mnist").items()})
        with Server(files) as server:
            result = self.run_script("--base-url", server.url)
            self.assertIn("All there", result.stdout)
            for path, content in files.items():
                self.assertEqual((self.dir / path[1:]).read_bytes(), content)
            unpacked = self.dir / "cifar10/cifar-10-batches-bin/test_batch.bin"
            self.assertEqual(unpacked.read_bytes(), b"abcde")
            self.assertEqual(list(self.dir.rglob("*.part")), [])
            # Once more: nothing is fetched again.
            before = len(server.requests)
            self.run_script("--base-url", server.url, "mnist", "wholesale")
            self.assertEqual(len(server.requests), before)

    def fetch(self, served, *mirrors, code=0, continues=True):
        """Asks a server that has this table for it, after those mirrors. Returns what the script says, and what the
        server was asked for."""
        with Server({f"/{WHOLESALE}": served}, continues) as server:
            urls = [word for url in (*mirrors, server.url) for word in ("--base-url", url)]
            return self.run_script(*urls, "wholesale", code=code), server.requests

    def put(self, name, content):
        """What is there before."""
        (self.dir / name).parent.mkdir(parents=True, exist_ok=True)
        (self.dir / name).write_bytes(content)

    def expect_table(self):
        self.assertEqual((self.dir / WHOLESALE).read_bytes(), TABLE)
        self.assertEqual(list(self.dir.rglob("*.part")), [])

    def test_partial_file_is_continued(self):
        self.know({WHOLESALE: TABLE})
        self.put(f"{WHOLESALE}.part", TABLE[:1000])
        _, requests = self.fetch(TABLE)
        self.assertEqual([span for _, span in requests], ["bytes=1000-"])
        self.expect_table()

    def test_partial_file_that_does_not_fit_is_fetched_again(self):
        self.know({WHOLESALE: TABLE})
        for left_over in (b"x" * 1000, b"x" * len(TABLE), TABLE + b"more"):
            for continues in (True, False):
                with self.subTest(size=len(left_over), continues=continues):
                    (self.dir / WHOLESALE).unlink(missing_ok=True)
                    self.put(f"{WHOLESALE}.part", left_over)
                    self.fetch(TABLE, continues=continues)
                    self.expect_table()

    def test_wrong_checksum_is_refused_and_removed(self):
        self.know({WHOLESALE: TABLE})
        result, _ = self.fetch(TABLE[:-1], code=1)
        self.assertIn(f"{WHOLESALE} could not be fetched", result.stderr)
        self.assertIn(f"the SHA-256 of {WHOLESALE} is", result.stderr)
        self.assertIn(hashlib.sha256(TABLE).hexdigest() + " was expected", result.stderr)
        self.assertEqual(list((self.dir / "wholesale").iterdir()), [])

    def test_wrong_contents_of_compressed_files_are_refused(self):
        files = mnist()
        self.know({k[1:-3]: gzip.decompress(v) for k, v in files.items()})
        # The same contents, compressed in another way, are right; others, and no gzip, are not.
        last = f"/mnist/{NAMES[3]}.gz"
        files[last] = gzip.compress(NAMES[3].encode() * 1000, 1)
        with Server(files) as server:
            self.run_script("--base-url", server.url, "mnist")
        for bad in (gzip.compress(b"other"), files[last][:-9], b"<html>"):
            (self.dir / last[1:]).unlink(missing_ok=True)
            with Server(files | {last: bad}) as server:
                result = self.run_script("--base-url", server.url, "mnist", code=1)
            self.assertIn(f"the SHA-256 of mnist/{NAMES[3]} is", result.stderr)
            self.assertFalse((self.dir / last[1:]).exists())

    def test_file_that_has_become_wrong_is_fetched_again(self):
        self.know({WHOLESALE: TABLE})
        self.put(WHOLESALE, TABLE[:-5])
        self.assertIn("it is fetched again", self.fetch(TABLE)[0].stdout)
        self.expect_table()

    def test_second_mirror_is_used(self):
        self.know({WHOLESALE: TABLE})
        with Server({}) as empty, Server({f"/{WHOLESALE}": b"x" * 5000}) as wrong:
            for first in (unused_url(), empty.url, wrong.url):
                with self.subTest(first=first):
                    (self.dir / WHOLESALE).unlink(missing_ok=True)
                    self.fetch(TABLE, first)
                    self.expect_table()

    def test_offline_is_said_in_a_sentence(self):
        result = self.run_script("--base-url", unused_url(), "mnist", code=1)
        lines = result.stderr.splitlines()
        self.assertRegex(
            lines[0],
            r"^download\.sh: mnist/train-images-idx3-ubyte\.gz could not be fetched \(http.*: the "
            r"host could not be reached\); is this machine online\?$")
        self.assertEqual(lines[1:], ["download.sh: not complete: mnist"])

    def test_first_download_is_remembered(self):
        self.assertIn("no checksum is known", self.fetch(TABLE)[0].stdout)
        self.assertEqual((self.dir / "first-download.txt").read_text(),
                         f"{hashlib.sha256(TABLE).hexdigest()}  {WHOLESALE}\n")
        (self.dir / WHOLESALE).unlink()
        self.fetch(TABLE + b"1,1,1\n", code=1)
        self.assertFalse((self.dir / WHOLESALE).exists())

    def test_error_page_is_no_table(self):
        self.assertIn("does not begin with the names of the columns",
                      self.fetch(b"<html>please log in</html>", code=1)[0].stderr)
        self.assertFalse((self.dir / "first-download.txt").exists())

    def test_wrong_usage(self):
        for arguments, sentence in [
            (["minst"], "download.sh: minst is not a data set that can be fetched; those are mnist "
                        "fashion-mnist cifar10 wholesale"),
            (["--mirror"], "download.sh: --mirror is not an option; --help lists what is"),
            (["--dir"], "download.sh: --dir needs a value"),
            (["--base-url", ""], "download.sh: --base-url needs a value"),
        ]:
            self.assertEqual(self.run_script(*arguments, code=2).stderr, sentence + "\n")
        self.assertIn("--base-url URL", self.run_script("--help").stdout)


if __name__ == "__main__":
    unittest.main()
