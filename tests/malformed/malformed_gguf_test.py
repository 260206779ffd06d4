#!/usr/bin/env python3
"""Gives damaged GGUF files to the built program, as malformed_test.py does with model folders."""
import os
import pathlib
import struct
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "cli")]
import program
from gguf_file import ARRAY, STRING, GgufFile, pack_string
from malformed_test import CPU, MEMORY, SECONDS, Refusals
from program import tokamak

WHOLE = pathlib.Path(HERE).parent / "data" / "gguf" / "llama-q4_0.gguf"
HUGE = 1 << 60
TABLE, NORM = "token_embd.weight", "output_norm.weight"


def changes():
    """name -> (change of a GgufFile, what the error must name)"""

    def field(**values):
        return lambda f: f.__dict__.update(values)

    def entry(key, kind, value):
        return lambda f: f.entries.update({key: (kind, value)})

    def tensor(name, index, value):
        return lambda f: f.tensor(name).__setitem__(index, value)

    def dims(count):
        return lambda f: f.tensor(NORM).append(count)

    def array(kind, count, elements=b""):
        return entry("test.array", ARRAY, struct.pack("<IQ", kind, count) + elements)

    def u32(key, value):
        return lambda f: f.set_u32(key, value)

    def same_name(f):
        f.tensor("blk.1.attn_k.weight")[0] = "blk.0.attn_k.weight"

    def short_types(f):
        kind, value = f.entries["tokenizer.ggml.token_type"]
        f.entries["tokenizer.ggml.token_type"] = (kind, value[:4] + struct.pack("<Q", 319) + value[12:-4])

    def key_of_bytes(f):
        f.entries[b"test.\xff"] = (STRING, pack_string("x"))

    def broken_token(f):
        kind, value = f.entries["tokenizer.ggml.tokens"]
        f.entries["tokenizer.ggml.tokens"] = (kind, value[:20] + b"\xe6" + value[21:])

    nested = struct.pack("<IQ", ARRAY, 1) * 1000
    return {
        "magic": (field(magic=b"GGUX"), ["GGUX"]),
        "version-1": (field(version=1), ["version is 1"]),
        "version-99": (field(version=99), ["version is 99"]),
        "tensor-count": (field(tensor_count=HUGE), [str(HUGE)]),
        "entry-count": (field(entry_count=HUGE), [str(HUGE)]),
        "string-length": (entry("test.text", STRING, struct.pack("<Q", HUGE)), ["test.text", str(HUGE)]),
        "array-length": (array(4, HUGE), ["test.array", str(HUGE)]),
        "array-of-strings-length": (array(STRING, HUGE), ["test.array", str(HUGE)]),
        "nested-arrays": (entry("test.array", ARRAY, nested), ["test.array"]),
        "dims-0": (dims(0), [NORM, "0 dimensions"]),
        "dims-5": (dims(5), [NORM, "5 dimensions"]),
        "dims-2-31": (dims(1 << 31), [NORM, "2147483648 dimensions"]),
        "dims-overflow": (tensor(NORM, 1, [1 << 32, 1 << 32, 2]), [NORM]),
        "offset-past-the-end": (tensor(NORM, 3, 1 << 40), [NORM, str(1 << 40)]),
        "offset-not-aligned": (tensor(NORM, 3, 33), [NORM, "33"]),
        "alignment-0": (u32("general.alignment", 0), ["general.alignment"]),
        "alignment-3": (u32("general.alignment", 3), ["general.alignment"]),
        "type-200": (tensor(NORM, 2, 200), [NORM, "200"]),
        "type-q8-k": (tensor(TABLE, 2, 15), [TABLE, "Q8_K"]),
        "row-no-whole-blocks": (tensor(TABLE, 1, [250, 320]), [TABLE, "250"]),
        "name-twice": (same_name, ["blk.0.attn_k.weight"]),
        "token-types-short": (short_types, ["tokenizer.ggml.token_type", "319"]),
        "no-architecture": (lambda f: f.entries.pop("general.architecture"), ["general.architecture"]),
        "unknown-architecture": (entry("general.architecture", STRING, pack_string("foo")), ["foo"]),
        "no-layers": (lambda f: f.entries.pop("llama.block_count"), ["llama.block_count"]),
        "heads-0": (u32("llama.attention.head_count", 0), ["llama.attention.head_count"]),
        "layers-billion": (u32("llama.block_count", 10**9), ["num_hidden_layers"]),
        "one-layer-more": (u32("llama.block_count", 3), ["model.layers.2."]),
        "norm-of-integers": (tensor(NORM, 2, 26), ["model.norm.weight", "i32"]),
        "wrong-shape": (tensor("blk.0.attn_k.weight", 1, [128, 256]), ["k_proj", "[256, 128]"]),
        "eos-is-text": (entry("tokenizer.ggml.eos_token_id", STRING, pack_string("2")), ["eos_token_id", "2"]),
        "key-not-utf-8": (key_of_bytes, ["key", "\ufffd", "not UTF-8"]),
        "tensor-name-not-utf-8": (tensor(NORM, 0, b"norm\xe6\x97"), ["norm\ufffd", "not UTF-8"]),
        "token-not-utf-8": (broken_token, ["tokenizer.ggml.tokens", "\ufffd", "not UTF-8"]),
        "no-merges": (lambda f: f.entries.pop("tokenizer.ggml.merges"), ["tokenizer.ggml.merges"]),
        "part-2-of-1": (u32("split.no", 1), ["split.no"]),
        "part-of-3": (u32("split.count", 3), ["one of 3 parts"]),
    }


def cuts():
    """name -> bytes that are left of the file"""
    file = GgufFile(WHOLE)
    size, header = WHOLE.stat().st_size, len(file.header())
    return {"empty": 0, "cut-magic": 3, "cut-counts": 23, "cut-metadata": header // 2,
            "cut-last-entry": header - 1, "cut-first-tensor": header + 40,
            "cut-last-tensor": file.infos_end - 1, "cut-before-data": file.infos_end + 1,
            "cut-half": size // 2, "cut-last-byte": size - 1}


# The files that are well formed but nothing this program runs.
WELL_FORMED = ("version-1", "version-99", "nested-arrays", "type-q8-k", "unknown-architecture",
               "norm-of-integers")


class MalformedGguf(Refusals):
    prefix = "35-gguf-"

    def refuse(self, name, data, mentions):
        path = self.folder / f"{name}.gguf"
        path.write_bytes(data)
        answer = tokamak("logits", path, "--tokens", "1,2,3", *CPU, timeout=SECONDS, memory=MEMORY)
        self.check_refusal(name, answer, [str(path), *mentions])
        path.unlink()

    def is_well_formed(self, name):
        return name in WELL_FORMED

    def test_damaged_fields(self):
        for name, (change, mentions) in changes().items():
            with self.subTest(name):
                file = GgufFile(WHOLE)
                change(file)
                self.refuse(name, file.bytes(), mentions)

    def test_cut_files(self):
        raw = WHOLE.read_bytes()
        for name, size in cuts().items():
            with self.subTest(name):
                self.refuse(name, raw[:size], [])

    def test_the_file_as_it_is_written_again_is_accepted(self):
        self.assertEqual(GgufFile(WHOLE).bytes(), WHOLE.read_bytes())
        answer = tokamak("logits", WHOLE, "--tokens", "1,2,3", *CPU, memory=MEMORY)
        self.assertEqual((answer.status, answer.errors), (0, []), answer)


if __name__ == "__main__":
    program.main(unittest)
