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
BAD_INPUT, UNSUPPORTED = 3, 4
# The files that are well formed but nothing this program runs.
WELL_FORMED = (
    "17-unknown-dtype", "17-unknown-dtype-q4", "18-wrong-dtype",
    "31-config-layer-type-unknown", "31-config-model-type-unknown",
    "31-config-lfm2-layer-type-unknown", "31-config-qwen3_5_text-layer-type-unknown",
    "31-config-gemma4-layer-type", "31-config-gemma4-bidirectional", "31-config-per-layer-sliding",
    "31-config-per-layer-field", "31-config-per-layer-few", "31-config-per-layer-unlike",
    "32-encoder-module-unknown", "32-encoder-module-own-code", "32-encoder-pooling-max",
    "32-encoder-dense-activation",
    "33-mlx-bits-7", "34-gptq-bits-5", "34-gptq-format-in-quantize-config",
    "37-awq4_small-bits-8", "37-awq4_small-version-gemv", "37-fp8_block-blocks-64",
    "37-fp8_block-fmt-e5m2", "37-ct_int4-format-marlin", "37-ct_int4-rotated", "37-ct_int8-zero-points",
    "37-modelopt_nvfp4-algorithm", "37-bnb_nf4-half-quant_map", "37-bnb_fp4", "37-mlx_mxfp4-mode",
    "unknown-model", "no-model", "unknown-normalizer", "unknown-pre-tokenizer",
    "unknown-post-processor", "unknown-decoder",
)


class Refusals(unittest.TestCase):
    """A folder for damaged files, and what the program must answer to them."""

    prefix = ""  # of the cases' names in errors.md beside this file

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.place.name)
        cls.documented = (pathlib.Path(__file__).parent / "errors.md").read_text()

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def is_well_formed(self, name):
        return name in WELL_FORMED

    def check_refusal(self, name, answer, mentions):
        status = UNSUPPORTED if self.is_well_formed(name) else BAD_INPUT
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.out, "", answer)
        self.assertEqual(len(answer.errors), 1, answer)
        self.assertEqual(answer.other, [], answer)
        for mention in mentions:
            words = [mention] if isinstance(mention, str) else mention
            found = any(word in answer.errors[0] for word in words)
            self.assertTrue(found, (mention, answer.errors[0]))
        self.check_documented(self.prefix + name, status, answer.errors[0].replace(
            str(self.folder / name), "M"))

    def check_documented(self, name, status, error):
        """What is printed here is what tools/errors_table reads."""
        print(f"refused {name} {status} {error}", flush=True)
        message = error.removeprefix("error: ")
        self.assertIn(f"\n{name} ({status})\n    {message}\n", self.documented,
                      "errors.md says something else; tools/errors_table writes it again")


class MalformedModel(Refusals):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        make = os.path.join(program.SOURCE, "tests", "malformed", "make_malformed.py")
        subprocess.run([sys.executable, make, os.path.join(DATA, "models"), cls.folder], check=True,
                       stdout=subprocess.DEVNULL)
        cls.cases = json.loads((cls.folder / "manifest.json").read_text())

    def check_case(self, case, backend, memory):
        path = self.folder / case["case"]
        steps = ("--steps", 2) if case["command"] == "logits" else ()
        answer = tokamak(case["command"], path, "--tokens", "1,2,3", *steps, *backend,
                         timeout=SECONDS, memory=memory)
        self.check_refusal(case["case"], answer, [str(path), *case["must_mention"]])

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
        for name in ("llama_untied", "llama_sharded", "gemma3_hub", "llama_mlx4_g64",
                     "llama_gptq4_g128_actorder"):
            folder = os.path.join(DATA, "models", name)
            answer = tokamak("logits", folder, "--tokens", "1,2,3", *CPU, memory=MEMORY)
            self.assertEqual(answer.status, 0, answer)
        encoder = os.path.join(DATA, "embeddings", "embeddinggemma")
        answer = tokamak("embed", encoder, "--tokens", "1,2,3", *CPU, memory=MEMORY)
        self.assertEqual(answer.status, 0, answer)


