#!/usr/bin/env python3
"""Tests of tools/random_model: what it writes is a sane checkpoint of the asked shape."""
import contextlib
import io
import importlib.machinery
import importlib.util
import json
import math
import pathlib
import struct
import tempfile
import unittest

PATH = str(pathlib.Path(__file__).with_name("random_model"))
LOADER = importlib.machinery.SourceFileLoader("random_model", PATH)
LOADER_SPEC = importlib.util.spec_from_loader("random_model", LOADER)
random_model = importlib.util.module_from_spec(LOADER_SPEC)
LOADER.exec_module(random_model)

REAL_POOL = random_model.POOL
random_model.POOL = 10007  # prime too, and made in no time

SMALL = ["--arch", "llama", "--hidden", "48", "--heads", "4", "--kv-heads", "2", "--vocab", "100"]


def read(path):
    """-> {name: (shape, values)} of a file whose ranges are checked to cover it."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header, data = json.loads(raw[8 : 8 + length]), raw[8 + length :]
    header.pop("__metadata__")
    found, end = {}, 0
    for name, entry in header.items():
        begin, stop = entry["data_offsets"]
        assert begin == end, name
        end, piece = stop, data[begin:stop]
        count = math.prod(entry["shape"])
        if entry["dtype"] == "BF16":
            wide = b"".join(b"\0\0" + piece[i : i + 2] for i in range(0, len(piece), 2))
            values = struct.unpack(f"<{count}f", wide)
        else:
            values = struct.unpack(f"<{count}{'e' if entry['dtype'] == 'F16' else 'f'}", piece)
        found[name] = (entry["shape"], values)
    assert end == len(data) and (8 + length) % 8 == 0
    return found


class RandomModel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)

    def run_tool(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            random_model.main([*arguments, "--out", str(self.out)])
        return printed.getvalue()

    def test_writes_config_and_weights_that_agree(self):
        self.run_tool(*SMALL, "--no-tied")
        config = json.loads((self.out / "config.json").read_text())
        self.assertEqual(config["architectures"], ["LlamaForCausalLM"])
        self.assertEqual((config["hidden_size"], config["head_dim"]), (48, 12))
        self.assertFalse(config["tie_word_embeddings"])
        tensors = read(self.out / "model.safetensors")
        self.assertEqual(tensors["lm_head.weight"][0], [100, 48])
        self.assertEqual(tensors["model.layers.1.self_attn.k_proj.weight"][0], [24, 48])
        self.assertEqual(tensors["model.layers.0.mlp.down_proj.weight"][0], [48, 192])
        self.assertEqual(len(tensors), 3 + 2 * 9)
        self.assertTrue((self.out / "generation_config.json").exists())

    def test_values_have_the_intended_spread_in_every_type(self):
        for dtype in random_model.BYTES:
            self.run_tool(*SMALL, "--dtype", dtype)
            tensors = read(self.out / "model.safetensors")
            values = tensors["model.layers.0.mlp.up_proj.weight"][1]
            deviation = math.sqrt(sum(x * x for x in values) / len(values))
            self.assertAlmostEqual(deviation, 1 / math.sqrt(48), delta=0.005)
            norm = tensors["model.norm.weight"][1]
            self.assertAlmostEqual(sum(norm) / len(norm), 1.0, delta=0.1)

    def test_bf16_is_f32_rounded_to_the_nearest(self):
        exact, halfway_to_even = 1.0, 1.0 + 2.0**-8
        encoded = random_model.encode([exact, halfway_to_even, 1.0 + 3 * 2.0**-8, -2.5], "bf16")
        self.assertEqual(struct.unpack("<4H", encoded), (0x3F80, 0x3F80, 0x3F82, 0xC020))

    def test_gemma_norms_lie_around_zero(self):
        self.run_tool("--arch", "gemma3", "--window", "16")
        tensors = read(self.out / "model.safetensors")
        norm = tensors["model.layers.0.pre_feedforward_layernorm.weight"][1]
        self.assertLess(max(abs(x) for x in norm), 0.5)
        self.assertEqual(tensors["model.layers.0.self_attn.q_norm.weight"][0], [32])
        self.assertNotIn("lm_head.weight", tensors)
        self.assertEqual(json.loads((self.out / "config.json").read_text())["sliding_window"], 16)

    def test_hybrids_have_attention_in_some_layers(self):
        self.run_tool("--arch", "qwen3_5", "--layers", "4")
        tensors = read(self.out / "model.safetensors")
        types = json.loads((self.out / "config.json").read_text())["layer_types"]
        self.assertEqual(types, ["linear_attention"] * 3 + ["full_attention"])
        for layer, kind in enumerate(types):
            names = [n for n in tensors if n.startswith(f"model.layers.{layer}.")]
            self.assertEqual(any("self_attn" in n for n in names), kind == "full_attention")
            self.assertEqual(any("linear_attn" in n for n in names), kind == "linear_attention")
        self.assertEqual(tensors["model.layers.0.linear_attn.conv1d.weight"][0], [256, 1, 4])

    def test_experts_are_tensors_of_their_own_or_one(self):
        self.run_tool("--arch", "qwen3_moe", "--experts", "3", "--expert-ffn", "24")
        tensors = read(self.out / "model.safetensors")
        self.assertEqual(tensors["model.layers.1.mlp.gate.weight"][0], [3, 64])
        self.assertEqual(tensors["model.layers.1.mlp.experts.2.down_proj.weight"][0], [64, 24])
        self.assertNotIn("model.layers.1.mlp.experts.3.down_proj.weight", tensors)
        self.run_tool("--arch", "gemma4", "--experts", "3", "--expert-ffn", "24")
        tensors = read(self.out / "model.safetensors")
        self.assertEqual(tensors["model.layers.1.experts.gate_up_proj"][0], [3, 48, 64])

    def test_shared_layers_of_gemma_4_have_no_keys(self):
        self.run_tool("--shape", "gemma4-e2b", "--layers", "7", "--hidden", "32", "--vocab", "50",
                      "--ffn", "16")
        config = json.loads((self.out / "config.json").read_text())
        self.assertEqual(config["num_kv_shared_layers"], 2)
        tensors = read(self.out / "model.safetensors")
        self.assertIn("model.layers.4.self_attn.k_proj.weight", tensors)
        self.assertNotIn("model.layers.5.self_attn.k_proj.weight", tensors)
        self.assertEqual(tensors["model.layers.6.self_attn.q_norm.weight"][0], [512])
        self.assertEqual(tensors["model.layers.6.mlp.gate_proj.weight"][0], [32, 32])
        self.assertEqual(tensors["model.embed_tokens_per_layer.weight"][0], [50, 7 * 256])

    def test_same_options_give_the_same_bytes(self):
        self.run_tool(*SMALL)
        first = (self.out / "model.safetensors").read_bytes()
        self.run_tool(*SMALL)
        self.assertEqual((self.out / "model.safetensors").read_bytes(), first)
        self.run_tool(*SMALL, "--seed", "1")
        self.assertNotEqual((self.out / "model.safetensors").read_bytes(), first)

    def test_shards_hold_the_same_tensors(self):
        self.run_tool(*SMALL)
        whole = read(self.out / "model.safetensors")
        self.run_tool(*SMALL, "--shard-size", "30KB")
        self.assertFalse((self.out / "model.safetensors").exists())
        index = json.loads((self.out / "model.safetensors.index.json").read_text())
        files = sorted(set(index["weight_map"].values()))
        self.assertGreater(len(files), 2)
        parts = {}
        for file in files:
            held = read(self.out / file)
            self.assertTrue(all(index["weight_map"][name] == file for name in held))
            parts.update(held)
        self.assertEqual(parts, whole)
        size = sum(2 * len(values) for _, values in whole.values())
        self.assertEqual(index["metadata"]["total_size"], size)

    def test_no_two_rows_are_equal(self):
        self.run_tool(*SMALL)
        values = read(self.out / "model.safetensors")["model.embed_tokens.weight"][1]
        self.assertEqual(len({values[i : i + 48] for i in range(0, len(values), 48)}), 100)
        for shape in random_model.SHAPES.values():
            self.assertLess(shape["vocab"], REAL_POOL)

    def test_known_shapes_have_the_known_numbers_of_parameters(self):
        for name, millions in [("smollm2-135m", 134.515), ("llama-3.2-1b", 1235.814),
                               ("llama-3.1-8b", 8030.261), ("gemma3-1b", 999.886),
                               ("phi3-mini", 3821.080), ("qwen3-0.6b", 596.050),
                               ("lfm2-350m", 354.484), ("lfm2-1.2b", 1170.341),
                               ("qwen3-30b-a3b", 30532.123)]:
            model = {**random_model.DEFAULTS, **random_model.SHAPES[name]}
            count = sum(math.prod(row[1]) for row in random_model.tensors(model))
            self.assertAlmostEqual(count / 1e6, millions, delta=0.001, msg=name)

    def test_dimensions_replace_those_of_a_shape(self):
        self.run_tool("--shape", "smollm2-135m", "--layers", "1", "--vocab", "10", "--hidden", "18")
        config = json.loads((self.out / "config.json").read_text())
        self.assertEqual((config["num_hidden_layers"], config["vocab_size"]), (1, 10))
        self.assertEqual(config["num_attention_heads"], 9)

    def test_refuses_dimensions_that_do_not_fit(self):
        for extra, word in [(["--heads", "5"], "--heads"), (["--layers", "0"], "--layers"),
                            (["--head-dim", "3"], "--head-dim")]:
            with self.assertRaises(SystemExit) as stopped:
                self.run_tool(*SMALL, *extra)
            self.assertIn(word, str(stopped.exception))


if __name__ == "__main__":
    unittest.main()
