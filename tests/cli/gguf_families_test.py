#!/usr/bin/env python3
"""Families as GGUF: the recipes of tests/data/families written by the rules of llama.cpp's converter
(conversion/ and gguf-py/gguf/tensor_mapping.py) give the recorded answers. Run by CTest; by hand as
cli_test.py.
"""
import functools
import json
import math
import pathlib
import re
import tempfile
import unittest

import gguf_experts as experts
import gguf_mamba2 as mamba2
import gguf_qwen3_5_test as qwen3_5
import program
from gguf_file_writer import TYPES, write
from made_tensors import packed, tensors
from program import tokamak

MODEL_NAMES = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
LAYER_NAMES = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "block_sparse_moe.gate": "ffn_gate_inp", "mlp.gate": "ffn_gate_inp",
    "block_sparse_moe.experts.w1": "ffn_gate_exps", "block_sparse_moe.experts.w2": "ffn_down_exps",
    "block_sparse_moe.experts.w3": "ffn_up_exps", "mlp.experts.gate_proj": "ffn_gate_exps",
    "mlp.experts.down_proj": "ffn_down_exps", "mlp.experts.up_proj": "ffn_up_exps",
}
NORMS_AFTER = {"post_attention_layernorm": "post_attention_norm",
               "post_feedforward_layernorm": "post_ffw_norm"}
SHARED = {f"mlp.shared_expert.{part}_proj": f"ffn_{part}_shexp" for part in ("gate", "up", "down")}

