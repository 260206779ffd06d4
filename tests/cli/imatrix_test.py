#!/usr/bin/env python3
"""`tokamak imatrix` against sums computed here, and what its file does for `tokamak quantize`. Run by
CTest; by hand as cli_test.py.
"""
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import gguf_families_test as families
import program
from cli_test import Cli
from program import DATA

sys.path.insert(1, str(pathlib.Path(program.SOURCE, "tests", "malformed")))
from gguf_file import GgufFile  # noqa: E402

EVAL = pathlib.Path(DATA, "storyteller", "eval.txt")
FOLDER = pathlib.Path(program.SOURCE, "models", "storyteller")
CONTEXT, WINDOWS = 16, 3
READ = CONTEXT - 1  # the last token of a window is only predicted
SHORT = ("--context", CONTEXT, "--windows", WINDOWS)


class Sums:
    def __init__(self, path):
        file = GgufFile(path)
        self.entries = file.entries
        self.tensors = {}
        for name, extents, kind, offset in file.tensors:
            assert kind == 0, name
            count = math.prod(extents)
            values = struct.unpack_from(f"<{count}f", file.data, offset)
            self.tensors[name] = list(reversed(extents)), values


class Imatrix(Cli):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.model = cls.folder / "storyteller.gguf"
        subprocess.run([sys.executable, "-B", pathlib.Path(program.SOURCE, "bench", "storyteller_gguf.py"),
                        cls.model], check=True)

    def sums(self, model, name, *flags):
        out = self.folder / name
        return self.ok("imatrix", model, EVAL, "-o", out, *flags), Sums(out)

    def ids(self):
        text = EVAL.read_text(encoding="utf-8").removesuffix("\n")
        ids = json.loads(self.ok("tokenize", FOLDER, "-p", text).out)
        return [2 if at % CONTEXT == 0 else ids[at] for at in range(CONTEXT * WINDOWS)
                if at % CONTEXT != READ]

    def test_the_sums_are_those_of_the_columns(self):
        run, found = self.sums(self.model, "sums.gguf", *SHORT)
        self.assertRegex(run.out, r"sums\.gguf: 57 matrices by 3 windows of 16 tokens, perplexity \d+")
        # The first matrices are multiplied by the norm of the tokens' rows.
        file = GgufFile(self.model)
        at = {name: (list(reversed(extents)), offset) for name, extents, _, offset in file.tensors}
        (_, hidden), embedding = at["token_embd.weight"]
        weights = struct.unpack_from(f"<{hidden}f", file.data, at["blk.0.attn_norm.weight"][1])
        expected = [0.0] * hidden
        for token in self.ids():
            raw = struct.unpack_from(f"<{hidden}H", file.data, embedding + 2 * hidden * token)
            row = [struct.unpack("<f", struct.pack("<I", half << 16))[0] * math.sqrt(hidden) for half in raw]
            scale = 1 / math.sqrt(math.fsum(x * x for x in row) / hidden + 1e-6)
            expected = [sum_ + (x * scale * w) ** 2 for sum_, x, w in zip(expected, row, weights, strict=True)]
        for name in ("attn_q", "attn_k", "attn_v"):
            shape, values = found.tensors[f"blk.0.{name}.weight.in_sum2"]
            self.assertEqual(shape, [1, hidden])
            worst = max(abs(a - b) / b for a, b in zip(values, expected, strict=True))
            self.assertLess(worst, 1e-5)
        for name, (shape, values) in found.tensors.items():
            if name.endswith(".counts"):
                self.assertEqual((shape, values), ([1, 1], (float(READ * WINDOWS),)), name)

    def test_experts_count_by_themselves(self):
        config = families.family("mixtral")["config"]
        top_k, experts = config["num_experts_per_tok"], config["num_local_experts"]
        letters = ["<unk>", "<s>", "</s>", "\u2581", *"abcdefghijklmnopqrstuvwxyz"]
        words = letters + [f"[{i}]" for i in range(config["vocab_size"] - len(letters))]
        path = families.GgufFamilies().convert("mixtral", self.folder, tokenizer={
            "tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": words,
            "tokenizer.ggml.scores": [float(-i) for i in range(len(words))],
            "tokenizer.ggml.token_type": [2, 3, 3] + [1] * (len(words) - 3),
            "tokenizer.ggml.unknown_token_id": 0, "tokenizer.ggml.bos_token_id": 1,
            "tokenizer.ggml.eos_token_id": 2})
        text, out = self.folder / "text", self.folder / "experts.gguf"
        text.write_text("the quick brown fox jumps over the lazy dog " * 4)
        self.ok("imatrix", path, text, "-o", out, *SHORT)
        found = Sums(out).tensors
        for layer in range(config["num_hidden_layers"]):
            name = f"blk.{layer}.ffn_{{}}_exps.weight.{{}}"
            counts = [found[name.format(part, "counts")] for part in ("gate", "up", "down")]
            self.assertEqual(counts[0][0], [experts, 1])
            self.assertEqual(sum(counts[0][1]), READ * WINDOWS * top_k)
            self.assertEqual(counts[1:], [counts[0]] * 2)
            gate, up = (found[name.format(part, "in_sum2")] for part in ("gate", "up"))
            self.assertEqual(gate, up)
            # All experts together have what the router has, once for each that it chose.
            router = found[f"blk.{layer}.ffn_gate_inp.weight.in_sum2"][1]
            for column, sum_ in enumerate(router):
                self.assertAlmostEqual(sum(gate[1][column::len(router)]) / top_k / sum_, 1, places=5)

    def test_no_byte_depends_on_the_threads(self):
        for threads in ("1", "3"):
            self.sums(self.model, f"{threads}.gguf", *SHORT, "--threads", threads)
        self.assertEqual((self.folder / "1.gguf").read_bytes(), (self.folder / "3.gguf").read_bytes())

    def test_small_files_that_use_it_are_nearer_to_the_model(self):
        self.sums(self.model, "all.gguf", "--context", 64)
        for kind in ("q4_0", "q4_1"):
            found = []
            for flags in ((), ("--imatrix", self.folder / "all.gguf")):
                out = self.folder / f"{kind}-{len(flags)}.gguf"
                self.ok("quantize", self.model, "-o", out, "--type", kind, *flags)
                run = self.ok("compare", self.model, out, EVAL, "--context", 64, "--backend", "cpu", "--json")
                found.append(json.loads(run.out)["divergence"]["value"])
            self.assertLess(found[1], 0.92 * found[0], kind)

    def test_what_cannot_be_is_refused(self):
        there, new = self.folder / "there.gguf", self.folder / "new.gguf"
        there.write_bytes(b"kept")
        self.refused(2, "exists", "imatrix", self.model, EVAL, "-o", there)
        self.assertEqual(there.read_bytes(), b"kept")
        self.refused(4, "is a folder, expected the GGUF file", "imatrix", FOLDER, EVAL, "-o", new)
        self.refused(6, "none/x.gguf", "imatrix", self.model, EVAL, "-o", self.folder / "none" / "x.gguf")
        self.refused(3, "expected at least", "imatrix", self.model, EVAL, "-o", new, "--context", 2048)
        self.assertFalse(new.exists())


if __name__ == "__main__":
    program.main(unittest)
