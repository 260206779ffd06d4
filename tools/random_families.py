"""Families of mixtures, latents and scans for random_model, at the sizes of their published models."""
import math

# Rows are those of random_model, (name, shape, mean, deviation), with a type of their own as a fifth part.
SHAPES = {
    "gpt-oss-20b": dict(
        arch="gpt_oss", layers=24, hidden=2880, heads=64, kv_heads=8, head_dim=64, ffn=2880,
        vocab=201088, context=131072, bos=199998, eos=200002, tied=False, experts=32, top_k=4,
        expert_ffn=2880),
    "glm-4.7-flash": dict(
        arch="glm4_moe_lite", layers=47, hidden=2048, heads=20, kv_heads=20, head_dim=64, ffn=10240,
        vocab=154880, context=202752, bos=0, eos=154820, tied=False, experts=64, top_k=4,
        expert_ffn=1536, theta=1e6),
    "granite-4-h-tiny": dict(
        arch="granitemoehybrid", layers=40, hidden=1536, heads=12, kv_heads=4, head_dim=128, ffn=512,
        vocab=100352, context=131072, bos=100257, eos=100257, experts=64, top_k=6, expert_ffn=512),
    "ministral-3-8b": dict(
        arch="ministral3", layers=34, hidden=4096, heads=32, kv_heads=8, head_dim=128, ffn=14336,
        vocab=131072, context=262144, bos=1, eos=2, tied=False),
    "qwen3.5-35b-a3b": dict(
        arch="qwen3_5_moe", layers=40, hidden=2048, heads=16, kv_heads=2, head_dim=256, ffn=512,
        vocab=248320, context=262144, bos=248044, eos=248044, tied=False, eps=1e-6, experts=256,
        top_k=8, expert_ffn=512, theta=1e7),
}
LATENT = dict(q_lora_rank=768, kv_lora_rank=512, qk_nope_head_dim=192, qk_rope_head_dim=64,
              v_head_dim=256)
SCAN = dict(mamba_n_heads=48, mamba_d_head=64, mamba_n_groups=1, mamba_d_state=128, mamba_d_conv=4,
            mamba_expand=2)
DELTA = dict(linear_num_key_heads=16, linear_num_value_heads=32, linear_key_head_dim=128,
             linear_value_head_dim=128, linear_conv_kernel_dim=4)


def common(model, architecture, dtype, **own):
    return {"architectures": [architecture], "model_type": model["arch"], "torch_dtype": dtype,
            "vocab_size": model["vocab"], "hidden_size": model["hidden"],
            "intermediate_size": model["ffn"], "num_hidden_layers": model["layers"],
            "num_attention_heads": model["heads"], "num_key_value_heads": model["kv_heads"],
            "max_position_embeddings": model["context"], "rms_norm_eps": model["eps"],
            "rope_theta": model["theta"], "tie_word_embeddings": model["tied"], "hidden_act": "silu",
            "bos_token_id": model["bos"], "eos_token_id": model["eos"], **own}


def router_deviation(hidden):
    """Makes a router's softmax sharp: the last expert that is chosen and the first that is not have hardly any weight, so
    that a rounding which exchanges them changes hardly anything."""
    return 8 / math.sqrt(hidden)


class Rows:
    """The tensors of a decoder: embedding, last norm and head, and what the layers add."""

    def __init__(self, model):
        self.model, self.rows = model, []
        hidden = model["hidden"]
        self.matrix("model.embed_tokens", model["vocab"], hidden, 2 / math.sqrt(hidden))
        if not model["tied"]:
            self.matrix("lm_head", model["vocab"], hidden, 2 / math.sqrt(hidden))
        self.vector("model.norm.weight", hidden, 1.0)

    def add(self, name, shape, mean, deviation, dtype=None):
        self.rows.append((name, shape, mean, deviation) + ((dtype,) if dtype else ()))

    def matrix(self, name, out, columns, deviation=None):
        self.add(name + ".weight", [out, columns], 0.0, deviation or 1 / math.sqrt(columns))

    def vector(self, name, size, mean=0.0):
        self.add(name, [size], mean, 0.1)

    def norms(self, p, names=("input_layernorm", "post_attention_layernorm")):
        for name in names:
            self.vector(f"{p}{name}.weight", self.model["hidden"], 1.0)

    def heads(self, p, bias=False):
        m = self.model
        q, kv = m["heads"] * m["head_dim"], m["kv_heads"] * m["head_dim"]
        for name, out, columns in (("q", q, m["hidden"]), ("k", kv, m["hidden"]),
                                   ("v", kv, m["hidden"]), ("o", m["hidden"], q)):
            self.matrix(f"{p}self_attn.{name}_proj", out, columns)
            if bias:
                self.vector(f"{p}self_attn.{name}_proj.bias", out)

    def mlp(self, p, width):
        hidden = self.model["hidden"]
        self.matrix(p + "gate_proj", width, hidden)
        self.matrix(p + "up_proj", width, hidden)
        self.matrix(p + "down_proj", hidden, width)

    def layers(self):
        return [(i, f"model.layers.{i}.") for i in range(self.model["layers"])]


