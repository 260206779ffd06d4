#!/usr/bin/env python3
"""Qwen3.5 as GGUF: a recorded model written by the rules of llama.cpp's converter (conversion/qwen.py)
answers as it does in safetensors. Run by CTest; by hand as cli_test.py.
"""
import json
import math
import pathlib
import struct
import tempfile
import unittest

import program
from gguf_file_writer import TYPES, write
from program import model, tokamak
from recorded_answer import answer
from safetensors_file import read_tensors

NAMES = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
         "lm_head.weight": "output.weight"}
LAYER_NAMES = {
    "input_layernorm.weight": "attn_norm.weight",
    "post_attention_layernorm.weight": "post_attention_norm.weight",
    "mlp.gate_proj.weight": "ffn_gate.weight", "mlp.up_proj.weight": "ffn_up.weight",
    "mlp.down_proj.weight": "ffn_down.weight", "self_attn.q_proj.weight": "attn_q.weight",
    "self_attn.k_proj.weight": "attn_k.weight", "self_attn.v_proj.weight": "attn_v.weight",
    "self_attn.o_proj.weight": "attn_output.weight", "self_attn.q_norm.weight": "attn_q_norm.weight",
    "self_attn.k_norm.weight": "attn_k_norm.weight", "linear_attn.A_log": "ssm_a",
    "linear_attn.dt_bias": "ssm_dt.bias", "linear_attn.conv1d.weight": "ssm_conv1d.weight",
    "linear_attn.in_proj_a.weight": "ssm_alpha.weight",
    "linear_attn.in_proj_b.weight": "ssm_beta.weight",
    "linear_attn.in_proj_qkv.weight": "attn_qkv.weight",
    "linear_attn.in_proj_z.weight": "attn_gate.weight", "linear_attn.norm.weight": "ssm_norm.weight",
    "linear_attn.out_proj.weight": "ssm_out.weight",
}
BYTES = {"F32": 4, "F16": 2, "BF16": 2}


def new_name(name):
    if name in NAMES:
        return NAMES[name]
    _, _, layer, rest = name.split(".", 3)
    return f"blk.{layer}.{LAYER_NAMES[rest]}"


def floats(dtype, raw):
    if dtype == "BF16":
        raw = b"".join(b"\0\0" + raw[at:at + 2] for at in range(0, len(raw), 2))
    return list(struct.unpack(f"<{len(raw) // 4}f", raw))


def packed(values):
    return struct.pack(f"<{len(values)}f", *values)


def by_turns(raw, start, unit, config):
    """The value heads from `start` on, of `unit` bytes each, as the file has them."""
    keys = config["linear_num_key_heads"]
    each = config["linear_num_value_heads"] // keys
    heads = [raw[start + i * unit:start + (i + 1) * unit] for i in range(keys * each)]
    return raw[:start] + b"".join(heads[k * each + i] for i in range(each) for k in range(keys))


def converted(name, dtype, shape, raw, config):
    """-> (dtype, shape, bytes), as the converter makes them."""
    qk_rows = 2 * config["linear_num_key_heads"] * config["linear_key_head_dim"]
    value = config["linear_value_head_dim"]
    if name.endswith((".A_log", ".dt_bias")):
        values = floats(dtype, raw)
        if name.endswith(".A_log"):
            values = [-math.exp(x) for x in values]
        return "F32", shape, by_turns(packed(values), 0, 4, config)
    if name.endswith("conv1d.weight"):
        taps = shape[-1]
        values = by_turns(packed(floats(dtype, raw)), qk_rows * taps * 4, value * taps * 4, config)
        return "F32", [shape[0], taps], values
    if len(shape) == 1:
        one = 0.0 if name.endswith("linear_attn.norm.weight") else 1.0
        return "F32", shape, packed([one + x for x in floats(dtype, raw)])
    row = shape[1] * BYTES[dtype]
    if name.endswith("in_proj_qkv.weight"):
        raw = by_turns(raw, qk_rows * row, value * row, config)
    elif name.endswith("in_proj_z.weight"):
        raw = by_turns(raw, 0, value * row, config)
    elif name.endswith(("in_proj_a.weight", "in_proj_b.weight")):
        raw = by_turns(raw, 0, row, config)
    elif name.endswith("linear_attn.out_proj.weight"):
        raw = b"".join(by_turns(raw[at:at + row], 0, value * BYTES[dtype], config)
                       for at in range(0, len(raw), row))
    return dtype, shape, raw


