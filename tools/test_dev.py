#!/usr/bin/env python3
"""Tests of ./dev: what it refuses, and that a dry run only says what it would do."""
import http.client
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = "ninja: Entering\n[53/278] Building src/a.o\nwarning: x"
sys.path.insert(0, str(ROOT / "tools" / "dev"))
import shard  # noqa: E402


def dev(*arguments):
    return subprocess.run([ROOT / "dev", *arguments], capture_output=True, text=True, timeout=60)


class Dev(unittest.TestCase):
    def refused(self, mention, *arguments):
        """Also in a dry run, so that the test builds nothing where a mistake is not seen."""
        for words in (("--dry-run", *arguments), (*arguments, "--dry-run")):
            answer = dev(*words)
            self.assertEqual(answer.returncode, 2, answer)
            self.assertIn(mention, answer.stderr)
            self.assertNotIn("would run", answer.stderr)

    def test_unknown_names_are_answered_with_the_known_ones(self):
        self.refused("arm64 asan clang dev fuzz macos portable portable-arm64 release tsan wasm windows", "build", "nonsense")
        self.refused("linux-x86_64 linux-aarch64 windows-x86_64", "package", "nonsense")
        self.refused("folder tar wheel deb npm", "package", "linux-x86_64", "nonsense")
        self.refused("folder zip", "package", "windows-x86_64", "deb")
        self.refused("safetensors nemo tokenizer_json", "fuzz", "nonsense")
        self.refused("nonsense", "check", "nonsense")
        self.refused("nonsense", "setup", "nonsense")
        self.refused("seconds", "fuzz", "safetensors", "long")
        self.refused("--port N or --build DIR", "web", "nonsense")
        self.refused("--port of ./dev web needs a value", "web", "--port")
        for port in ("0", "65536", "x", "-1"):
            self.refused(f'"{port}" is no port', "web", "--port", port)
        for part in ("0/4", "5/4", "x/y", "1/0"):
            self.refused(f'"{part}" is no shard', "test", "all", part)

    def test_surplus_arguments_are_named(self):
        for words in (("build", "release"), ("test", "formats"), ("fuzz", "gguf", "5"),
                      ("setup", "check"), ("format",), ("release",)):
            with self.subTest(words[0]):
                self.refused('"surplus" is too much', *words, "surplus")

    def test_a_build_shows_how_far_it_is_on_a_terminal(self):
        """What ninja prints goes into the log; its counter is seen on the way, and gone after it."""
        functions = (ROOT / "dev").read_text().partition("into_log() {")[2].partition("\n}\n")[0]
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "log")
            script = f"log={log}; into_log() {{{functions}\n}}; printf '%b' '{TEXT}' | into_log"
            main, terminal = pty.openpty()
            subprocess.run(["bash", "-c", script], stderr=terminal, check=True, timeout=60)
            os.close(terminal)
            seen = os.read(main, 1000).decode()
            os.close(main)
            self.assertEqual(seen, "\r\033[Kdev: [53/278] a.o\r\033[K")
            self.assertEqual(log.read_text(), TEXT.replace("\n", "\n") + "\n")
            self.assertEqual(subprocess.run(["bash", "-c", script], capture_output=True, check=True,
                                            timeout=60).stderr, b"")

    @unittest.skipUnless(shutil.which("ninja"), "ninja is not installed")
    def test_steps_are_counted_where_cmake_looks_for_new_files_first(self):
        """Its build.ninja depends on a check that always runs, with which ninja -n ends."""
        function = (ROOT / "dev").read_text().partition("steps_of() {")[2].partition("\n}\n")[0]
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "build.ninja").write_text(
                "rule make\n  command = touch $out\n  generator = 1\n"
                "build always: phony\nbuild globs: make always\nbuild build.ninja: make globs\n"
                "build a: make\nbuild b: make a\nbuild c: make\ndefault b c\n")
            pathlib.Path(folder, "globs").touch()

            def steps(*targets):
                return subprocess.run(["bash", "-c", f"steps_of() {{{function}\n}}; steps_of \"$@\"", "-", folder, *targets],
                                      capture_output=True, text=True, check=True, timeout=60).stdout
            self.assertEqual((steps(), steps("b")), ("3\n", "2\n"))
            subprocess.run(["ninja", "-C", folder, "-f", "steps.ninja", "b"], capture_output=True, check=True, timeout=60)
            self.assertEqual(steps("b"), "0\n")

    def test_a_dry_run_says_what_it_would_do(self):
        for words, mention in ((("fuzz", "safetensors", "300"), "fuzz_safetensors for 300 s"),
                               (("build", "release"), "ninja"), (("build", "arm64"), "build/arm64"), (("test", "formats"), "ctest"),
                               (("test",), "-LE matrix"), (("test", "all"), "-LE quick"),
                               (("format",), "clang-format-22"), (("run", "-p", "x"), "run -p x"),
                               (("web", "--port", "8100"), "serve.py web/site/dist --port 8100"),
                               (("web", "--build", "site"), "write the site to site")):
            with self.subTest(words[0]):
                answer = dev("--dry-run", *words)
                self.assertEqual(answer.returncode, 0, answer)
                self.assertIn("would run", answer.stderr)
                self.assertIn(mention, answer.stderr)


    def test_a_site_is_not_written_over_other_files(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "mine.txt").write_text("mine")
            answer = dev("--dry-run", "web", "--build", folder)
            self.assertEqual(answer.returncode, 1, answer)
            self.assertIn("has other files in it", answer.stderr)


