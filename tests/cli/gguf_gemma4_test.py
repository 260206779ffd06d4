#!/usr/bin/env python3
"""Gemma 4 as GGUF: recorded models written by the rules of llama.cpp's converter (conversion/gemma.py)
answer as they do in safetensors, bit for bit. Run by CTest; by hand as cli_test.py.
"""
import json
import pathlib
import struct
import tempfile
import unittest

import program
from gguf_file_writer import TYPES, write
from program import model, tokamak
from recorded_answer import answer
from safetensors_file import read_tensors

NAMES = {
    "model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
    "model.embed_tokens_per_layer.weight": "per_layer_token_embd.weight",
    "model.per_layer_model_projection.weight": "per_layer_model_proj.weight",
    "model.per_layer_projection_norm.weight": "per_layer_proj_norm.weight",
}
LAYER_NAMES = {
    "input_layernorm.weight": "attn_norm.weight", "self_attn.q_proj.weight": "attn_q.weight",
    "self_attn.k_proj.weight": "attn_k.weight", "self_attn.v_proj.weight": "attn_v.weight",
    "self_attn.o_proj.weight": "attn_output.weight", "self_attn.q_norm.weight": "attn_q_norm.weight",
    "self_attn.k_norm.weight": "attn_k_norm.weight",
    "post_attention_layernorm.weight": "post_attention_norm.weight",
    "pre_feedforward_layernorm.weight": "ffn_norm.weight",
    "post_feedforward_layernorm.weight": "post_ffw_norm.weight",
    "post_feedforward_layernorm_1.weight": "post_ffw_norm_1.weight",
    "post_feedforward_layernorm_2.weight": "post_ffw_norm_2.weight",
    "pre_feedforward_layernorm_2.weight": "pre_ffw_norm_2.weight",
    "mlp.gate_proj.weight": "ffn_gate.weight", "mlp.up_proj.weight": "ffn_up.weight",
    "mlp.down_proj.weight": "ffn_down.weight", "layer_scalar": "layer_output_scale.weight",
    "per_layer_input_gate.weight": "inp_gate.weight", "per_layer_projection.weight": "proj.weight",
    "post_per_layer_input_norm.weight": "post_norm.weight",
    "router.proj.weight": "ffn_gate_inp.weight", "router.scale": "ffn_gate_inp.scale",
    "router.per_expert_scale": "ffn_down_exps.scale",
    "experts.gate_up_proj": "ffn_gate_up_exps.weight", "experts.down_proj": "ffn_down_exps.weight",
}


def new_name(name):
    if name in NAMES:
        return NAMES[name]
    _, _, layer, rest = name.split(".", 3)
    return f"blk.{layer}.{LAYER_NAMES[rest]}"


def metadata(config):
    layers, heads = config["num_hidden_layers"], config["num_key_value_heads"]
    sliding = [kind == "sliding_attention" for kind in config["layer_types"]]
    own = next(iter(config.get("per_layer_config", {}).values()), {})
    full_dim = config.get("global_head_dim") or own["head_dim"]
    full_heads = config.get("num_global_key_value_heads") or own.get("num_key_value_heads")
    ropes, width = config["rope_parameters"], config["intermediate_size"]
    shared = config["num_kv_shared_layers"]
    keys = {"context_length": config["max_position_embeddings"],
            "embedding_length": config["hidden_size"], "block_count": layers,
            "feed_forward_length": width, "attention.head_count": config["num_attention_heads"],
            "attention.head_count_kv": heads,
            "attention.layer_norm_rms_epsilon": config["rms_norm_eps"],
            "attention.key_length": full_dim, "attention.value_length": full_dim,
            "attention.key_length_swa": config["head_dim"],
            "attention.value_length_swa": config["head_dim"],
            "attention.shared_kv_layers": shared,
            "attention.sliding_window": config["sliding_window"],
            "attention.sliding_window_pattern": sliding,
            "embedding_length_per_layer_input": config["hidden_size_per_layer_input"],
            "final_logit_softcapping": config["final_logit_softcapping"],
            "rope.freq_base": ropes["full_attention"]["rope_theta"],
            "rope.freq_base_swa": ropes["sliding_attention"]["rope_theta"],
            "rope.dimension_count": full_dim, "rope.dimension_count_swa": config["head_dim"]}
    if config["use_double_wide_mlp"]:
        keys["feed_forward_length"] = [width * (2 if i >= layers - shared else 1)
                                       for i in range(layers)]
    if full_heads is not None:
        keys["attention.head_count_kv"] = [heads if slides else full_heads for slides in sliding]
    if config["num_experts"] is not None:
        keys.update({"expert_count": config["num_experts"],
                     "expert_used_count": config["top_k_experts"],
                     "expert_feed_forward_length": config["moe_intermediate_size"]})
    part = ropes["full_attention"]["partial_rotary_factor"]
    turning = int(full_dim * part / 2)
    divisors = [1.0] * turning + [1e30] * (full_dim // 2 - turning)
    return {"general.architecture": "gemma4", **{f"gemma4.{k}": v for k, v in keys.items()}}, divisors


class Gemma4(unittest.TestCase):
    def convert(self, name, folder, change=lambda entries: None):
        source = pathlib.Path(model(name))
        entries, divisors = metadata(json.loads((source / "config.json").read_text()))
        tensors = [(new_name(old), TYPES[dtype], shape, raw)
                   for old, (dtype, shape, raw) in read_tensors(source / "model.safetensors").items()]
        tensors.append(("rope_freqs.weight", 0, [len(divisors)],
                        struct.pack(f"<{len(divisors)}f", *divisors)))
        change(entries)
        path = pathlib.Path(folder) / f"{name}.gguf"
        write(path, entries, tensors)
        return path

    def test_recorded_models_answer_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in "gemma4_ple", "gemma4_dense", "gemma4_moe":
                with self.subTest(name):
                    path = self.convert(name, folder)
                    self.assertEqual(answer(self, path, "cpu"), answer(self, model(name), "cpu"))

    def test_what_does_not_fit_is_refused(self):
        cases = {
            "gemma4.feed_forward_length": ([64, 64, 64, 64, 64, 64, 64, 128], "layer 5"),
            "gemma4.rope.dimension_count_swa": (16, "not a whole head"),
            "gemma4.attention.value_length_swa": (16, "value_length_swa"),
            "gemma4.expert_count": (5000, "expert_count"),
        }
        with tempfile.TemporaryDirectory() as folder:
            for key, (value, mention) in cases.items():
                with self.subTest(key):
                    path = self.convert("gemma4_ple", folder, lambda e: e.update({key: value}))
                    refusal = tokamak("logits", path, "--tokens", "1", "--backend", "cpu")
                    self.assertEqual(refusal.status, 4, refusal)
                    self.assertIn(mention, refusal.errors[0])


if __name__ == "__main__":
    program.main(unittest)
