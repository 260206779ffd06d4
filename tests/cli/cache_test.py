#!/usr/bin/env python3
"""What is kept between runs: how it is shown, limited and removed; and what reaches a terminal.

Run by CTest; by hand:
  TOKAMAK_PROGRAM=build/release/bin/tokamak TOKAMAK_SOURCE_DIR=. python3 tests/cli/cache_test.py
"""
import json
import os
import pty
import subprocess
import tempfile
import unittest

import program
from cli_test import CPU, Cli
from program import PROGRAM, environment, tokamak

FLAGS = ("--greedy", "-n", 2, "--no-self-test")


class Cache(Cli):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def env(self, **changes):
        return environment(TOKAMAK_CACHE_DIR=self.folder.name, **changes)

    def put(self, name, size, days=0):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.truncate(size)
        os.utime(path, (os.path.getmtime(path) - 86400 * days,) * 2)
        return path

    def shown(self, **changes):
        """{cache: (entries, bytes)}"""
        rows = json.loads(self.ok("cache", "--json", env=self.env(**changes)).out)
        return {row["cache"]: (row["entries"], row["bytes"]) for row in rows}

    def fill(self):
        self.put("pipelines/a.pipeline", 100)
        self.put("pipelines/b.pipeline", 200, days=40)
        self.put("quantized/c.safetensors", 3000, days=2)
        self.put("self-test/d.json", 10)
        self.put("tuned/e.json", 20)
        self.other = self.put("npm/package.json", 5)

    def test_shows_what_there_is(self):
        nothing = self.ok("cache", env=self.env()).out.splitlines()
        self.assertEqual(len(nothing), 5)
        self.fill()
        self.assertEqual(self.shown(), {"pipelines": (2, 300), "weights": (1, 3000),
                                        "self-test": (1, 10), "tuning": (1, 20)})
        table = self.ok("cache", env=self.env()).out
        self.assertIn("2.93 KiB", table)
        self.assertIn("16.00 GiB", table)
        self.assertIn(os.path.join(self.folder.name, "quantized"), table)

    def test_clears_one_or_all(self):
        self.fill()
        answer = self.ok("cache", "clear", "weights", "--yes", env=self.env())
        self.assertEqual(answer.out, "removed 1 entry, 2.93 KiB freed\n")
        self.assertEqual(self.shown()["weights"], (0, 0))
        self.assertEqual(self.shown()["pipelines"], (2, 300))
        answer = self.ok("cache", "clear", "-y", env=self.env())
        self.assertEqual(answer.out, "removed 4 entries, 330 B freed\n")
        self.assertTrue(os.path.exists(self.other), "it is nobody's cache")
        answer = self.ok("cache", "clear", env=self.env())
        self.assertEqual(answer.out, "removed 0 entries, 0 B freed\n")

    def test_asks_before_it_clears(self):
        self.fill()
        self.refused(2, "Pass --yes to remove 2 entries (300 B) of pipelines", "cache", "clear",
                     "pipelines", env=self.env())
        self.assertEqual(self.shown()["pipelines"], (2, 300))

    def test_prunes_what_is_too_much_or_of_no_use(self):
        self.fill()
        answer = self.ok("cache", "prune", env=self.env())
        self.assertEqual(answer.out, "removed 0 entries, 0 B freed\n")
        self.ok("cache", "prune", "--unused-for", 30, env=self.env())
        self.assertEqual(self.shown()["pipelines"], (1, 100))
        self.ok("cache", "prune", env=self.env(TOKAMAK_WEIGHTS_LIMIT="2K"))
        self.assertEqual(self.shown()["weights"], (0, 0))

    def test_mistakes(self):
        self.refused(2, ('CACHE is "models"', "pipelines, weights, self-test or tuning"),
                     "cache", "clear", "models", env=self.env())
        for command in ((), ("prune",)):
            self.refused(2, 'TOKAMAK_WEIGHTS_LIMIT is "much", expected a number of bytes',
                         "cache", *command, env=self.env(TOKAMAK_WEIGHTS_LIMIT="much"))
        nowhere = environment(TOKAMAK_CACHE_DIR=None, XDG_CACHE_HOME=None, HOME=None)
        self.refused(3, "None of TOKAMAK_CACHE_DIR, XDG_CACHE_HOME and HOME is set", "cache",
                     env=nowhere)
        nowhere.pop("HF_HOME", None)
        nowhere.pop("HF_HUB_CACHE", None)
        self.refused(2, "there is no place for models", "list", env=nowhere)

    def test_quantized_weights_are_used_again_and_told_of_when_they_cannot_be(self):
        run = ("run", "-p", "Once", *CPU, *FLAGS, "--quantize", "q8")
        first = self.ok(*run, env=self.env())
        self.assertEqual(first.notes, [])
        self.assertEqual(self.shown()["weights"][0], 1)
        self.ok("cache", "clear", "-y", env=self.env())
        limited = self.ok(*run, env=self.env(TOKAMAK_WEIGHTS_LIMIT="1K"))
        self.assertEqual(limited.out, first.out)
        self.assertIn("quantizes the weights anew", limited.notes[0])
        self.assertIn("limit of 1.00 KiB, which TOKAMAK_WEIGHTS_LIMIT sets", limited.notes[0])
        self.assertEqual(self.shown()["weights"], (0, 0))

    def test_kernels_that_cannot_be_kept_are_told_of(self):
        self.has_webgpu()
        run = ("run", "-p", "Once", "--backend", "webgpu", *FLAGS)
        limited = self.ok(*run, env=self.env(TOKAMAK_PIPELINES_LIMIT="100"))
        self.assertIn("compiles kernels anew", "".join(limited.notes))
        self.assertIn("limit of 100 B, which TOKAMAK_PIPELINES_LIMIT sets", "".join(limited.notes))
        for _ in range(2):
            answer = self.ok(*run, env=self.env())
            self.assertNotIn("anew", "".join(answer.notes))


class Terminal(Cli):
    """The same bytes into a pipe and, spelled out, to a terminal."""

    RED = "\x1b[31mred\x07"

    def both(self, *arguments):
        """-> (what a terminal gets for both outputs, the answer through pipes)."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                   stdout=theirs, stderr=theirs)
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            shown += piece
        process.wait()
        os.close(ours)
        return shown.decode().replace("\r\n", "\n"), tokamak(*arguments)

    def test_texts_are_spelled_out(self):
        shown, piped = self.both("run", "-p", self.RED, *CPU, *FLAGS)
        self.assertTrue(piped.out.startswith(self.RED), piped)
        self.assertTrue(shown.startswith(r"\x1b[31mred\x07"), shown)
        self.assertNotIn("\x1b", shown.replace("\x1b[K", ""))

    def test_error_messages_are_spelled_out(self):
        shown, piped = self.both("run", self.RED, "-p", "x")
        self.assertIn(self.RED, piped.errors[0])
        self.assertIn(r"\x1b[31mred\x07: there is no such", shown)
        self.assertNotIn("\x1b", shown)


if __name__ == "__main__":
    program.main(unittest)
