#!/usr/bin/env python3
"""`tokamak quantize` of folders to MLX's packing: what the packed numbers say is what the engine computes
with. Run by CTest; by hand as cli_test.py.
"""
import json
import pathlib
import struct
import tempfile
import unittest

import program
from cli_test import Cli
from recorded_answer import cosine, last_logits
from safetensors_file import read_tensors, write_tensors

MODELS = pathlib.Path(program.DATA) / "models"
SHARDED, TIED, EXPERTS = MODELS / "llama_sharded", MODELS / "gemma3_softcap", MODELS / "qwen3_moe"
# The least cosine of the logits with those of the floats, whose random weights lose more than trained ones.
LEAST = {"mlx8": 0.9998, "mlx6": 0.996, "mlx5": 0.985, "mlx4": 0.97, "mlx3": 0.8}


def half(raw, at):
    return struct.unpack("<f", b"\0\0" + raw[2 * at:2 * at + 2])[0]


def unpacked(tensors, module, bits):
    """-> the matrix of bf16 scales and biases as floats, by MLX's layout"""
    _, (rows, words), numbers = tensors[module + ".weight"]
    kind, (_, groups), scales = tensors[module + ".scales"]
    biases = tensors[module + ".biases"][2]
    assert kind == "BF16", kind
    columns = words * 32 // bits
    values = []
    for row in range(rows):
        stream = int.from_bytes(numbers[4 * words * row:4 * words * (row + 1)], "little")
        for column in range(columns):
            at = row * groups + column // (columns // groups)
            values.append(half(scales, at) * (stream >> bits * column & (1 << bits) - 1) + half(biases, at))
    return [rows, columns], struct.pack(f"<{len(values)}f", *values)


class QuantizeMlx(Cli):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def packed(self, model, kind, name, *flags):
        out = self.folder / name
        self.ok("quantize", model, "-o", out, "--type", kind, *flags)
        return out

    def test_the_engine_computes_with_what_the_numbers_say(self):
        for model, bits, group in ((TIED, 4, 64), (TIED, 3, 32), (EXPERTS, 8, 32)):
            out = self.packed(model, f"mlx{bits}", f"says{bits}", "--group-size", group)
            config = json.loads((out / "config.json").read_text())
            for field in ("quantization", "quantization_config"):
                self.assertEqual(config.pop(field), {"group_size": group, "bits": bits, "mode": "affine"})
            tensors = read_tensors(out / "model.safetensors")
            modules = [name.removesuffix(".scales") for name in tensors if name.endswith(".scales")]
            self.assertIn("model.embed_tokens", modules)
            self.assertFalse([module for module in modules if module.endswith("mlp.gate")])
            for module in modules:
                shape, raw = unpacked(tensors, module, bits)
                tensors[module + ".weight"] = ("F32", shape, raw)
                del tensors[module + ".scales"], tensors[module + ".biases"]
            floats = self.folder / f"floats{bits}"
            floats.mkdir()
            write_tensors(floats / "model.safetensors", tensors)
            (floats / "config.json").write_text(json.dumps(config))
            expected, found = last_logits(floats), last_logits(out)
            worst = max(abs(a - b) for a, b in zip(expected, found, strict=True))
            self.assertLess(worst, 1e-5 * max(map(abs, expected)), bits)

    def test_every_type_gives_nearly_the_answers_of_the_floats(self):
        expected = last_logits(SHARDED)
        for kind, least in LEAST.items():
            out = self.packed(SHARDED, kind, f"type-{kind}", "--group-size", "32")
            self.assertGreater(cosine(expected, last_logits(out)), least, kind)

    def test_shards_stay_with_an_index_of_their_tensors(self):
        out = self.packed(SHARDED, "mlx4", "shards", "--group-size", "32")
        self.assertEqual({path.name for path in out.iterdir()},
                         {path.name for path in SHARDED.iterdir() if path.is_file()})
        index = json.loads((out / "model.safetensors.index.json").read_text())
        places = {name: path.name for path in out.glob("*.safetensors") for name in read_tensors(path)}
        self.assertEqual(index["weight_map"], places)
        size = sum(len(raw) for path in out.glob("*.safetensors") for _, _, raw in read_tensors(path).values())
        self.assertEqual(index["metadata"]["total_size"], size)

    def test_states_and_joined_projections_are_packed(self):
        for name in ("qwen3_5_text", "phi3_fused", "gemma4_ple"):
            out = self.packed(MODELS / name, "mlx8", f"kind-{name}", "--group-size", "32")
            self.assertGreater(cosine(last_logits(MODELS / name), last_logits(out)), 0.995, name)
            tensors = read_tensors(out / "model.safetensors")
            self.assertTrue([one for one in tensors if "layers" in one and one.endswith(".scales")])

    def test_no_byte_depends_on_the_threads(self):
        one, three = (self.packed(SHARDED, "mlx4", f"threads{n}", "--threads", n) for n in ("1", "3"))
        for path in one.iterdir():
            self.assertEqual(path.read_bytes(), (three / path.name).read_bytes(), path.name)

    def test_a_dry_run_lists_all_and_writes_nothing(self):
        out = self.folder / "dry"
        run = self.ok("quantize", SHARDED, "-o", out, "--type", "mlx4", "--group-size", "32", "--dry-run")
        self.assertFalse(out.exists())
        self.assertRegex(run.out, r"q_proj\.weight .* f16 +mlx4 ")
        self.assertRegex(run.out, r"norm\.weight .* stays: no matrix of floats")

    def test_what_cannot_be_is_refused(self):
        out = self.folder / "refused"
        gguf = pathlib.Path(program.DATA) / "gguf" / "llama-q8_0.gguf"
        self.refused(4, "expected a folder of safetensors", "quantize", gguf, "-o", out, "--type", "mlx4")
        self.refused(4, "packed already", "quantize", MODELS / "llama_mlx4_g64", "-o", out, "--type", "mlx4")
        self.refused(2, "must name a folder that does not", "quantize", SHARDED, "-o", self.folder, "--type", "mlx4")
        self.refused(2, "for GGUF files", "quantize", SHARDED, "-o", out, "--type", "mlx4", "--imatrix", gguf)
        self.refused(2, "--group-size", "quantize", gguf, "-o", out, "--type", "q8_0", "--group-size", "32")
        self.refused(2, "48", "quantize", SHARDED, "-o", out, "--type", "mlx4", "--group-size", "48")
        self.refused(4, "--type mlx4", "quantize", SHARDED, "-o", out)
        self.assertEqual([path.name for path in self.folder.glob("refused*")], [])


if __name__ == "__main__":
    program.main(unittest)
