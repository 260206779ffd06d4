#!/usr/bin/env python3
"""Tests of tools/random_model: what it writes is a sane checkpoint of the asked shape."""
import contextlib
import io
import importlib.machinery
import importlib.util
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "malformed"))
from gguf_file import GgufFile  # noqa: E402

RECORDED = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data"
PROGRAM = os.environ.get("TOKAMAK_PROGRAM")  # without it nothing is run
PATH = str(pathlib.Path(__file__).with_name("random_model"))
LOADER = importlib.machinery.SourceFileLoader("random_model", PATH)
LOADER_SPEC = importlib.util.spec_from_loader("random_model", LOADER)
random_model = importlib.util.module_from_spec(LOADER_SPEC)
LOADER.exec_module(random_model)

random_packed = random_model.random_packed
REAL_POOL, REAL_BLOCKS = random_model.POOL, random_packed.BLOCKS
random_model.POOL = random_packed.BLOCKS = 10007  # prime too, and made in no time

PACKED = ["--arch", "llama", "--hidden", "128", "--heads", "4", "--kv-heads", "2", "--vocab", "300"]
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
        if entry["dtype"] == "U32":
            values = struct.unpack(f"<{count}I", piece)
        elif entry["dtype"] == "BF16":
            wide = b"".join(b"\0\0" + piece[i : i + 2] for i in range(0, len(piece), 2))
            values = struct.unpack(f"<{count}f", wide)
        else:
            values = struct.unpack(f"<{count}{'e' if entry['dtype'] == 'F16' else 'f'}", piece)
        found[name] = (entry["shape"], values)
    assert end == len(data) and (8 + length) % 8 == 0
    return found


def kind(name):
    """A name without the numbers of layers, and weight norms as torch used to spell them."""
    for new, old in ("original0", "weight_g"), ("original1", "weight_v"):
        name = name.replace("parametrizations.weight." + new, old)
    return re.sub(r"\.\d+\.", ".N.", name)


