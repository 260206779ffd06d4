#!/usr/bin/env python3
"""GPTQ matrices with their columns in orders of their own ("act-order"), against the same model with
its matrices as f32: every order for itself, or one for all that read the same input.

Run by CTest; by hand as cli_test.py.
"""
import contextlib
import io
import json
import pathlib
import random
import struct
import tempfile
import unittest

import program
from load_tool import load_tool
from program import tokamak
from safetensors_file import read_tensors, write_tensors

GROUP = 32
SIZES = ["--hidden", "64", "--heads", "2", "--layers", "2", "--ffn", "128", "--vocab", "96",
         "--dtype", "f32"]
# Whoever reads one input has one order, as whoever is quantised with it has.
READERS = {"q_proj": "qkv", "k_proj": "qkv", "v_proj": "qkv", "gate_proj": "gate_up",
           "up_proj": "gate_up"}


class Gptq:
    """One matrix [rows, columns], packed and as numbers."""

    def __init__(self, generator, rows, columns, groups_of_columns):
        groups = columns // GROUP
        self.rows, self.columns, self.g_idx = rows, columns, groups_of_columns
        step = 1 / (4.6 * columns**0.5)
        scales = [[generator.uniform(0.5, 1.5) * step for _ in range(rows)] for _ in range(groups)]
        self.scales = struct.pack(f"<{groups * rows}e", *(x for row in scales for x in row))
        rounded = struct.unpack(f"<{groups * rows}e", self.scales)
        zeros = [[generator.randrange(6, 9) for _ in range(rows)] for _ in range(groups)]
        self.zeros = b"".join(self.word(row[i : i + 8]) for row in zeros for i in range(0, rows, 8))
        q = [[generator.randrange(16) for _ in range(rows)] for _ in range(columns)]
        self.words = b"".join(self.word([q[c + i][r] for i in range(8)])
                              for c in range(0, columns, 8) for r in range(rows))
        self.values = struct.pack(f"<{rows * columns}f", *(
            rounded[g * rows + r] * (q[c][r] - zeros[g][r] - 1)
            for r in range(rows) for c, g in enumerate(groups_of_columns)))

    @staticmethod
    def word(numbers):
        return struct.pack("<I", sum(n << 4 * i for i, n in enumerate(numbers)))

    def tensors(self, module):
        groups = self.columns // GROUP
        return {
            module + ".qweight": ("I32", [self.columns // 8, self.rows], self.words),
            module + ".qzeros": ("I32", [groups, self.rows // 8], self.zeros),
            module + ".scales": ("F16", [groups, self.rows], self.scales),
            module + ".g_idx": ("I32", [self.columns],
                                struct.pack(f"<{self.columns}i", *self.g_idx)),
        }


def shuffled_groups(generator, columns):
    groups = [i // GROUP for i in range(columns)]
    generator.shuffle(groups)
    return groups


class ColumnOrder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def write(self, arch, shared, more=()):
        """-> the folders with packed matrices and with plain ones."""
        plain, packed = (self.folder / f"{kind} {shared}" for kind in ("plain", "packed"))
        with contextlib.redirect_stdout(io.StringIO()):
            load_tool("random_model").main(["--arch", arch, *SIZES, *more, "--out", str(plain)])
        packed.mkdir()
        generator, orders = random.Random(7), {}
        tensors, numbers = {}, {}
        for name, (dtype, shape, raw) in read_tensors(plain / "model.safetensors").items():
            module = name.removesuffix(".weight")
            own = module.rpartition(".")[2]
            numbers[name] = tensors[name] = (dtype, shape, raw)
            if len(shape) != 2 or not own.endswith("_proj"):
                continue
            key = (module.rpartition(".")[0], READERS.get(own, own)) if shared else module
            if key not in orders:
                orders[key] = shuffled_groups(generator, shape[1])
            matrix = Gptq(generator, *shape, orders[key])
            numbers[name] = ("F32", shape, matrix.values)
            del tensors[name]
            tensors.update(matrix.tensors(module))
        write_tensors(plain / "model.safetensors", numbers)
        write_tensors(packed / "model.safetensors", tensors)
        config = json.loads((plain / "config.json").read_text())
        config["quantization_config"] = {"quant_method": "gptq", "bits": 4, "group_size": GROUP,
                                         "desc_act": True, "checkpoint_format": "gptq"}
        (packed / "config.json").write_text(json.dumps(config))
        return packed, plain

    def logits(self, folder, backend):
        answer = tokamak("logits", folder, "--tokens", "1,17,5,80", "--all", "--json", "--kv", "f32",
                         "--backend", backend)
        self.assertEqual(answer.status, 0, answer)
        return [x for row in json.loads(answer.out)["logits"] for x in row]

    def check(self, packed, plain):
        expected = self.logits(plain, "cpu-reference")
        largest = max(map(abs, expected))
        # Sums in f64 of the same numbers; sums in f32, as tests/golden allows for them.
        for backend, tolerance in ("cpu-reference", 2e-6), ("cpu", 2e-4):
            found = self.logits(packed, backend)
            error = max(abs(a - b) for a, b in zip(found, expected, strict=True)) / largest
            self.assertLess(error, tolerance, backend)

    def fused(self, folder):
        return tokamak("inspect", folder, "--fused", "--text").out

    def test_matrices_of_one_order_are_joined(self):
        packed, plain = self.write("llama", shared=True)
        self.assertEqual(self.fused(packed).count(" = rope_append "), 2)
        self.check(packed, plain)

    def test_matrices_of_different_orders_stay_apart(self):
        packed, plain = self.write("llama", shared=False)
        self.assertNotIn(" = qkv ", self.fused(packed))
        self.assertNotIn(" = rope_append ", self.fused(packed))
        self.assertNotIn(" = linear_glu ", self.fused(packed))
        self.check(packed, plain)

    def test_each_expert_may_have_orders_of_its_own(self):
        for shared in (True, False):
            with self.subTest(shared=shared):
                self.check(*self.write("qwen3_moe", shared, ["--experts", "4", "--expert-ffn", "64"]))


if __name__ == "__main__":
    program.main(unittest)