# family: (general.architecture, names of its own, keys of its own)
FAMILIES = {
    "cohere2": ("cohere2", {}, lambda c: {
        "attention.layer_norm_epsilon": c["layer_norm_eps"], "logit_scale": c["logit_scale"],
        "attention.sliding_window": c["sliding_window"]}),
    "deepseek_v2": ("deepseek2", experts.DEEPSEEK, experts.deepseek),
    "deepseek_v3": ("deepseek2", experts.DEEPSEEK, experts.deepseek),
    "ernie4_5": ("ernie4_5", {}, lambda c: {}),
    "ernie4_5_moe": ("ernie4_5-moe", experts.ERNIE_MOE, experts.ernie_moe),
    "exaone4": ("exaone4", NORMS_AFTER, lambda c: {"attention.sliding_window": c["sliding_window"]}),
    "falcon_h1": ("falcon-h1", mamba2.FALCON_NAMES, mamba2.keys),
    "falcon_h1_norm": ("falcon-h1", mamba2.FALCON_NAMES, mamba2.keys),
    "gemma": ("gemma", {}, lambda c: {}),
    "gemma2": ("gemma2", {**NORMS_AFTER, "pre_feedforward_layernorm": "ffn_norm"}, lambda c: {
        "attention.sliding_window": c["sliding_window"],
        "attn_logit_softcapping": c["attn_logit_softcapping"],
        "final_logit_softcapping": c["final_logit_softcapping"]}),
    "glm4": ("glm4", {"post_self_attn_layernorm": "post_attention_norm", "mlp.gate_up_proj": "ffn_up",
                      "post_mlp_layernorm": "post_ffw_norm"},
             lambda c: {"rope.dimension_count": 16}),
    "glm4_moe": ("glm4moe", experts.GLM4_MOE, experts.glm4_moe),
    "gpt_oss": ("gpt-oss", {"mlp.router": "ffn_gate_inp", "self_attn.sinks": "attn_sinks.weight",
                            "post_attention_layernorm": "post_attention_norm"}, lambda c: {
        "attention.sliding_window": c["sliding_window"], "expert_count": c["num_local_experts"],
        "expert_used_count": c["num_experts_per_tok"],
        "expert_feed_forward_length": c["intermediate_size"],
        "rope.scaling.type": "yarn", "rope.scaling.factor": c["rope_scaling"]["factor"],
        "rope.scaling.original_context_length": 64}),
    "granite": ("granite", {}, lambda c: {
        "embedding_scale": c["embedding_multiplier"], "residual_scale": c["residual_multiplier"],
        "attention.scale": c["attention_multiplier"], "logit_scale": c["logits_scaling"]}),
    "granite4_h": ("granitehybrid", mamba2.GRANITE_NAMES, mamba2.granite_keys),
    "hunyuan_dense": ("hunyuan-dense", {"self_attn.query_layernorm": "attn_q_norm",
                                        "self_attn.key_layernorm": "attn_k_norm"},
                      lambda c: {"rope.freq_base": c["rope_theta"] * c["rope_scaling"]["alpha"] ** (
                          c["head_dim"] / (c["head_dim"] - 2))}),
    "lfm2_moe": ("lfm2moe", experts.LFM2_MOE, experts.lfm2_moe),
    "minimax_m2": ("minimax-m2", experts.MINIMAX, experts.minimax),
    "ministral3": ("mistral3", {}, lambda c: {
        "attention.temperature_scale": c["rope_parameters"]["llama_4_scaling_beta"],
        "rope.freq_base": c["rope_parameters"]["rope_theta"],
        "rope.scaling.type": "yarn", "rope.scaling.factor": c["rope_parameters"]["factor"],
        "rope.scaling.yarn_log_multiplier": c["rope_parameters"]["mscale_all_dim"],
        "rope.scaling.original_context_length":
            c["rope_parameters"]["original_max_position_embeddings"]}),
    "mixtral": ("llama", {}, lambda c: {"expert_count": c["num_local_experts"],
                                        "expert_used_count": c["num_experts_per_tok"]}),
    "nemotron_h": ("nemotron_h", mamba2.NEMOTRON_NAMES, mamba2.nemotron_keys),
    "nemotron_h_moe": ("nemotron_h_moe", mamba2.NEMOTRON_NAMES, mamba2.nemotron_keys),
    "olmo2": ("olmo2", NORMS_AFTER, lambda c: {}),
    "olmo3": ("olmo2", NORMS_AFTER, lambda c: {
        "attention.sliding_window": c["sliding_window"],
        "attention.sliding_window_pattern": [kind[0] == "s" for kind in c["layer_types"]],
        "rope.scaling.type": "yarn", "rope.scaling.factor": c["rope_scaling"]["factor"],
        "rope.scaling.original_context_length": 64}),
    "qwen3_5_moe": ("qwen35moe", {
        **{old.removesuffix(".weight"): new.removesuffix(".weight")
           for old, new in qwen3_5.LAYER_NAMES.items()},
        **SHARED, "mlp.shared_expert_gate": "ffn_gate_inp_shexp"}, lambda c: {
            "expert_count": c["num_experts"], "expert_used_count": c["num_experts_per_tok"],
            "expert_feed_forward_length": c["moe_intermediate_size"],
            "expert_shared_feed_forward_length": c["shared_expert_intermediate_size"]}),
    "phi": ("phi2", {"self_attn.dense": "attn_output", "mlp.fc1": "ffn_up", "mlp.fc2": "ffn_down",
                     "model.final_layernorm": "output_norm"}, lambda c: {
        "attention.layer_norm_epsilon": c["layer_norm_eps"], "rope.dimension_count": 8}),
    "seed_oss": ("seed_oss", {}, lambda c: {}),
    "smollm3": ("smollm3", {}, lambda c: {}),
    "stablelm": ("stablelm", {}, lambda c: {
        "attention.layer_norm_epsilon": c["layer_norm_eps"], "rope.dimension_count": 4,
        "use_parallel_residual": c["use_parallel_residual"]}),
    "starcoder2": ("starcoder2", {"mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}, lambda c: {
        "attention.layer_norm_epsilon": c["norm_epsilon"],
        "attention.sliding_window": c["sliding_window"]}),
}
PERMUTED = ("granite", "granitehybrid", "llama", "mistral3", "smollm3")


