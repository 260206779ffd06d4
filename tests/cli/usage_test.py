#!/usr/bin/env python3
"""How the program reads its command line: which word belongs to which flag, and what it refuses.

Run by CTest; by hand as cli_test.py.
"""
import json
import os
import shutil
import tempfile
import unittest

import program
from cli_test import CPU, REFERENCE, Cli
from program import model

STORYTELLER = os.path.join(program.SOURCE, "models", "storyteller")


class Values(Cli):
    def test_a_flag_takes_one_value_and_leaves_the_model_alone(self):
        # With MODEL swallowed, the built-in model would run in place of one without a tokenizer.
        for flags in [
            ("--stop", "king"),
            ("--disable-pass", "qkv"),
            ("--force", "rms_norm=rms_norm.cpu"),
            ("--stop", "king", "--stop", "queen"),
        ]:
            with self.subTest(flags):
                self.refused(3, "llama_untied", "run", *CPU, "-p", "x", *flags,
                             model("llama_untied"))
        answer = self.ok("embed", "--pooling", "mean", *CPU, "-p", "A fox.", STORYTELLER)
        self.assertEqual(answer.out.count("\n"), 1)

    def test_repeatable_flags_are_read_each_time(self):
        flags = ("--stop", "nowhere", "--stop", " king")
        answer = self.ok("run", *CPU, "-p", "Once upon a time", "--greedy", "--json", *flags)
        self.assertEqual(json.loads(answer.out)["text"], ", there lived a")

    def test_seeds_are_within_the_numbers_of_json(self):
        for seed in ("-1", "9223372036854775808", "99999999999999999999999", "1.5", "x", ""):
            with self.subTest(seed):
                self.refused(2, ["--seed", f'"{seed}"', "from 0 to 9223372036854775807"], "run",
                             *CPU, "-p", "x", "--seed", seed)
        answer = self.ok("run", *CPU, "-p", "x", "-n", 1, "--json", "--seed", 2**63 - 1)
        self.assertEqual(json.loads(answer.out)["seed"], 2**63 - 1)

    def test_values_that_are_empty_are_no_defaults(self):
        for flag, *command in [
            ("MODEL", "run", "", "-p", "x", "-n", 1),
            ("MODEL", "tokenize", ""),
            ("MODEL", "template", "-m", ""),
            ("--quantize", "run", "-p", "x", "-n", 1, "--quantize", ""),
            ("--stop", "run", "-p", "x", "-n", 1, "--stop", ""),
            ("--html", "profile", "-r", 1, *CPU, "--html", ""),
            ("--trace", "profile", "-r", 1, *CPU, "--trace", ""),
            ("--pooling", "embed", STORYTELLER, "-p", "x", "--pooling", ""),
        ]:
            with self.subTest(command):
                self.refused(2, f'{flag} is "", expected', *command)

    def test_flags_without_effect_are_refused(self):
        self.refused(2, ["--logprobs", "--json"], "run", "-p", "x", "-n", 1, *CPU, "--logprobs", 3)
        self.refused(2, ["--skip-special", "--decode"], "tokenize", "--skip-special", text='"x"')
        self.refused(2, ["--no-special", "--decode"], "tokenize", "--decode", "--no-special",
                     text="[1]")

    def test_ids_beyond_the_vocabulary_are_not_decoded(self):
        self.ok("tokenize", "--decode", text="[8191]\n")
        self.refused(3, ["line 1", "8192 is beyond the vocabulary of 8192 tokens"], "tokenize",
                     "--decode", text="[8192]\n")
        self.refused(3, "9000000000 is beyond", "tokenize", "--decode", text="[9000000000]\n")

    def test_what_is_no_number_is_answered_with_what_is_expected(self):
        for flag, value, expected in [
            ("--max-tokens", "-3", "a whole number from -1 to 2147483647"),
            ("--top-k", "many", "a whole number from 0 to 4294967295"),
            ("--temp", "warm", "a number"),
        ]:
            with self.subTest(flag):
                self.refused(2, f'{flag} is "{value}", expected {expected}', "run", *CPU,
                             "-p", "x", flag, value)
        for command in (("run", "-p", "x"), ("doctor",)):
            answer = self.refused(2, ["--device", "65535"], *command, "--device", "-1")
            self.assertLess(len(answer.errors[0]), 100)

    def test_a_flag_with_a_value_is_not_called_a_number(self):
        answer = self.refused(2, "--json", "run", *CPU, "-p", "x", "--json=maybe")
        self.assertNotIn("number", answer.errors[0])

    def test_mistakes_lead_to_the_help_of_their_command(self):
        self.refused(2, "(see tokamak logits --help)", "logits")
        self.refused(2, "(see tokamak --help)", "frobnicate")

    def test_messages_say_what_was_given(self):
        self.refused(2, '"linear=,"', "run", "-p", "x", *CPU, "--force", "linear=,")
        self.refused(3, ["messages is missing", "a list"], "template", text="{}")
        self.refused(3, ["messages is a string", "a list"], "template", text='{"messages": "x"}')
        self.refused(3, "nofile.gguf: there is no such folder or file", "run", "nofile.gguf", "-p",
                     "x")
        answer = program.tokamak("chat", *CPU, text="/system\n/system \n/frob\n")
        self.assertEqual((answer.status, answer.errors), (3, ["error: /system needs a text."] * 2 + [
            "error: There is no command /frob; /help lists them."]))

    def test_every_flag_for_experts_has_an_example(self):
        examples = "".join(self.ok(command, "--help").out.partition("Examples:")[2]
                           for command in ("run", "logits", "inspect", "bench", "profile"))
        for flag in ("--force", "--disable-pass", "--quantize", "--trace", "--trace-kernels",
                     "--kv", "--chunk", "--stop"):
            self.assertIn(f" {flag} ", examples)

    def test_what_cannot_end_well_does_not_begin(self):
        self.ok("logits", "--tokens", "1,2", "--steps", 7, "--context", 8, *CPU)
        self.refused(3, ["--tokens has 2", "--steps is 8", "9 positions of 8", "--context"], "logits",
                     "--tokens", "1,2", "--steps", 8, "--context", 8, *CPU)
        self.refused(4, "times kernels", "tune", *CPU)
        for flag in ("--html", "--trace"):
            self.refused(6, ["/nonexistent/x", "No such file or directory"], "profile", *CPU,
                         model("no_such_model"), flag, "/nonexistent/x")

    def test_what_an_earlier_profile_has_left_survives_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.html")
            with open(page, "w", encoding="utf-8") as file:
                file.write("an earlier page, longer than a trace")
            self.refused(3, "no_such_model", "profile", "no_such_model", *CPU, "--trace", page)
            with open(page, encoding="utf-8") as file:
                self.assertEqual(file.read(), "an earlier page, longer than a trace")
            self.ok("profile", "-r", 1, *CPU, "--trace", page)
            with open(page, encoding="utf-8") as file:
                self.assertIn("traceEvents", json.load(file))


class Documents(Cli):
    def test_the_plan_is_shown_as_it_is_printed(self):
        with open(os.path.join(program.SOURCE, "docs", "kernels-and-plans.md"),
                  encoding="utf-8") as file:
            shown = file.read().partition("\n### Format\n")[2].split("```\n")[1].splitlines()
        printed = self.ok("inspect", "--plan", "--text", *REFERENCE).out.splitlines()
        self.assertGreater(len(shown), 3)
        for line in shown:
            self.assertIn(line, printed)


class EmptyFiles(Cli):
    def test_a_file_of_no_bytes_is_not_taken_for_none(self):
        for name in ("config.json", "generation_config.json", "tokenizer.json",
                     "tokenizer_config.json", "tokamak.json"):
            with self.subTest(name), tempfile.TemporaryDirectory() as place:
                folder = os.path.join(place, "model")
                shutil.copytree(STORYTELLER, folder)
                path = os.path.join(folder, name)
                open(path, "w", encoding="utf-8").close()
                self.refused(3, f"{path}: The file is empty.", "run", folder, "-p", "x", "-n", 1,
                             *CPU)


if __name__ == "__main__":
    program.main(unittest)