def metadata(config, further):
    ropes, values = config["rope_parameters"], config["linear_num_value_heads"]
    part = ropes.get("partial_rotary_factor", config.get("partial_rotary_factor", 0.25))
    keys = {"context_length": config["max_position_embeddings"],
            "embedding_length": config["hidden_size"],
            "block_count": config["num_hidden_layers"] + further,
            "feed_forward_length": config["intermediate_size"],
            "attention.head_count": config["num_attention_heads"],
            "attention.head_count_kv": config["num_key_value_heads"],
            "attention.layer_norm_rms_epsilon": config["rms_norm_eps"],
            "attention.key_length": config["head_dim"],
            "attention.value_length": config["head_dim"],
            "full_attention_interval": config.get("full_attention_interval", 4),
            "rope.freq_base": float(ropes["rope_theta"]),
            "rope.dimension_count": int(config["head_dim"] * part),
            "rope.dimension_sections": [11, 11, 10, 0],
            "ssm.conv_kernel": config["linear_conv_kernel_dim"],
            "ssm.state_size": config["linear_key_head_dim"],
            "ssm.group_count": config["linear_num_key_heads"], "ssm.time_step_rank": values,
            "ssm.inner_size": values * config["linear_value_head_dim"]}
    if further:
        keys["nextn_predict_layers"] = further
    return {"general.architecture": "qwen35", **{f"qwen35.{k}": v for k, v in keys.items()}}


class Qwen35(unittest.TestCase):
    def convert(self, folder, further=0, change=lambda entries: None):
        source = pathlib.Path(model("qwen3_5_text"))
        config = json.loads((source / "config.json").read_text())
        entries = metadata(config, further)
        change(entries)
        tensors = []
        for old, (dtype, shape, raw) in read_tensors(source / "model.safetensors").items():
            dtype, shape, raw = converted(old, dtype, shape, raw, config)
            tensors.append((new_name(old), TYPES[dtype], shape, raw))
        for layer in range(config["num_hidden_layers"], config["num_hidden_layers"] + further):
            tensors.append((f"blk.{layer}.nextn.enorm.weight", 0, [8], packed([1.0] * 8)))
        path = pathlib.Path(folder) / "qwen3_5.gguf"
        write(path, entries, tensors)
        return path

    def test_the_recorded_model_answers_the_same(self):
        """But for the order of sums: heads lie by turns."""
        with tempfile.TemporaryDirectory() as folder:
            for further in 0, 1:
                path = self.convert(folder, further)
                with self.subTest(further=further):
                    logits, greedy = answer(self, path, "cpu")
                    expected, expected_greedy = answer(self, model("qwen3_5_text"), "cpu")
                    largest = max(map(abs, expected))
                    worst = max(abs(a - b) for a, b in zip(logits, expected, strict=True))
                    self.assertLess(worst, 1e-5 * largest)
                    self.assertEqual(greedy, expected_greedy)

    def test_what_does_not_fit_is_refused(self):
        cases = {"qwen35.ssm.inner_size": 130, "qwen35.nextn_predict_layers": 6,
                 "qwen35.expert_count": 4}
        with tempfile.TemporaryDirectory() as folder:
            for key, value in cases.items():
                with self.subTest(key):
                    path = self.convert(folder, 0, lambda e: e.update({key: value}))
                    refusal = tokamak("logits", path, "--tokens", "1", "--backend", "cpu")
                    self.assertEqual(refusal.status, 4, refusal)
                    self.assertIn(key, refusal.errors[0])


if __name__ == "__main__":
    program.main(unittest)