def ranks(folder):
    """-> [(name, how many extents)] of a checkpoint's tensors."""
    raw = (folder / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    return [(name, len(entry["shape"])) for name, entry in header.items()
            if name != "__metadata__"]


def affine_values(tensors, module):
    """Rows of the numbers that MLX's packing stands for."""
    (rows, _), words = tensors[module + ".weight"]
    scales, biases = (tensors[module + ending][1] for ending in (".scales", ".biases"))
    numbers = [word >> shift & 15 for word in words for shift in range(0, 32, 4)]
    values = [scales[i // 64] * q + biases[i // 64] for i, q in enumerate(numbers)]
    columns = len(values) // rows
    return [tuple(values[i : i + columns]) for i in range(0, len(values), columns)]


def block_values(file, name):
    """Rows of the numbers that a GGUF file's Q4_0 or Q8_0 blocks stand for."""
    _, (columns, rows), kind, offset = file.tensor(name)
    size = {2: 18, 8: 34}[kind]
    out = []
    for row in range(rows):
        values = []
        for block in range(columns // 32):
            at = offset + (row * columns // 32 + block) * size
            (step,) = struct.unpack_from("<e", file.data, at)
            packed = file.data[at + 2 : at + size]
            numbers = struct.unpack("<32b", packed) if kind == 8 else [
                *((b & 15) - 8 for b in packed), *((b >> 4) - 8 for b in packed)]
            values += [step * number for number in numbers]
        out.append(tuple(values))
    return out


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
        self.run_tool("--shape", "gemma4-e4b", "--layers", "8", "--hidden", "32", "--vocab", "50",
                      "--ffn", "16")
        config = json.loads((self.out / "config.json").read_text())
        self.assertFalse(config["use_double_wide_mlp"])
        tensors = read(self.out / "model.safetensors")
        self.assertEqual(tensors["model.layers.7.mlp.gate_proj.weight"][0], [16, 32])
        self.assertNotIn("model.layers.7.self_attn.k_proj.weight", tensors)

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
            self.assertLess(shape.get("vocab", 0), REAL_POOL)  # codecs have none

    def check_spread(self, rows):
        values = [x for row in rows for x in row]
        deviation = math.sqrt(sum(x * x for x in values) / len(values))
        self.assertAlmostEqual(deviation * math.sqrt(len(rows[0])), 1.0, delta=0.05)
        self.assertAlmostEqual(sum(values) / len(values), 0.0, delta=0.03 * deviation)
        self.assertEqual(len(set(rows)), len(rows))

    def check_runs(self, model):
        """Greedy tokens of the program on its CPU backend; there are none of logits that are NaN."""
        if PROGRAM is None:
            self.skipTest("TOKAMAK_PROGRAM is not set")
        done = subprocess.run([PROGRAM, "logits", str(model), "--tokens", "3,4,5", "--steps", "4",
                               "--backend", "cpu", "--json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertLess(max(map(abs, result["logits"])), 20.0)
        self.assertEqual(len(result["greedy"]), 4)

    def test_packs_matrices_as_mlx_does(self):
        self.run_tool(*PACKED, "--packing", "mlx4")
        config = json.loads((self.out / "config.json").read_text())
        self.assertEqual(config["quantization"], {"group_size": 64, "bits": 4, "mode": "affine"})
        tensors = read(self.out / "model.safetensors")
        self.assertEqual(tensors["model.layers.0.mlp.down_proj.weight"][0], [128, 64])
        self.assertEqual(tensors["model.layers.0.mlp.down_proj.scales"][0], [128, 8])
        self.assertEqual(tensors["model.norm.weight"][0], [128])
        self.check_spread(affine_values(tensors, "model.layers.1.mlp.down_proj"))
        self.check_runs(self.out)

    def test_writes_a_gguf_file_of_blocks(self):
        for packing, kind, file_type in ("q4_0", 2, 2), ("q8_0", 8, 7):
            with self.subTest(packing):
                self.run_tool(*PACKED, "--packing", packing, "--no-tied")
                file = GgufFile(self.out / "model.gguf")
                self.assertEqual(file.tensor("blk.1.attn_k.weight")[1:3], [[128, 64], kind])
                self.assertEqual(file.tensor("output_norm.weight")[2], 0)
                self.assertEqual(len(file.tensors), 3 + 2 * 9)
                self.assertEqual(file.entries["general.file_type"], (4, struct.pack("<I", file_type)))
                last = max(file.tensors, key=lambda tensor: tensor[3])
                self.assertGreater(len(file.data), last[3])
                self.check_spread(block_values(file, "blk.1.ffn_down.weight"))
                self.check_runs(self.out / "model.gguf")

    def test_lists_in_a_gguf_file_are_typed_as_llama_cpp_wants(self):
        self.run_tool(*PACKED, "--packing", "q8_0")
        kind, value = GgufFile(self.out / "model.gguf").entries["tokenizer.ggml.token_type"]
        self.assertEqual((kind, struct.unpack_from("<IQ", value)), (9, (5, 300)))

    def test_gemma_4_in_a_gguf_file_has_its_kinds_of_layers(self):
        self.run_tool("--shape", "gemma4-e2b", "--layers", "12", "--hidden", "64", "--ffn", "96",
                      "--vocab", "300", "--packing", "q8_0")
        file = GgufFile(self.out / "model.gguf")

        def listed(key, form):
            kind, value = file.entries["gemma4." + key]
            inner, count = struct.unpack_from("<IQ", value)
            self.assertEqual((kind, count), (9, 12), key)
            return inner, list(struct.unpack_from(f"<12{form}", value, 12))

        full = [4, 9, 11]
        self.assertEqual(listed("attention.sliding_window_pattern", "?"),
                         (7, [i not in full for i in range(12)]))
        self.assertEqual(listed("feed_forward_length", "i"), (5, [96] * 5 + [192] * 7))
        for key, number in [("attention.key_length", 512), ("attention.key_length_swa", 256),
                            ("attention.shared_kv_layers", 7),
                            ("embedding_length_per_layer_input", 256)]:
            self.assertEqual(file.entries["gemma4." + key], (4, struct.pack("<I", number)))
        names = {tensor[0] for tensor in file.tensors}
        self.assertIn("blk.4.attn_k.weight", names)
        self.assertNotIn("blk.5.attn_k.weight", names)
        self.assertEqual(file.tensor("per_layer_token_embd.weight")[1:3], [[12 * 256, 300], 8])
        self.assertEqual(file.tensor("per_layer_model_proj.weight")[1:3], [[64, 12 * 256], 30])
        self.assertEqual(file.tensor("blk.3.layer_output_scale.weight")[1:3], [[1], 0])
        _, extents, kind, offset = file.tensor("rope_freqs.weight")
        divisors = struct.unpack_from("<256f", file.data, offset)
        self.assertEqual((extents, kind, divisors[63], divisors[:64]), ([256], 0, 1.0, (1.0,) * 64))
        self.assertTrue(all(divisor > 1e29 for divisor in divisors[64:]))
        self.check_runs(self.out / "model.gguf")

    def test_a_gguf_file_has_a_vocabulary(self):
        for vocab in ("300", "100"):  # the second does not even hold all bytes
            self.run_tool(*PACKED, "--packing", "q4_0", "--vocab", vocab)
            if PROGRAM is None:
                self.skipTest("TOKAMAK_PROGRAM is not set")
            done = subprocess.run([PROGRAM, "run", str(self.out / "model.gguf"), "-p", "!\" a", "-n",
                                   "3", "--greedy", "--backend", "cpu"], capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_architecture_with_a_gguf_form_runs(self):
        for arch in random_packed.GGUF_ARCHITECTURES:
            with self.subTest(arch):
                self.run_tool("--arch", arch, "--packing", "q8_0", "--vocab", "300")
                self.check_runs(self.out / "model.gguf")

    def test_experts_of_a_gguf_file_are_one_tensor_a_layer(self):
        self.run_tool("--arch", "qwen3_moe", "--packing", "q4_0", "--vocab", "300", "--layers", "1",
                      "--hidden", "64", "--experts", "6", "--top-k", "2", "--expert-ffn", "32")
        file = GgufFile(self.out / "model.gguf")
        self.assertEqual(file.tensor("blk.0.ffn_down_exps.weight")[1:3], [[32, 64, 6], 2])
        self.assertEqual(file.tensor("blk.0.ffn_gate_inp.weight")[1:3], [[64, 6], 0])
        self.assertEqual(file.entries["qwen3moe.expert_count"], (4, struct.pack("<I", 6)))
        self.check_runs(self.out / "model.gguf")

    def test_divisors_of_rope_are_llama_3s(self):
        self.run_tool("--shape", "llama-3.2-1b", "--layers", "1", "--hidden", "64", "--ffn", "64",
                      "--vocab", "300", "--packing", "q4_0")
        file = GgufFile(self.out / "model.gguf")
        _, extents, kind, offset = file.tensor("rope_freqs.weight")
        divisors = struct.unpack_from("<32f", file.data, offset)
        self.assertEqual((extents, kind), ([32], 0))
        # Wave lengths of 2 pi 500000^(i/32): up to 2048 they stay, from 8192 they are 32 times as long.
        for i, divisor in enumerate(divisors):
            wave = 2 * math.pi * 5e5 ** (i / 32)
            self.assertEqual(divisor == 1.0, wave <= 2048)
            self.assertEqual(divisor == 32.0, wave >= 8192)
            self.assertTrue(1.0 <= divisor <= 32.0)

    def test_no_two_packed_rows_can_be_equal(self):
        for name in random_model.SHAPES.keys() - random_model.random_senses.SHAPES.keys():
            self.assertLess(random_model.SHAPES[name]["vocab"], REAL_BLOCKS)

    def test_packing_wants_whole_groups_and_a_known_architecture(self):
        for extra, word in [(["--packing", "mlx4", "--hidden", "96"], "no multiple of 64"),
                            (["--packing", "q4_0", "--hidden", "72"], "no multiple of 32"),
                            (["--packing", "q8_0", "--arch", "lfm2"], "not of lfm2"),
                            (["--packing", "q8_0", "--arch", "gemma4", "--experts", "2"],
                             "without experts")]:
            with self.assertRaises(SystemExit) as stopped:
                self.run_tool(*PACKED, *extra)
            self.assertIn(word, str(stopped.exception))

    def test_known_shapes_have_the_known_numbers_of_parameters(self):
        for name, millions in [("smollm2-135m", 134.515), ("llama-3.2-1b", 1235.814),
                               ("llama-3.1-8b", 8030.261), ("gemma3-1b", 999.886),
                               ("phi3-mini", 3821.080), ("qwen3-0.6b", 596.050),
                               ("lfm2-350m", 354.484), ("lfm2-1.2b", 1170.341),
                               ("qwen3-30b-a3b", 30532.123), ("whisper-base", 72.594),
                               ("whisper-small", 241.735), ("moonshine-tiny", 27.093),
                               ("moonshine-base", 61.513), ("minilm-l6", 22.713),
                               ("bge-base", 109.482), ("gemma3-4b", 4300.079),
                               ("qwen3-vl-2b", 2127.532)]:
            model = {**random_model.DEFAULTS, **random_model.SHAPES[name]}
            count = sum(math.prod(row[1]) for row in random_model.tensors(model))
            self.assertAlmostEqual(count / 1e6, millions, delta=0.001, msg=name)

    def test_other_kinds_have_the_tensors_of_recorded_models(self):
        for shape, recorded in [("whisper-base", "speech/whisper"),
                                ("moonshine-base", "speech/moonshine"),
                                ("bge-base", "embeddings/minilm"),
                                ("ms-marco-minilm-l6", "rerank/cross_bert"),
                                ("kani-tts-2", "speech/kani_tts2"),
                                ("nanocodec", "speech/nanocodec"),
                                ("gemma3-4b", "vision/gemma3_vl"),
                                ("qwen3.5-0.8b-vl", "vision/qwen3_5_vl_images")]:
            with self.subTest(shape):
                model = {**random_model.DEFAULTS, **random_model.SHAPES[shape]}
                own = {(kind(row[0]), len(row[1])) for row in random_model.tensors(model)}
                self.assertEqual(own, {(kind(name), rank) for name, rank in ranks(RECORDED / recorded)
                                       if not re.search("^mtp|position_ids|^lm_head", name)})

    def test_other_kinds_run(self):
        if PROGRAM is None:
            self.skipTest("TOKAMAK_PROGRAM is not set")
        tower = dict(layers=1, hidden=32, heads=2, ffn=48)
        sizes = {"--layers": 3, "--hidden": 64, "--heads": 4, "--ffn": 96}
        text = {**sizes, "--vocab": 300}
        for shape, flags, bench in [
            ("whisper-base", {**sizes, "--vocab": 1700}, ["--seconds", "1", "--heard-tokens", "3"]),
            ("moonshine-tiny", text, ["--seconds", "1", "--heard-tokens", "3"]),
            ("bge-base", text, ["--texts", "2", "--text-tokens", "8"]),
            ("ms-marco-minilm-l6", text, ["--texts", "2", "--text-tokens", "8"]),
            ("kani-tts-2", {**sizes, "--kv-heads": 2, "--head-dim": 16}, ["--seconds", "0.4"]),
            ("nanocodec", {"--hidden": 64}, ["--seconds", "0.4"]),
            ("qwen3.5-0.8b-vl", {**text, "--kv-heads": 2, "--head-dim": 64}, ["--image", "64"]),
            ("qwen3-vl-2b", {**text, "--kv-heads": 2, "--head-dim": 16}, ["--image", "64"]),
            ("gemma3-4b", {**text, "--kv-heads": 2, "--head-dim": 16}, ["--image", "64"]),
        ]:
            with self.subTest(shape):
                small = dict(random_model.SHAPES[shape])
                if "tower" in small:
                    small["tower"] = {**small["tower"], **tower}
                    if "image" in small["tower"]:
                        small["tower"].update(image=56, tokens=4)
                out = self.out / shape
                with mock.patch.dict(random_model.SHAPES, {shape: small}):
                    with contextlib.redirect_stdout(io.StringIO()):
                        random_model.main(["--shape", shape, "--dtype", "f32", "--out", str(out),
                                           *(str(x) for pair in flags.items() for x in pair)])
                        if shape == "kani-tts-2":
                            random_model.main(["--shape", "nanocodec", "--dtype", "f32",
                                               "--hidden", "64", "--out", str(out / "codec")])
                done = subprocess.run([PROGRAM, "bench", str(out), "--backend", "cpu", "-r", "1",
                                       *bench], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("results repeat; they are finite", done.stdout)

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