def edits():
    """name -> (tokenizer it starts from, change of its tokenizer.json, what the error must name)"""

    def model(**fields):
        return lambda t: t["model"].update(fields)

    def first_merge(merge):
        return lambda t: t["model"]["merges"].insert(0, merge)

    def unknown(part):
        return ("gpt2", lambda t: t.update({part: {"type": "Frobnicate"}}), ["Frobnicate"])

    def nested_normalizer(t):
        t["normalizer"] = deep({"type": "NFC"}, 200)

    def give_second_the_id_of_first(t):
        names = sorted(t["model"]["vocab"], key=t["model"]["vocab"].get)
        t["model"]["vocab"][names[-1]] = t["model"]["vocab"][names[-2]]

    def far_added_token(t):
        flags = dict.fromkeys(["single_word", "lstrip", "rstrip", "normalized"], False)
        far = {"id": 4_000_000_000, "content": "<far>", "special": True, **flags}
        t["added_tokens"].append(far)

    def bad_regex(t):
        t["pre_tokenizer"] = {"type": "Split", "pattern": {"Regex": "(unclosed["},
                              "behavior": "Isolated", "invert": False}

    return {
        "merge-outside-the-vocabulary": ("gpt2", first_merge(["qqq", "zzz"]), [["qqq", "zzz"]]),
        "merge-not-a-pair": ("gpt2", first_merge(["a"]), ['["a"]']),
        "two-tokens-with-one-id": ("gpt2", give_second_the_id_of_first, [["id", "token"]]),
        "negative-id": ("gpt2", lambda t: t["model"]["vocab"].update({"qqq": -1}), ["-1"]),
        "id-not-a-number": ("gpt2", lambda t: t["model"]["vocab"].update({"qqq": "1"}), ["qqq"]),
        "regex-that-does-not-compile": ("gpt2", bad_regex, ["unclosed"]),
        "added-token-far-away": ("gpt2", far_added_token, [["4000000000", "<far>"]]),
        "unknown-model": ("gpt2", model(type="Frobnicate"), ["Frobnicate"]),
        "no-model": ("gpt2", lambda t: t.pop("model"), ["model"]),
        "no-vocabulary": ("gpt2", lambda t: t["model"].pop("vocab"), ["vocab"]),
        "unknown-normalizer": unknown("normalizer"),
        "unknown-pre-tokenizer": unknown("pre_tokenizer"),
        "unknown-post-processor": unknown("post_processor"),
        "unknown-decoder": unknown("decoder"),
        "deep-normalizer": ("gpt2", nested_normalizer, [["nest", "deep"]]),
    }


def deep(inner, levels):
    for _ in range(levels):
        inner = {"type": "Sequence", "normalizers": [inner]}
    return inner


# The content in place of a tokenizer.json; "half" is half of a good one.
NO_JSON = {
    "half": None,
    "empty": b"",
    "null": b"null",
    "array": b"[]",
    "deep": b"[" * 200_000,
    "binary": bytes(range(256)) * 64,
}


class MalformedTokenizer(Refusals):
    prefix = "32-tokenizer-"

    def tokenize(self, name, text):
        folder = self.folder / name
        folder.mkdir()
        (folder / "tokenizer.json").write_bytes(text)
        answer = tokamak("tokenize", folder, text='"Once upon a time 123"\n', timeout=SECONDS,
                         memory=MEMORY)
        return folder, answer

    def whole(self, name):
        return (pathlib.Path(DATA) / "tokenizers" / name / "tokenizer.json").read_bytes()

    def test_edited_files(self):
        for name, (base, change, mentions) in edits().items():
            with self.subTest(name):
                tokenizer = copy.deepcopy(json.loads(self.whole(base)))
                change(tokenizer)
                folder, answer = self.tokenize(name, json.dumps(tokenizer).encode())
                self.check_refusal(name, answer, [str(folder), *mentions])

    def test_files_that_are_no_json(self):
        text = self.whole("llama3")
        for name, damaged in NO_JSON.items():
            with self.subTest(name):
                half = text[: len(text) // 2]
                folder, answer = self.tokenize(name, half if damaged is None else damaged)
                self.check_refusal(name, answer, [str(folder)])

    def test_holes_between_ids_are_allowed(self):
        tokenizer = json.loads(self.whole("gpt2"))
        vocab = tokenizer["model"]["vocab"]
        last = max(vocab, key=vocab.get)
        vocab[last] += 1000
        _, answer = self.tokenize("holes", json.dumps(tokenizer).encode())
        self.assertEqual((answer.status, answer.errors), (0, []), answer)


if __name__ == "__main__":
    program.main(unittest)
