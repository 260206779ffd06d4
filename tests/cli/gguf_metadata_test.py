#!/usr/bin/env python3
"""GGUF files with metadata as files in use have them: odd, old, or for another purpose than writing.
Run by CTest; by hand as cli_test.py.
"""
import json
import os
import pathlib
import struct
import sys
import tempfile
import unittest

import program
from program import tokamak

sys.path.insert(1, os.path.join(program.SOURCE, "tests", "malformed"))
from gguf_file import STRING, U32, GgufFile, pack_string  # noqa: E402

WHOLE = pathlib.Path(program.DATA) / "gguf" / "llama-q4_0.gguf"
CPU = ("--backend", "cpu")
F32, CONTROL, USER_DEFINED = 6, 3, 4
TOKENS, TYPES = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"


def u32(value):
    return U32, struct.pack("<I", value)


def text(value):
    return STRING, pack_string(value)


def rename_token(file, token, name, kind):
    kind_of_tokens, raw = file.entries[TOKENS]
    at = 12
    for _ in range(token):
        at += 8 + struct.unpack_from("<Q", raw, at)[0]
    end = at + 8 + struct.unpack_from("<Q", raw, at)[0]
    file.entries[TOKENS] = (kind_of_tokens, raw[:at] + pack_string(name) + raw[end:])
    kind_of_types, types = file.entries[TYPES]
    at = 12 + 4 * token
    file.entries[TYPES] = (kind_of_types, types[:at] + struct.pack("<i", kind) + types[at + 4 :])


class Metadata(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "m.gguf"

    def write(self, entries=None, change=lambda file: None):
        file = GgufFile(WHOLE)
        file.entries.update(entries or {})
        change(file)
        self.path.write_bytes(file.bytes())
        return self.path

    def ok(self, *arguments):
        answer = tokamak(*arguments)
        self.assertEqual((answer.status, answer.errors), (0, []), answer)
        return answer

    def logits(self, path):
        answer = self.ok("logits", path, "--tokens", "1,2,3,4,5", *CPU, "--json")
        answer.out = json.loads(answer.out)["logits"]
        return answer

    def test_labels_and_ids_that_nobody_needs_do_no_harm(self):
        cases = {
            "name cut in a character": ({"general.name": text(b"Llama \xe6\x97")}, ""),
            "name of other bytes": ({"general.name": text(b"\xff\xfe")}, ""),
            "pad beyond": ({"tokenizer.ggml.padding_token_id": u32(32000)}, "padding_token_id"),
            "sep beyond": ({"tokenizer.ggml.seperator_token_id": u32(32000)}, "seperator_token_id"),
            "eos beyond": ({"tokenizer.ggml.eos_token_id": u32(32000)}, "eos_token_id"),
            "no pad": ({"tokenizer.ggml.padding_token_id": u32(0xFFFFFFFF)}, ""),
        }
        usual = self.logits(WHOLE).out
        for name, (entries, note) in cases.items():
            with self.subTest(name):
                path = self.write(entries)
                answer = self.logits(path)
                self.assertEqual(answer.out, usual)
                notes = [line for line in answer.notes if "tokenizer.ggml" in line]
                self.assertEqual([note in line for line in notes], [True] if note else [], answer)
                self.ok("inspect", path)
                ids = tokamak("tokenize", path, text='"a"\n')
                self.assertEqual(ids.out, tokamak("tokenize", WHOLE, text='"a"\n').out)

    def test_answers_end_where_the_texts_of_tokens_say(self):
        def answer():
            return json.loads(self.ok("run", self.path, "-p", "!", "-n", "3", "--greedy", "--json", *CPU).out)

        self.write()
        first = answer()["tokens"][0]
        cases = {("<turn|>", CONTROL): "end", ("<|tool_response>", USER_DEFINED): "end",
                 ("</s >", USER_DEFINED): "length", ("</s>", USER_DEFINED): "length"}
        for (name, kind), finish in cases.items():
            with self.subTest(name):
                self.write(change=lambda file: rename_token(file, first, name, kind))
                found = answer()
                self.assertEqual((found["finish"], found["tokens"][0]), (finish, first))
                self.assertEqual(len(found["tokens"]), 1 if finish == "end" else 3)

    def test_embeddings_are_pooled_as_the_file_says(self):
        def vector(*options):
            return self.ok("embed", self.path, "-p", "abc", "--json", *options, *CPU).out

        for number, name in (1, "mean"), (2, "cls"), (3, "last"):
            with self.subTest(name):
                self.write()
                asked = vector("--pooling", name)
                self.write({"llama.pooling_type": u32(number)})
                self.assertEqual(vector(), asked)
                self.assertNotEqual(vector("--pooling", "last" if name == "mean" else "mean"), asked)
        self.write({"llama.pooling_type": u32(4)})
        refusal = tokamak("embed", self.path, "-p", "abc", *CPU)
        self.assertEqual(refusal.status, 4, refusal)
        self.assertIn("ranks texts", refusal.errors[0])
        self.logits(self.path)

    def test_the_older_key_of_linear_scaling_counts(self):
        usual = self.logits(WHOLE).out
        new = self.logits(self.write({"llama.rope.scaling.type": text("linear"),
                                      "llama.rope.scaling.factor": (F32, struct.pack("<f", 4))})).out
        old = self.logits(self.write({"llama.rope.scale_linear": (F32, struct.pack("<f", 4))})).out
        self.assertEqual(old, new)
        self.assertNotEqual(old, usual)

    def test_a_file_is_known_by_its_first_bytes(self):
        blob = self.path.with_name("sha256-0123")
        blob.write_bytes(WHOLE.read_bytes())
        self.assertEqual(self.logits(blob).out, self.logits(WHOLE).out)
        blob.write_bytes(b"something else")
        refusal = tokamak("logits", blob, "--tokens", "1", *CPU)
        self.assertEqual(refusal.status, 3, refusal)
        self.assertIn("not a GGUF file", refusal.errors[0])

    def test_a_file_of_a_model_folder_stands_for_the_folder(self):
        folder = program.model("llama_untied")
        for name in "model.safetensors", "config.json":
            self.assertEqual(self.logits(os.path.join(folder, name)).out, self.logits(folder).out)


if __name__ == "__main__":
    program.main(unittest)