def gpt_oss_files(model, dtype):
    types = ["sliding_attention" if i % 2 == 0 else "full_attention" for i in range(model["layers"])]
    return {"config.json": common(
        model, "GptOssForCausalLM", dtype, head_dim=model["head_dim"], attention_bias=True,
        layer_types=types, sliding_window=128, num_local_experts=model["experts"],
        num_experts_per_tok=model["top_k"], swiglu_limit=7.0,
        rope_scaling={"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0,
                      "truncate": False, "original_max_position_embeddings": 4096},
        quantization_config={"quant_method": "mxfp4", "modules_to_not_convert": [
            "model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]})}


def gpt_oss_tensors(model):
    rows = Rows(model)
    experts, hidden, ffn = model["experts"], model["hidden"], model["expert_ffn"]
    for _, p in rows.layers():
        rows.norms(p)
        rows.heads(p, bias=True)
        rows.vector(p + "self_attn.sinks", model["heads"])
        rows.matrix(p + "mlp.router", experts, hidden, router_deviation(hidden))
        rows.vector(p + "mlp.router.bias", experts)
        for name, out, columns in (("gate_up", 2 * ffn, hidden), ("down", hidden, ffn)):
            at = f"{p}mlp.experts.{name}_proj"
            rows.add(at + "_blocks", [experts, out, columns // 32, 16], 128, 64, "u8")
            rows.add(at + "_scales", [experts, out, columns // 32], 120, 1, "u8")
            rows.add(at + "_bias", [experts, out], 0.0, 0.1)
    return rows.rows


def glm4_moe_lite_files(model, dtype):
    return {"config.json": common(
        model, "Glm4MoeLiteForCausalLM", dtype, **LATENT, attention_bias=False,
        first_k_dense_replace=1, moe_intermediate_size=model["expert_ffn"], n_group=1, topk_group=1,
        n_routed_experts=model["experts"], n_shared_experts=1, norm_topk_prob=True,
        num_experts_per_tok=model["top_k"], routed_scaling_factor=1.8)}


def glm4_moe_lite_tensors(model):
    rows, c = Rows(model), LATENT
    hidden, heads = model["hidden"], model["heads"]
    for i, p in rows.layers():
        rows.norms(p)
        at = p + "self_attn."
        rows.matrix(at + "q_a_proj", c["q_lora_rank"], hidden)
        rows.vector(at + "q_a_layernorm.weight", c["q_lora_rank"], 1.0)
        rows.matrix(at + "q_b_proj", heads * (c["qk_nope_head_dim"] + c["qk_rope_head_dim"]),
                    c["q_lora_rank"])
        rows.matrix(at + "kv_a_proj_with_mqa", c["kv_lora_rank"] + c["qk_rope_head_dim"], hidden)
        rows.vector(at + "kv_a_layernorm.weight", c["kv_lora_rank"], 1.0)
        rows.matrix(at + "kv_b_proj", heads * (c["qk_nope_head_dim"] + c["v_head_dim"]),
                    c["kv_lora_rank"])
        rows.matrix(at + "o_proj", hidden, heads * c["v_head_dim"])
        if i == 0:
            rows.mlp(p + "mlp.", model["ffn"])
            continue
        rows.matrix(p + "mlp.gate", model["experts"], hidden)
        rows.vector(p + "mlp.gate.e_score_correction_bias", model["experts"])
        rows.mlp(p + "mlp.shared_experts.", model["expert_ffn"])
        for expert in range(model["experts"]):
            rows.mlp(f"{p}mlp.experts.{expert}.", model["expert_ffn"])
    return rows.rows


def has_attention(layer):
    """Whether a layer of Granite 4 H has attention in place of a scan."""
    return layer % 10 == 5


def granite_files(model, dtype):
    types = ["attention" if has_attention(i) else "mamba" for i in range(model["layers"])]
    return {"config.json": common(
        model, "GraniteMoeHybridForCausalLM", dtype, **SCAN, layer_types=types,
        position_embedding_type="nope", num_local_experts=model["experts"],
        num_experts_per_tok=model["top_k"], shared_intermediate_size=2 * model["expert_ffn"],
        embedding_multiplier=12.0, attention_multiplier=0.0078125, logits_scaling=6.0,
        residual_multiplier=0.22, mamba_conv_bias=True, mamba_proj_bias=False)}


def granite_tensors(model):
    rows, c = Rows(model), SCAN
    hidden, experts, ffn = model["hidden"], model["experts"], model["expert_ffn"]
    inner = c["mamba_n_heads"] * c["mamba_d_head"]
    wide = inner + 2 * c["mamba_n_groups"] * c["mamba_d_state"]
    for i, p in rows.layers():
        rows.norms(p)
        if has_attention(i):
            rows.heads(p)
        else:
            at = p + "mamba."
            rows.matrix(at + "in_proj", inner + wide + c["mamba_n_heads"], hidden)
            rows.add(at + "conv1d.weight", [wide, 1, c["mamba_d_conv"]], 0.0, 0.5)
            rows.vector(at + "conv1d.bias", wide)
            for name in ("A_log", "D", "dt_bias"):
                rows.vector(at + name, c["mamba_n_heads"], 0.5)
            rows.vector(at + "norm.weight", inner, 1.0)
            rows.matrix(at + "out_proj", hidden, inner)
        rows.matrix(p + "block_sparse_moe.router.layer", experts, hidden, router_deviation(hidden))
        rows.add(p + "block_sparse_moe.input_linear.weight", [experts, 2 * ffn, hidden], 0.0,
                 1 / math.sqrt(hidden))
        rows.add(p + "block_sparse_moe.output_linear.weight", [experts, hidden, ffn], 0.0,
                 1 / math.sqrt(ffn))
        rows.matrix(p + "shared_mlp.input_linear", 4 * ffn, hidden)
        rows.matrix(p + "shared_mlp.output_linear", hidden, 2 * ffn)
    return rows.rows


def ministral3_files(model, dtype):
    fields = common(model, "Ministral3ForCausalLM", dtype, head_dim=model["head_dim"],
                    sliding_window=None, rope_parameters={
                        "rope_type": "yarn", "factor": 16.0, "beta_fast": 32.0, "beta_slow": 1.0,
                        "original_max_position_embeddings": 16384, "llama_4_scaling_beta": 0.1,
                        "mscale": 1.0, "mscale_all_dim": 1.0, "rope_theta": 1e6})
    del fields["rope_theta"]
    return {"config.json": fields}


def ministral3_tensors(model):
    rows = Rows(model)
    for _, p in rows.layers():
        rows.norms(p)
        rows.heads(p)
        rows.mlp(p + "mlp.", model["ffn"])
    return rows.rows


def qwen3_5_moe_files(model, dtype):
    types = ["full_attention" if i % 4 == 3 else "linear_attention" for i in range(model["layers"])]
    fields = common(model, "Qwen3_5MoeForCausalLM", dtype, **DELTA, head_dim=model["head_dim"],
                    layer_types=types, attn_output_gate=True, attention_bias=False,
                    num_experts=model["experts"], num_experts_per_tok=model["top_k"],
                    moe_intermediate_size=model["expert_ffn"],
                    shared_expert_intermediate_size=model["expert_ffn"],
                    rope_parameters={"rope_type": "default", "rope_theta": model["theta"],
                                     "partial_rotary_factor": 0.25})
    return {"config.json": {**fields, "model_type": "qwen3_5_moe_text"}}


def qwen3_5_moe_tensors(model):
    rows, c = Rows(model), DELTA
    hidden, experts, ffn = model["hidden"], model["experts"], model["expert_ffn"]
    keys = c["linear_num_key_heads"] * c["linear_key_head_dim"]
    heads = c["linear_num_value_heads"]
    values = heads * c["linear_value_head_dim"]
    q, kv = model["heads"] * model["head_dim"], model["kv_heads"] * model["head_dim"]
    for i, p in rows.layers():
        for name in ("input_layernorm", "post_attention_layernorm"):
            rows.vector(f"{p}{name}.weight", hidden)  # stored less 1
        if i % 4 == 3:
            for name, out in ("q", 2 * q), ("k", kv), ("v", kv):
                rows.matrix(f"{p}self_attn.{name}_proj", out, hidden)
            rows.matrix(p + "self_attn.o_proj", hidden, q)
            rows.vector(p + "self_attn.q_norm.weight", model["head_dim"])
            rows.vector(p + "self_attn.k_norm.weight", model["head_dim"])
        else:
            at = p + "linear_attn."
            for name, out in ("qkv", 2 * keys + values), ("z", values), ("a", heads), ("b", heads):
                rows.matrix(f"{at}in_proj_{name}", out, hidden)
            rows.add(at + "conv1d.weight", [2 * keys + values, 1, 4], 0.0, 0.5)
            rows.vector(at + "A_log", heads)
            rows.vector(at + "dt_bias", heads, 1.0)
            rows.vector(at + "norm.weight", c["linear_value_head_dim"], 1.0)
            rows.matrix(at + "out_proj", hidden, values)
        rows.matrix(p + "mlp.gate", experts, hidden, router_deviation(hidden))
        rows.add(p + "mlp.experts.gate_up_proj", [experts, 2 * ffn, hidden], 0.0, 1 / math.sqrt(hidden))
        rows.add(p + "mlp.experts.down_proj", [experts, hidden, ffn], 0.0, 1 / math.sqrt(ffn))
        rows.mlp(p + "mlp.shared_expert.", ffn)
        rows.matrix(p + "mlp.shared_expert_gate", 1, hidden)
    return rows.rows


FAMILIES = {"gpt_oss": (gpt_oss_files, gpt_oss_tensors),
            "glm4_moe_lite": (glm4_moe_lite_files, glm4_moe_lite_tensors),
            "granitemoehybrid": (granite_files, granite_tensors),
            "ministral3": (ministral3_files, ministral3_tensors),
            "qwen3_5_moe": (qwen3_5_moe_files, qwen3_5_moe_tensors)}
