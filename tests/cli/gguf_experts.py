"""What the converter makes of mixtures whose routers have scores of their own, and of latents."""

DEEPSEEK = {**{f"mlp.shared_experts.{part}_proj": f"ffn_{part}_shexp" for part in ("gate", "up", "down")},
            "self_attn.kv_a_proj_with_mqa": "attn_kv_a_mqa", "self_attn.kv_a_layernorm": "attn_kv_a_norm",
            "self_attn.kv_b_proj": "attn_kv_b", "self_attn.q_a_proj": "attn_q_a",
            "self_attn.q_a_layernorm": "attn_q_a_norm", "self_attn.q_b_proj": "attn_q_b",
            "mlp.gate.e_score_correction_bias": "exp_probs_b.bias"}


def scored_experts(c):
    """The keys of experts whose router has groups and a bias."""
    return {"leading_dense_block_count": c["first_k_dense_replace"],
            "expert_count": c["n_routed_experts"], "expert_used_count": c["num_experts_per_tok"],
            "expert_shared_count": c["n_shared_experts"],
            "expert_feed_forward_length": c["moe_intermediate_size"],
            "expert_weights_scale": c["routed_scaling_factor"],
            "expert_weights_norm": c["norm_topk_prob"], "expert_group_count": c.get("n_group", 1),
            "expert_group_used_count": c.get("topk_group", 1),
            "expert_gating_func": 1 if c["model_type"] == "deepseek_v2" else 2}


def deepseek(c, is_split=True):
    """The sizes of heads are under other keys since kv_b is two tensors."""
    key, rank = c["qk_nope_head_dim"] + c["qk_rope_head_dim"], c["kv_lora_rank"]
    keys = {"attention.kv_lora_rank": rank, "rope.dimension_count": c["qk_rope_head_dim"],
            "attention.key_length": key, "attention.value_length": c["v_head_dim"],
            **scored_experts(c), "rope.scaling.type": "yarn",
            "rope.scaling.factor": float(c["rope_scaling"]["factor"]),
            "rope.scaling.original_context_length": c["rope_scaling"]["original_max_position_embeddings"],
            "rope.scaling.yarn_log_multiplier": 0.1 * c["rope_scaling"]["mscale_all_dim"]}
    if c["q_lora_rank"]:
        keys["attention.q_lora_rank"] = c["q_lora_rank"]
    if is_split:
        keys.update({"attention.key_length_mla": key, "attention.value_length_mla": c["v_head_dim"],
                     "attention.key_length": rank + c["qk_rope_head_dim"],
                     "attention.value_length": rank, "attention.head_count_kv": 1})
    return keys


def split_kv_b(found, config):
    """The rows of each head's keys transposed, and those of its values, as tensors of three dimensions."""
    heads, rank = config["num_attention_heads"], config["kv_lora_rank"]
    nope, value = config["qk_nope_head_dim"], config["v_head_dim"]
    for name in [name for name in found if name.endswith("attn_kv_b.weight")]:
        (dtype, _, raw), = found.pop(name)
        size = len(raw) // (heads * (nope + value) * rank)
        rows = [raw[at:at + rank * size] for at in range(0, len(raw), rank * size)]
        keys, values = b"", b""
        for head in range(heads):
            own = rows[head * (nope + value):(head + 1) * (nope + value)]
            keys += b"".join(row[c * size:(c + 1) * size] for c in range(rank) for row in own[:nope])
            values += b"".join(own[nope:])
        found[name.replace("kv_b", "k_b")] = [(dtype, [heads, rank, nope], keys)]
        found[name.replace("kv_b", "v_b")] = [(dtype, [heads, value, rank], values)]


GLM4_MOE = {**{name: new for name, new in DEEPSEEK.items() if name.startswith("mlp.")},
            "post_attention_layernorm": "post_attention_norm"}


def glm4_moe(c):
    return {**scored_experts(c), "rope.dimension_count": c["head_dim"] // 2}


ERNIE_MOE = {"mlp.moe_statics.e_score_correction_bias": "exp_probs_b.bias",
             **{name: new for name, new in DEEPSEEK.items() if name.startswith("mlp.shared")}}
MINIMAX = {"block_sparse_moe.e_score_correction_bias": "exp_probs_b.bias"}


def ernie_moe(c):
    return {"leading_dense_block_count": c["moe_layer_start_index"],
            "interleave_moe_layer_step": c["moe_layer_interval"], "expert_count": c["moe_num_experts"],
            "expert_used_count": c["moe_k"], "expert_shared_count": c["moe_num_shared_experts"],
            "expert_feed_forward_length": c["moe_intermediate_size"]}


def minimax(c):
    return {"rope.dimension_count": c["rotary_dim"], "expert_gating_func": 2,
            "expert_count": c["num_local_experts"], "expert_used_count": c["num_experts_per_tok"],
            "expert_feed_forward_length": c["intermediate_size"]}


LFM2_MOE = {
    "model.embedding_norm": "output_norm", "operator_norm": "attn_norm", "ffn_norm": "ffn_norm",
    "self_attn.out_proj": "attn_output", "self_attn.q_layernorm": "attn_q_norm",
    "self_attn.k_layernorm": "attn_k_norm",
    **{f"conv.{name}": f"shortconv.{name}" for name in ("conv", "in_proj", "out_proj")},
    "feed_forward.gate": "ffn_gate_inp", "feed_forward.expert_bias": "exp_probs_b.bias",
    **{f"feed_forward.{experts}w{number}": f"ffn_{part}{ending}"
       for experts, ending in (("", ""), ("experts.", "_exps"))
       for number, part in ((1, "gate"), (2, "down"), (3, "up"))},
}


def lfm2_moe(c):
    return {"attention.layer_norm_rms_epsilon": c["norm_eps"], "shortconv.l_cache": c["conv_L_cache"],
            "attention.head_count_kv": [c["num_key_value_heads"] * (kind == "full_attention")
                                        for kind in c["layer_types"]],
            "leading_dense_block_count": c["num_dense_layers"], "expert_count": c["num_experts"],
            "expert_used_count": c["num_experts_per_tok"], "expert_gating_func": 2,
            "expert_feed_forward_length": c["moe_intermediate_size"],
            "expert_weights_scale": c["routed_scaling_factor"]}
