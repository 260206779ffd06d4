#!/usr/bin/env python3
"""Gives every damaged model of make_malformed.py, and damaged tokenizers, to the built program.

Each must end with one line that names the file and what is wrong with it: no crash, no hang, no
memory taken on a file's word. Run by CTest; by hand as tests/cli/cli_test.py.
"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import program
from program import DATA, tokamak

SECONDS = 5
MEMORY = 2 << 30  # of address space; a small model on the CPU needs a tenth of it
CPU, WEBGPU = ("--backend", "cpu"), ("--backend", "webgpu")
REFUSED = (3, 4)  # bad input, unsupported


class Malformed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.place.name)
        make = os.path.join(program.SOURCE, "tests", "malformed", "make_malformed.py")
        subprocess.run([sys.executable, make, os.path.join(DATA, "models"), cls.folder], check=True,
                       stdout=subprocess.DEVNULL)
        cls.cases = json.loads((cls.folder / "manifest.json").read_text())

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def check_refusal(self, answer, mentions):
        self.assertIn(answer.status, REFUSED, answer)
        self.assertEqual(answer.out, "", answer)
        self.assertEqual(len(answer.errors), 1, answer)
        self.assertEqual(answer.other, [], answer)
        for mention in mentions:
            words = [mention] if isinstance(mention, str) else mention
            self.assertTrue(any(word in answer.errors[0] for word in words), (mention, answer.errors[0]))

    def check_case(self, case, backend, memory):
        path = self.folder / case["case"]
        answer = tokamak("logits", path, "--tokens", "1,2,3", "--steps", 2, *backend, timeout=SECONDS, memory=memory)
        self.check_refusal(answer, [str(path), *case["must_mention"]])

    def test_every_case_on_the_cpu(self):
        self.assertGreater(len(self.cases), 60)
        for case in self.cases:
            with self.subTest(case["case"]):
                self.check_case(case, CPU, MEMORY)

    def test_some_cases_on_webgpu(self):
        whole = os.path.join(DATA, "models", "llama_untied")
        if tokamak("logits", whole, "--tokens", "1", *WEBGPU).status == 5:
            self.assertNotIn("TOKAMAK_REQUIRE_GPU", os.environ, "there is no WebGPU device")
            self.skipTest("there is no WebGPU device")
        chosen = ("01-", "11-", "18-", "23-", "24-", "29-", "31-config-vocab-size", "31-config-eos")
        cases = [case for case in self.cases if case["case"].startswith(chosen)]
        self.assertGreater(len(cases), 8)
        for case in cases:
            with self.subTest(case["case"]):
                self.check_case(case, WEBGPU, None)

    def test_the_whole_models_are_accepted(self):
        for name in ("llama_untied", "llama_sharded", "gemma3_hub"):
            answer = tokamak("logits", os.path.join(DATA, "models", name), "--tokens", "1,2,3", *CPU, memory=MEMORY)
            self.assertEqual(answer.status, 0, answer)


def edits():
    """name -> (tokenizer it starts from, change of its tokenizer.json, what the error must name)"""

    def model(**fields):
        return lambda t: t["model"].update(fields)

    def give_second_the_id_of_first(t):
        names = sorted(t["model"]["vocab"], key=t["model"]["vocab"].get)
        t["model"]["vocab"][names[-1]] = t["model"]["vocab"][names[-2]]

    def far_added_token(t):
        t["added_tokens"].append({"id": 4_000_000_000, "content": "<far>", "special": True, "single_word": False,
                                  "lstrip": False, "rstrip": False, "normalized": False})

    def bad_regex(t):
        t["pre_tokenizer"] = {"type": "Split", "pattern": {"Regex": "(unclosed["}, "behavior": "Isolated",
                              "invert": False}

    return {
        "merge-outside-the-vocabulary": ("gpt2", lambda t: t["model"]["merges"].insert(0, ["qqq", "zzz"]),
                                         [["qqq", "zzz"]]),
        "merge-not-a-pair": ("gpt2", lambda t: t["model"]["merges"].insert(0, ["a"]), ["merges"]),
        "two-tokens-with-one-id": ("gpt2", give_second_the_id_of_first, [["id", "token"]]),
        "negative-id": ("gpt2", lambda t: t["model"]["vocab"].update({"qqq": -1}), ["-1"]),
        "id-not-a-number": ("gpt2", lambda t: t["model"]["vocab"].update({"qqq": "1"}), ["qqq"]),
        "regex-that-does-not-compile": ("gpt2", bad_regex, ["unclosed"]),
        "added-token-far-away": ("gpt2", far_added_token, [["4000000000", "<far>"]]),
        "unknown-model": ("gpt2", model(type="Frobnicate"), ["Frobnicate"]),
        "no-model": ("gpt2", lambda t: t.pop("model"), ["model"]),
        "no-vocabulary": ("gpt2", lambda t: t["model"].pop("vocab"), ["vocab"]),
        "unknown-normalizer": ("gpt2", lambda t: t.update(normalizer={"type": "Frobnicate"}), ["Frobnicate"]),
        "unknown-pre-tokenizer": ("gpt2", lambda t: t.update(pre_tokenizer={"type": "Frobnicate"}), ["Frobnicate"]),
        "unknown-post-processor": ("gpt2", lambda t: t.update(post_processor={"type": "Frobnicate"}), ["Frobnicate"]),
        "unknown-decoder": ("gpt2", lambda t: t.update(decoder={"type": "Frobnicate"}), ["Frobnicate"]),
        "deep-normalizer": ("gpt2", lambda t: t.update(normalizer=deep({"type": "NFC"}, 200)), [["nest", "deep"]]),
    }


def deep(inner, levels):
    for _ in range(levels):
        inner = {"type": "Sequence", "normalizers": [inner]}
    return inner


class MalformedTokenizer(Malformed):
    """Group 32."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.place.name)

    test_every_case_on_the_cpu = test_some_cases_on_webgpu = test_the_whole_models_are_accepted = None

    def tokenize(self, name, text):
        folder = self.folder / name
        folder.mkdir()
        (folder / "tokenizer.json").write_bytes(text)
        return folder, tokamak("tokenize", folder, text='"Once upon a time 123"\n', timeout=SECONDS, memory=MEMORY)

    def whole(self, name):
        return (pathlib.Path(DATA) / "tokenizers" / name / "tokenizer.json").read_bytes()

    def test_edited_files(self):
        for name, (base, change, mentions) in edits().items():
            with self.subTest(name):
                tokenizer = copy.deepcopy(json.loads(self.whole(base)))
                change(tokenizer)
                folder, answer = self.tokenize(name, json.dumps(tokenizer).encode())
                self.check_refusal(answer, [str(folder), *mentions])

    def test_files_that_are_no_json(self):
        text = self.whole("llama3")
        for name, damaged in {
            "half": text[: len(text) // 2],
            "empty": b"",
            "null": b"null",
            "array": b"[]",
            "deep": b"[" * 200_000,
            "binary": bytes(range(256)) * 64,
        }.items():
            with self.subTest(name):
                folder, answer = self.tokenize(name, damaged)
                self.check_refusal(answer, [str(folder)])

    def test_holes_between_ids_are_allowed(self):
        tokenizer = json.loads(self.whole("gpt2"))
        vocab = tokenizer["model"]["vocab"]
        last = max(vocab, key=vocab.get)
        vocab[last] += 1000
        _, answer = self.tokenize("holes", json.dumps(tokenizer).encode())
        self.assertEqual((answer.status, answer.errors), (0, []), answer)


if __name__ == "__main__":
    program.main(unittest)