def family(name):
    return json.loads(pathlib.Path(program.DATA, "families", f"{name}.json").read_text())


def metadata(config, architecture, own):
    heads = config["num_attention_heads"]
    head_dim = config.get("head_dim", config["hidden_size"] // heads)
    keys = {"context_length": config["max_position_embeddings"],
            "embedding_length": config["hidden_size"], "block_count": config["num_hidden_layers"],
            "feed_forward_length": config["intermediate_size"], "attention.head_count": heads,
            "attention.head_count_kv": config["num_key_value_heads"],
            "attention.key_length": head_dim, "attention.value_length": head_dim}
    if "rms_norm_eps" in config:
        keys["attention.layer_norm_rms_epsilon"] = config["rms_norm_eps"]
    if "rope_theta" in config:
        keys["rope.freq_base"] = float(config["rope_theta"])
    if architecture == "qwen35moe":
        keys.update({key.split(".", 1)[1]: value for key, value in
                     qwen3_5.metadata(config, 0).items() if key.startswith("qwen35.")})
        del keys["feed_forward_length"]
    return {"general.architecture": architecture,
            **{f"{architecture}.{key}": value for key, value in {**keys, **own(config)}.items()}}


def in_pairs(values, shape, heads):
    """Rows i and i + d/2 of each head one after the other, as the converter permutes q and k."""
    columns = shape[1] if len(shape) > 1 else 1
    rows = [values[at:at + columns] for at in range(0, len(values), columns)]
    half = len(rows) // heads // 2
    order = [head * 2 * half + which * half + i
             for head in range(heads) for i in range(half) for which in range(2)]
    return [value for row in order for value in rows[row]]


def separate_experts(made):
    """-> the tensors with the experts of gpt-oss as the converter writes them: gate and up apart, in
    blocks of a scale and 32 numbers, of which the first 16 are the low halves of the bytes"""
    out = {}
    for name, (dtype, shape, values) in made.items():
        stem, _, kind = name.rpartition("_")
        if kind == "scales":
            continue
        if ".experts." not in name:
            out[name] = dtype, shape, values
            continue
        rows = shape[0] * shape[1]
        width = len(values) // rows
        lines = [values[at:at + width] for at in range(0, len(values), width)]
        if kind == "blocks":
            scales = made[stem + "_scales"][2]
            groups = width // 16
            for row, line in enumerate(lines):
                blocks = []
                for group in range(groups):
                    halves = [half for byte in line[16 * group:16 * group + 16]
                              for half in (int(byte) & 15, int(byte) >> 4)]
                    blocks += [scales[row * groups + group],
                               *(halves[i] | halves[i + 16] << 4 for i in range(16))]
                lines[row] = blocks
            dtype, columns = "MXFP4", [32 * groups]
        else:
            columns = []
        ending = ".bias" if kind == "bias" else ".weight"
        parts = {"gate_proj": lines[0::2], "up_proj": lines[1::2]} if "gate_up" in stem else {
            "down_proj": lines}
        for part, own in parts.items():
            new = re.sub(r"(gate_up|down)_proj$", part, stem) + ending
            out[new] = (dtype, [shape[0], len(own) // shape[0], *columns],
                        [value for line in own for value in line])
    return out


def entry(name, dtype, shape, values, architecture, config):
    """-> (dtype, shape, bytes), as the converter makes them"""
    if architecture in PERMUTED and re.search(r"self_attn\.[qk]_proj", name):
        heads = config["num_attention_heads" if "q_proj" in name else "num_key_value_heads"]
        values = in_pairs(values, shape, heads)
    if architecture == "qwen35moe":
        dtype, shape, raw = qwen3_5.converted(name, dtype, shape, packed(values, dtype), config)
        return dtype, shape[1:] if name.endswith("shared_expert_gate.weight") else shape, raw
    if architecture in ("gemma", "gemma2") and len(shape) == 1:
        values = [1 + value for value in values]
    return dtype, shape, packed(values, dtype)


def frequency_divisors(config):
    """What "llama3" divides each frequency by, which the converter writes as a tensor."""
    scaling, size = config["rope_scaling"], config["head_dim"]
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    divisors = []
    for i in range(0, size, 2):
        turns = scaling["original_max_position_embeddings"] / (2 * math.pi) / config["rope_theta"] ** (i / size)
        kept = min(max((turns - low) / (high - low), 0.0), 1.0)
        divisors.append(1 / ((1 - kept) / scaling["factor"] + kept))
    return divisors


class GgufFamilies(unittest.TestCase):
    def convert(self, name, folder, is_split=True, is_stacked=True, tokenizer=None):
        recipe = family(name)
        architecture, names, own = FAMILIES[name]
        found = {}
        made = tensors(recipe)
        if name == "gpt_oss":
            made = separate_experts(made)
        if architecture in ("falcon-h1", "granitehybrid", "nemotron_h", "nemotron_h_moe"):
            made = dict(mamba2.converted(made, recipe["config"]))
        for old, (dtype, shape, values) in made.items():
            layer = re.match(r"model\.layers\.(\d+)\.", old)
            stem, dot, suffix = old[layer.end() if layer else 0:].rpartition(".")
            if not (dot and suffix in ("weight", "bias")):
                stem, suffix = old[layer.end():], ""
            expert = re.search(r"\.experts\.(\d+)", stem)
            stem = stem.replace(expert[0], ".experts") if expert else stem
            new = {**MODEL_NAMES, **LAYER_NAMES, **names}[stem]
            if expert and not is_stacked:
                new = new.replace("_exps", "." + expert[1])
            new = (f"blk.{layer[1]}." if layer else "") + new + ("." + suffix if suffix else "")
            one = entry(old, dtype, shape, values, architecture, recipe["config"])
            found.setdefault(new, []).append(one)
        if (recipe["config"].get("rope_scaling") or {}).get("rope_type") == "llama3":
            values = frequency_divisors(recipe["config"])
            found["rope_freqs.weight"] = [("F32", [len(values)], packed(values, "F32"))]
        if architecture == "deepseek2" and is_split:
            experts.split_kv_b(found, recipe["config"])
        elif architecture == "deepseek2":
            own = functools.partial(experts.deepseek, is_split=False)
        path = pathlib.Path(folder) / f"{name}.gguf"
        write(path, {**metadata(recipe["config"], architecture, own), **(tokenizer or {})},
              [(new, TYPES[parts[0][0]], [len(parts), *parts[0][1]] if len(parts) > 1 else parts[0][1],
                b"".join(raw for _, _, raw in parts)) for new, parts in found.items()])
        return path

    def test_the_recorded_answers(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, form in [*((name, {}) for name in FAMILIES), ("deepseek_v2", {"is_split": False}),
                               ("deepseek_v3", {"is_split": False}), ("mixtral", {"is_stacked": False})]:
                path = self.convert(name, folder, **form)
                for prompt in family(name)["prompts"]:
                    with self.subTest(name, **form, prompt=prompt["name"]):
                        greedy = prompt["greedy"]["ids"]
                        run = tokamak("logits", path, "--tokens", ",".join(map(str, prompt["ids"])),
                                      "--steps", len(greedy), "--json", "--backend", "cpu-reference")
                        self.assertEqual(run.status, 0, run)
                        result, expected = json.loads(run.out), prompt["logits_last"]
                        worst = max(abs(a - b) for a, b in zip(result["logits"], expected, strict=True))
                        self.assertTrue(math.isfinite(worst))
                        self.assertLess(worst, 5e-5 * max(map(abs, expected)))
                        self.assertEqual(result["greedy"][:len(greedy)], greedy)


if __name__ == "__main__":
    program.main(unittest)