class Serve(unittest.TestCase):
    """tools/dev/serve.py, which ./dev web ends with."""
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name, "site")
        (cls.folder / "docs").mkdir(parents=True)
        (cls.folder / "index.html").write_text("first")
        (cls.folder / "a.wasm").write_bytes(bytes(range(100)))
        (cls.folder.parent / "secret").write_text("secret")
        (cls.folder.parent / "also").mkdir()
        (cls.folder.parent / "also" / "b.json").write_text("{}")
        words = [sys.executable, ROOT / "tools/dev/serve.py", cls.folder, "--port"]
        cls.server = subprocess.Popen([*words, "0", "--also", f"/more/={cls.folder.parent / 'also'}"],
                                      stdout=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.server.stdout.close)
        cls.addClassCleanup(cls.server.wait)
        cls.addClassCleanup(cls.server.send_signal, signal.SIGINT)
        cls.port = int(re.search(r"127\.0\.0\.1:(\d+)/", cls.server.stdout.readline())[1])
        cls.words = words

    def get(self, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(headers.pop("method", "GET"), path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    def test_gives_files_with_their_types_and_asks_for_no_cache(self):
        for path, kind, body in (("/", "text/html; charset=utf-8", b"first"),
                                 ("/a.wasm?x=1", "application/wasm", bytes(range(100))),
                                 ("/more/b.json", "application/json", b"{}")):
            answer, found = self.get(path)
            self.assertEqual((answer.status, answer.headers["Content-Type"], found), (200, kind, body))
            self.assertEqual(answer.headers["Cache-Control"], "no-cache")
        self.assertEqual(self.get("/a.wasm", method="HEAD")[1], b"")

    def test_gives_parts(self):
        whole = bytes(range(100))
        for asked, part in (("10-19", whole[10:20]), ("90-", whole[90:]), ("-5", whole[-5:]), ("98-500", whole[98:])):
            answer, found = self.get("/a.wasm", Range=f"bytes={asked}")
            self.assertEqual((answer.status, found), (206, part), asked)
        self.assertEqual(self.get("/a.wasm", Range="bytes=3-7")[0].headers["Content-Range"], "bytes 3-7/100")
        self.assertEqual(self.get("/a.wasm", Range="bytes=100-")[0].status, 416)
        for senseless in ("bytes=9-3", "bytes=-", "lines=1-2"):
            self.assertEqual(self.get("/a.wasm", Range=senseless)[0].status, 200, senseless)

    def test_gives_nothing_else(self):
        for path in ("/../secret", "/%2e%2e/secret", "/more/../../secret", "/docs", "/none", "/%00"):
            self.assertEqual(self.get(path)[0].status, 404, path)

    def test_a_port_that_is_taken_is_an_error(self):
        answer = subprocess.run([*self.words, str(self.port)], capture_output=True, text=True, timeout=20)
        self.assertEqual(answer.returncode, 1)
        self.assertEqual(answer.stderr, f"error: Port {self.port} is taken; --port N chooses another one.\n")


class Shards(unittest.TestCase):
    @staticmethod
    def entry(name, label="", google=False):
        environment = ["GTEST_OUTPUT=xml:x"] if google else []
        return {"name": name, "properties": [{"name": "LABELS", "value": [label]},
                                             {"name": "ENVIRONMENT", "value": environment}]}

    def test_hold_every_script_once_every_program_always_and_no_quick_entry(self):
        tests = [self.entry(f"script{i}") for i in range(7)]
        tests += [self.entry("program", "matrix", google=True),
                  self.entry("program_quick", "quick", google=True)]
        parts = [shard.entries_of(tests, k, 4) for k in range(1, 5)]
        for part in parts:
            self.assertEqual(part.count("program"), 1)
            self.assertNotIn("program_quick", part)
        scripts = sorted(name for part in parts for name in part if name.startswith("script"))
        self.assertEqual(scripts, [f"script{i}" for i in range(7)])


if __name__ == "__main__":
    unittest.main()
