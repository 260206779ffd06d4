"""Decoders with the selective scan as llama.cpp's converter writes them (conversion/granite.py,
falcon_h1.py and mamba.py)."""
import math
import re

LAYER_NAMES = {"mamba.A_log": "ssm_a", "mamba.D": "ssm_d", "mamba.dt_bias": "ssm_dt.bias",
               "mamba.conv1d": "ssm_conv1d", "mamba.in_proj": "ssm_in", "mamba.norm": "ssm_norm",
               "mamba.out_proj": "ssm_out"}
GRANITE_NAMES = {
    **LAYER_NAMES, "block_sparse_moe.router.layer": "ffn_gate_inp",
    "block_sparse_moe.input_linear.0": "ffn_gate_exps", "block_sparse_moe.input_linear.1": "ffn_up_exps",
    "block_sparse_moe.output_linear": "ffn_down_exps", "shared_mlp.input_linear.0": "ffn_gate_shexp",
    "shared_mlp.input_linear.1": "ffn_up_shexp", "shared_mlp.output_linear": "ffn_down_shexp"}
FALCON_NAMES = {
    **LAYER_NAMES, "feed_forward.gate_proj": "ffn_gate", "feed_forward.up_proj": "ffn_up",
    "feed_forward.down_proj": "ffn_down", "pre_ff_layernorm": "ffn_norm",
    "model.final_layernorm": "output_norm"}

NEMOTRON_NAMES = {
    **{name.replace("mamba.", "mixer."): new for name, new in LAYER_NAMES.items()},
    "model.embeddings": "token_embd", "model.norm_f": "output_norm", "norm": "attn_norm",
    **{f"mixer.{part}_proj": f"attn_{part}" for part in "qkv"}, "mixer.o_proj": "attn_output",
    **{f"mixer.{at}{part}_proj": f"ffn_{part}{ending}" for part in ("up", "down")
       for at, ending in (("", ""), ("experts.", "_exps"), ("shared_experts.", "_shexp"))},
    "mixer.gate": "ffn_gate_inp", "mixer.gate.e_score_correction_bias": "exp_probs_b.bias"}


def nemotron_keys(c):
    pattern, inner = c["hybrid_override_pattern"], c["mamba_num_heads"] * c["mamba_head_dim"]
    own = {"ssm.conv_kernel": c["conv_kernel"], "ssm.state_size": c["ssm_state_size"],
           "ssm.group_count": c["n_groups"], "ssm.time_step_rank": c["mamba_num_heads"],
           "ssm.inner_size": inner, "attention.layer_norm_rms_epsilon": c["layer_norm_epsilon"],
           "attention.head_count_kv": [c["num_key_value_heads"] * (kind == "*") for kind in pattern],
           "feed_forward_length": [c["intermediate_size"] * (kind == "-") for kind in pattern]}
    if "E" not in pattern:
        return own
    return {**own, "feed_forward_length": [c["moe_intermediate_size"] * (kind == "E") for kind in pattern],
            "expert_count": c["n_routed_experts"], "expert_used_count": c["num_experts_per_tok"],
            "expert_shared_count": 1, "expert_gating_func": 2,
            "expert_feed_forward_length": c["moe_intermediate_size"],
            "expert_shared_feed_forward_length": c["moe_shared_expert_intermediate_size"],
            "expert_weights_norm": c["norm_topk_prob"], "expert_weights_scale": c["routed_scaling_factor"]}


def keys(c):
    return {"ssm.conv_kernel": c["mamba_d_conv"], "ssm.state_size": c["mamba_d_state"],
            "ssm.group_count": c["mamba_n_groups"], "ssm.time_step_rank": c["mamba_n_heads"],
            "ssm.inner_size": c["mamba_n_heads"] * c["mamba_d_head"]}


def granite_keys(c):
    return {**keys(c), "embedding_scale": c["embedding_multiplier"],
            "residual_scale": c["residual_multiplier"], "attention.scale": c["attention_multiplier"],
            "logit_scale": c["logits_scaling"], "rope.scaling.finetuned": False,
            "attention.head_count_kv": [c["num_key_value_heads"] if kind == "attention" else 0
                                        for kind in c["layer_types"]],
            "expert_count": c["num_local_experts"], "expert_used_count": c["num_experts_per_tok"],
            "expert_shared_feed_forward_length": c["shared_intermediate_size"]}


def factors(stem, rows, c):
    """-> what Falcon-H1 multiplies each row of a matrix by"""
    inner, bc = c["mamba_n_heads"] * c["mamba_d_head"], c["mamba_n_groups"] * c["mamba_d_state"]
    if stem == "mamba.in_proj":
        parts = zip(c["ssm_multipliers"], (inner, inner, bc, bc, c["mamba_n_heads"]))
        return [c["ssm_in_multiplier"] * factor for factor, count in parts for _ in range(count)]
    one = {"model.embed_tokens": c["embedding_multiplier"], "lm_head": c["lm_head_multiplier"],
           "self_attn.q_proj": c["attention_in_multiplier"],
           "self_attn.k_proj": c["attention_in_multiplier"] * c["key_multiplier"],
           "self_attn.v_proj": c["attention_in_multiplier"],
           "self_attn.o_proj": c["attention_out_multiplier"], "mamba.out_proj": c["ssm_out_multiplier"],
           "feed_forward.gate_proj": c["mlp_multipliers"][0],
           "feed_forward.down_proj": c["mlp_multipliers"][1]}.get(stem, 1.0)
    return [one] * rows


def halves(shape, values):
    """The first and the last half of each matrix's rows."""
    half = shape[-2] // 2 * shape[-1]
    for which in (0, 1):
        yield [*shape[:-2], shape[-2] // 2, shape[-1]], [
            value for at in range(which * half, len(values), 2 * half) for value in values[at:at + half]]


def converted(tensors, c):
    """-> (name, (dtype, shape, values)) of each tensor of the checkpoint, or of its parts"""
    for name, (dtype, shape, values) in tensors.items():
        stem = re.sub(r"^model\.layers\.\d+\.|\.weight$", "", name).replace("mixer.", "mamba.")
        if stem == "mamba.A_log":
            yield name, (dtype, [*shape, 1], [-math.exp(value) for value in values])
        elif stem == "mamba.D":
            yield name, (dtype, [*shape, 1], values)
        elif stem == "mamba.conv1d":
            yield name, ("F32", [shape[0], shape[2]], values)
        elif stem == "mamba.norm":
            groups = c["n_groups" if c["model_type"] == "nemotron_h" else "mamba_n_groups"]
            yield name, (dtype, [groups, shape[0] // groups], values)
        elif stem.endswith("input_linear"):
            for i, half in enumerate(halves(shape, values)):
                yield name.replace("input_linear", f"input_linear.{i}"), (dtype, *half)
        elif c["model_type"] == "falcon_h1" and len(shape) == 2:
            rows = factors(stem, shape[0], c)
            yield name, ("F32", shape, [value * rows[i // shape[1]] for i, value in enumerate(values)])
        else:
            yield name, (dtype, shape, values)
