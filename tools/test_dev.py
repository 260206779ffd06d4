#!/usr/bin/env python3
"""Tests of ./dev: what it refuses, and that a dry run only says what it would do."""
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


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

    def test_surplus_arguments_are_named(self):
        for words in (("build", "release"), ("test", "formats"), ("fuzz", "gguf", "5"),
                      ("setup", "check"), ("format",)):
            with self.subTest(words[0]):
                self.refused('"surplus" is too much', *words, "surplus")

    def test_a_dry_run_says_what_it_would_do(self):
        for words, mention in ((("fuzz", "safetensors", "300"), "fuzz_safetensors for 300 s"),
                               (("build", "release"), "ninja"), (("test", "formats"), "ctest"),
                               (("format",), "clang-format-22"), (("run", "-p", "x"), "run -p x")):
            with self.subTest(words[0]):
                answer = dev("--dry-run", *words)
                self.assertEqual(answer.returncode, 0, answer)
                self.assertIn("would run", answer.stderr)
                self.assertIn(mention, answer.stderr)


if __name__ == "__main__":
    unittest.main()
