#!/usr/bin/env python3
"""`perplexity` and `compare` against the same figures computed here, from what `logits` prints.

Run by CTest; by hand as cli_test.py.
"""
import json
import math
import os
import shutil
import struct
import tempfile
import unittest

import program
from cli_test import CPU, STORYTELLER, Cli
from program import DATA, model, on_terminal

CONTEXT, WINDOWS = 16, 3
EVAL = os.path.join(DATA, "storyteller", "eval.txt")
BOS = 2
SHORT = (EVAL, *CPU, "--context", CONTEXT, "--windows", WINDOWS)


def log_probabilities(row):
    row = [struct.unpack("f", struct.pack("f", x))[0] for x in row]  # printed as floats, not doubles
    largest = max(row)
    log_sum = largest + math.log(math.fsum(math.exp(x - largest) for x in row))
    return [x - log_sum for x in row]


def mean_and_error(samples):
    mean = math.fsum(samples) / len(samples)
    squares = math.fsum((x - mean) ** 2 for x in samples)
    return mean, math.sqrt(squares / (len(samples) - 1) / len(samples))


class Measured(Cli):
    def assert_estimate(self, found, expected):
        for name, value in zip(("value", "error"), expected):
            self.assertAlmostEqual(found[name], value, delta=1e-9 * max(1, abs(value)))

    def windows(self):
        with open(EVAL, encoding="utf-8") as file:
            text = file.read().removesuffix("\n")
        ids = json.loads(self.ok("tokenize", STORYTELLER, "-p", text).out)
        self.assertEqual(ids[0], BOS)
        starts = range(0, CONTEXT * WINDOWS, CONTEXT)
        return [[BOS] + ids[start + 1:start + CONTEXT] for start in starts]

    def counted(self, *flags):
        """-> for each counted position the logarithms of the probabilities and the id that follows."""
        found = []
        for ids in self.windows():
            # In the same steps, so that the logits are the same to the bit.
            answer = self.ok("logits", STORYTELLER, "--tokens", ",".join(map(str, ids[:-1])), "--all",
                             "--step-size", CONTEXT // 2, "--json", *CPU, *flags)
            rows = json.loads(answer.out)["logits"]
            found += [(log_probabilities(rows[at]), ids[at + 1])
                      for at in range(CONTEXT // 2, CONTEXT - 1)]
        return found


class Perplexity(Measured):
    def test_is_that_of_the_logits(self):
        losses = [-row[following] for row, following in self.counted()]
        mean, error = mean_and_error(losses)
        out = json.loads(self.ok("perplexity", STORYTELLER, *SHORT, "--json").out)
        self.assertEqual(list(out), ["model", "backend", "device", "context", "windows", "tokens",
                                     "perplexity"])
        self.assertEqual((out["context"], out["windows"], out["tokens"]),
                         (CONTEXT, WINDOWS, len(losses)))
        self.assert_estimate(out["perplexity"]["loss"], (mean, error))
        self.assert_estimate(out["perplexity"], (math.exp(mean), math.exp(mean) * error))
        line = self.ok("perplexity", STORYTELLER, *SHORT).out
        self.assertEqual(line, f"perplexity {math.exp(mean):.4f} +/- {math.exp(mean) * error:.4f} over "
                               f"{len(losses)} tokens in {WINDOWS} windows\n")

    def test_the_whole_text_counts_without_a_number_of_windows(self):
        text = "The old king went to the sea. " * 12
        out = json.loads(self.ok("perplexity", STORYTELLER, "-", *CPU, "--context", 8, "--json",
                                 text=text).out)
        ids = json.loads(self.ok("tokenize", STORYTELLER, "-p", text).out)
        self.assertEqual(out["windows"], len(ids) // 8)
        self.assertEqual(out["tokens"], len(ids) // 8 * 3)

    def test_windows_know_nothing_of_each_other(self):
        """Recurrent states begin anew, too. A letter is a token of this model."""
        hybrid = os.path.join(DATA, "vision", "qwen3_5_vl_images")
        one, other, repeated = (
            json.loads(self.ok("perplexity", hybrid, "-", *CPU, "--context", 8, "--json",
                               text=text).out)["perplexity"]["value"]
            for text in ("abcdefghijklmnop", "ijklmnopabcdefgh", "ijklmnopijklmnop"))
        self.assertAlmostEqual(one, other, delta=1e-9 * one)
        self.assertNotAlmostEqual(one, repeated, delta=1)

    def test_special_tokens_in_the_text_are_text(self):
        answer = self.refused(3, "two windows of 512", "perplexity", STORYTELLER, "-", *CPU,
                              text="<eos>" * 10)
        self.assertGreater(int(answer.errors[0].split(" has ")[1].split()[0]), 20)

    def test_what_cannot_be_measured_is_named(self):
        command = ("perplexity", STORYTELLER)
        self.refused(3, ["838 tokens", "at least 1024", "two windows of 512", "--context"], *command,
                     EVAL, *CPU)
        self.refused(2, ["4096", "made for 2048 positions"], *command, EVAL, *CPU, "--context", 4096)
        self.refused(2, '--context is "3", expected a whole number from 4', *command, EVAL,
                     "--context", 3)
        self.refused(3, "/nonexistent", *command, "/nonexistent", *CPU)
        self.refused(2, "TEXT-FILE is missing", *command)
        self.refused(2, '--windows is "0"', *command, EVAL, "--windows", 0)
        self.refused(4, "ranks texts", "perplexity", os.path.join(DATA, "rerank", "cross_bert"), EVAL,
                     *CPU)
        self.refused(3, "tokenizer.json", "perplexity", model("llama_untied"), EVAL, *CPU)

    def test_a_terminal_shows_how_far_it_is(self):
        seen, status = on_terminal("perplexity", STORYTELLER, EVAL, "--backend", "cpu-reference", "--context",
                                   "64", "--windows", "2")
        self.assertEqual(status, 0, seen)
        self.assertRegex(seen, r"window 1 of 2: perplexity \d+\.\d{4}, \d+:\d\d left")


class Compare(Measured):
    def test_is_that_of_the_logits_of_both(self):
        a, b = self.counted(), self.counted("--quantize", "q4")
        a_losses, b_losses = ([-row[following] for row, following in rows] for rows in (a, b))
        divergences = [math.fsum(math.exp(x) * (x - y) for x, y in zip(of_a, of_b))
                       for (of_a, _), (of_b, _) in zip(a, b)]
        top = [float(of_a.index(max(of_a)) == of_b.index(max(of_b)))
               for (of_a, _), (of_b, _) in zip(a, b)]
        out = json.loads(self.ok("compare", STORYTELLER, STORYTELLER, *SHORT, "--quantize-b", "q4",
                                 "--json").out)
        for name, losses in (("a", a_losses), ("b", b_losses)):
            self.assert_estimate(out[name]["perplexity"]["loss"], mean_and_error(losses))
        mean, error = mean_and_error([y - x for x, y in zip(a_losses, b_losses)])
        self.assertNotEqual(mean, 0)
        self.assert_estimate(out["ratio"], (math.exp(mean), math.exp(mean) * error))
        self.assert_estimate(out["divergence"], mean_and_error(divergences))
        ordered = sorted(divergences)
        place = 0.99 * (len(ordered) - 1)
        below = ordered[int(place)]
        quantile = below + (place - int(place)) * (ordered[int(place) + 1] - below)
        self.assertAlmostEqual(out["divergence"]["quantile_99"], quantile, delta=1e-9)
        self.assertAlmostEqual(out["divergence"]["largest"], ordered[-1], delta=1e-9)
        self.assert_estimate(out["same_top"], mean_and_error(top))
        self.assertEqual(out["tokens"], len(a))

    def test_a_model_is_not_far_from_itself(self):
        text = self.ok("compare", STORYTELLER, STORYTELLER, *SHORT).out
        self.assertRegex(text, r"B's by A's +1\.00000 \+/- 0\.00000\n")
        self.assertRegex(text, r"KL\(A \|\| B\) +0\.000000 \+/- 0\.000000, below 0\.0")
        self.assertRegex(text, r"same top token +100\.00 % \+/- 0\.00 %\n")
        self.assertRegex(text, r"over 21 tokens in 3 windows\n$")

    def test_models_with_other_tokens_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            other = os.path.join(folder, "other")
            shutil.copytree(model("llama_untied"), other)
            shutil.copy(os.path.join(STORYTELLER, "tokenizer.json"), other)
            self.refused(3, ["logits for 8192 tokens", "512", "same tokens"], "compare", STORYTELLER,
                         other, *SHORT)
            swapped = os.path.join(folder, "swapped")
            shutil.copytree(STORYTELLER, swapped)
            path = os.path.join(swapped, "tokenizer.json")
            with open(path, encoding="utf-8") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                # Other ids of two tokens, of which the text has one.
                file.write(text.replace('"\u2581the": 379', '"\u2581the": 0x').replace(
                    '"\u2581s": 380', '"\u2581s": 379').replace("0x", "380"))
            self.refused(3, ["token ", "not the same", "same tokens"], "compare", STORYTELLER, swapped,
                         *SHORT)


if __name__ == "__main__":
    program.main(unittest)
