#!/usr/bin/env python3
"""Tests of ./dev: what it refuses, and that a dry run only says what it would do."""
import os
import pathlib
import pty
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
        self.refused("asan clang dev fuzz release tsan wasm", "build", "nonsense")
        self.refused("safetensors tokenizer_json", "fuzz", "nonsense")
        self.refused("nonsense", "check", "nonsense")
        self.refused("nonsense", "setup", "nonsense")
        self.refused("seconds", "fuzz", "safetensors", "long")
        for part in ("0/4", "5/4", "x/y", "1/0"):
            self.refused(f'"{part}" is no shard', "test", "all", part)

    def test_surplus_arguments_are_named(self):
        for words in (("build", "release"), ("test", "formats"), ("fuzz", "gguf", "5"),
                      ("setup", "check"), ("format",)):
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

    def test_a_dry_run_says_what_it_would_do(self):
        for words, mention in ((("fuzz", "safetensors", "300"), "fuzz_safetensors for 300 s"),
                               (("build", "release"), "ninja"), (("test", "formats"), "ctest"),
                               (("test",), "-LE matrix"), (("test", "all"), "-LE quick"),
                               (("format",), "clang-format-22"), (("run", "-p", "x"), "run -p x")):
            with self.subTest(words[0]):
                answer = dev("--dry-run", *words)
                self.assertEqual(answer.returncode, 0, answer)
                self.assertIn("would run", answer.stderr)
                self.assertIn(mention, answer.stderr)


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
