#!/usr/bin/env python3
"""tokamak bench: which tests its lists of numbers make, and the forms that its figures have.

Run by CTest; by hand:
  TOKAMAK_PROGRAM=build/release/bin/tokamak TOKAMAK_SOURCE_DIR=. python3 tests/cli/bench_test.py
"""
import csv
import io
import json
import re
import unittest

import program
from program import model, tokamak

SMALL = ("bench", model("llama_untied"), "--backend", "cpu")


class Bench(unittest.TestCase):
    def out(self, *arguments):
        answer = tokamak(*SMALL, *arguments)
        self.assertEqual((answer.status, answer.errors), (0, []), answer)
        return answer.out

    def test_each_number_of_a_list_is_a_test_at_each_depth(self):
        tests = json.loads(self.out("-p", "4,9", "-n", "0,3", "-d", "0,5", "-pg", "4,2", "-r", 3,
                                    "-o", "json"))
        self.assertEqual([test["test"] for test in tests],
                         ["pp4", "pp9", "tg3", "pp4+tg2",
                          "pp4 @ d5", "pp9 @ d5", "tg3 @ d5", "pp4+tg2 @ d5"])
        last = tests[-1]
        self.assertEqual((last["n_prompt"], last["n_gen"], last["n_depth"]), (4, 2, 5))
        for test in tests:
            self.assertEqual(len(test["samples_ns"]), 3)
            self.assertAlmostEqual(sum(test["samples_ts"]) / 3, test["avg_ts"], delta=1e-6)
            self.assertRegex(test["test_time"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertEqual((test["model_type"], test["backends"]), ("llama_untied bf16", "CPU"))

    def test_options_have_the_names_of_llama_bench_and_their_old_ones(self):
        for prompt, generate, depth in (("--n-prompt", "--n-gen", "--n-depth"),
                                        ("--prompt", "--generate", "--depth")):
            tests = json.loads(self.out(prompt, 4, generate, 3, depth, 5, "-r", 1, "--output",
                                        "json"))
            self.assertEqual([test["test"] for test in tests], ["pp4 @ d5", "tg3 @ d5"])

    def test_lines_have_the_fields_of_the_objects(self):
        arguments = ("-p", 4, "-n", 3, "-r", 2, "-o")
        objects = json.loads(self.out(*arguments, "json"))
        names, *lines = csv.reader(io.StringIO(self.out(*arguments, "csv")))
        self.assertEqual(names, list(objects[0]))
        self.assertEqual([line[names.index("test")] for line in lines], ["pp4", "tg3"])
        self.assertEqual(len(lines[0][names.index("samples_ns")].split()), 2)

    def test_markdown_has_the_columns_of_llama_bench(self):
        head, bars, *rows = self.out("-p", 4, "-n", 3, "-r", 2, "-o", "md").splitlines()
        self.assertEqual([cell.strip() for cell in head.strip("|").split("|")],
                         ["model", "size", "params", "backend", "test", "t/s"])
        self.assertRegex(bars, r"^(\| -+:? )+\|$")
        self.assertRegex(rows[0], r"^\| llama_untied bf16 \| .* \| CPU +\| pp4 +\| +[\d.]+ ± [\d.]+ \|$")
        self.assertTrue(rows[-2].startswith("build: "), rows)

    def test_the_report_for_people_fits_on_a_screen(self):
        out = self.out("-p", 4, "-n", 3, "-r", 2)
        self.assertLessEqual(max(map(len, out.splitlines())), 100, out)
        self.assertTrue(re.search(r"^tg3 +[\d.]+ ± [\d.]+ +[\d.]+ [mu]?s ", out, re.MULTILINE), out)
        self.assertIn("greedy tokens repeat", out)

    def test_sequences_feel_a_prompt_that_arrives(self):
        flags = ("-p", 0, "-n", 2, "-r", 1, "-c", 128, "--sequences", 3, "--arriving", 100)
        text = " ".join(self.out(*flags).split())
        self.assertRegex(text, r"tg2 x 3 between tokens [\d.]+ [mu]?s, [\d.]+ [mu]?s while a prompt "
                               r"of 100 is read, p99 [\d.]+ [mu]?s \([\d.]+ x\); its first token "
                               r"after [\d.]+ [mu]?s; one given up ends after [\d.]+ [mu]?s")
        arrival, = json.loads(self.out(*flags, "--json"))["arrivals"]
        self.assertEqual((arrival["name"], arrival["prompt"]), ("tg2 x 3", 100))

    def test_one_object_has_everything(self):
        out = json.loads(self.out("-p", 4, "-n", 3, "-r", 2, "--json"))
        self.assertEqual([test["name"] for test in out["tests"]], ["pp4", "tg3"])
        self.assertEqual(len(out["tests"][0]["seconds"]), 2)
        self.assertTrue(out["check"]["correct"])

    def test_several_devices_are_compared_with_one(self):
        reference = ("bench", model("llama_untied"), "--backend", "cpu-reference", "--check", "-p", 4,
                     "-n", 3, "-r", 1, "--json")
        one, two = (json.loads(tokamak(*reference, *more).out)["check"] for more in ((), ("--gpus", "0,1")))
        self.assertIsNone(one["max_relative_error"], "a reference is no measure of itself")
        self.assertLess(two["max_relative_error"], 1e-5)

    def test_mistakes_name_the_value_and_what_is_expected(self):
        for flags, expected in [
            (("-p", "128,x"), '--n-prompt is "x", expected a whole number from 0 to 16777216'),
            (("-p", "128,"), '--n-prompt is "", expected a whole number from 0 to 16777216'),
            (("-n", "-4"), '--n-gen is "-4", expected a whole number from 0 to 16777216'),
            (("-d", "1.5"), '--n-depth is "1.5", expected a whole number from 0 to 16777216'),
            (("-pg", "4"), '--n-prompt-gen is "4", expected pairs as in 512,128'),
            (("-r", "0"), '--repetitions is "0", expected a whole number from 1 to 1000'),
            (("-o", "xml"), '--output is "xml", expected md, json or csv'),
            (("-o", "md", "--json"), "--output does not go with --json"),
            (("-p", "0", "-n", "0,0"), "-p 0 and -n 0 leave nothing to measure"),
            (("-p", "4", "-n", "3", "-c", "64", "-d", "0,62"),
             "pp4 @ d62 needs 66 positions, but the context has 64"),
        ]:
            with self.subTest(flags):
                answer = tokamak(*SMALL, *flags)
                self.assertEqual((answer.status, len(answer.errors)), (2, 1), answer)
                self.assertIn(expected, answer.errors[0])


if __name__ == "__main__":
    program.main(unittest)
