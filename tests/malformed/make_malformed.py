#!/usr/bin/env python3
"""Writes damaged copies of the test models, one folder per case, and manifest.json.

example: tests/malformed/make_malformed.py tests/data/models /tmp/malformed

manifest.json is a list of
  {"case": folder name, "group": number, "expect": "error" | "load-ok-generation-error",
   "command": "logits" | "embed", "must_mention": [...]}
Each entry of must_mention is a string that the error must contain, or a list of which it must
contain one. "error": opening the model fails. "load-ok-generation-error": opening it may succeed,
generating must fail. In no case may the program crash, hang or succeed.

The groups are those of malformed containers (1-17, 20-22, 25-29), of tensors that do not fit the
model (18, 19, 23, 24), of bad configurations (30, 31), of encoders (32) and of bad packed matrices
(33 of MLX, 34 of GPTQ, 37 of others in packed_cases.py).
"""
import argparse
import json
import pathlib
import shutil
import struct

import packed_cases
from damage import (CASES, MODULE, WEIGHTS, case, entry_case, file_case, halve, join, packed_config_case, split,
                    tensors_case, text_case)

INDEX = WEIGHTS + ".index.json"
FIRST, SECOND = "lm_head.weight", "model.embed_tokens.weight"
NORM = "model.norm.weight"


# --- Damaging one safetensors file -------------------------------------------------------------


def with_length(length):
    return lambda raw: struct.pack("<Q", length(raw)) + raw[8:]


file_case("01-empty-file", lambda raw: b"", "0 bytes")
file_case("02-short-length-field", lambda raw: raw[:5], "5 bytes")
file_case("03-truncated-header", lambda raw: raw[:200], "header", "192")
file_case("04-header-too-long", with_length(lambda raw: 2**63 - 1), "header", str(2**63 - 1))
file_case("04-header-too-long-2-64", with_length(lambda raw: 2**64 - 1), "header")
file_case("05-header-past-end", with_length(lambda raw: len(raw) - 7), "header")
file_case("06-header-zero", with_length(lambda raw: 0), "header")
file_case("07-header-not-json", lambda raw: raw[:8] + b"x" + raw[9:], "header", "JSON")
file_case("08-header-json-array", lambda raw: struct.pack("<Q", 2) + b"[]", "header", "array")
file_case("09-header-deep", lambda raw: struct.pack("<Q", 100000) + b"[" * 100000, "header")

OFFSETS = b'"shape":[512,64],"data_offsets":[0,65536]'
for variant, number in [
    ("1e400", b"1e400"),
    ("20-digits", b"99999999999999999999"),
    ("negative", b"-1"),
    ("fraction", b"1.5"),
    ("string", b'"0"'),
]:
    text_case(
        f"10-header-huge-number-{variant}",
        OFFSETS,
        OFFSETS.replace(b"65536", number),
        WEIGHTS,
        [FIRST, "JSON"],
    )

file_case("11-truncated-data-by-1", lambda raw: raw[:-1], NORM)
file_case("11-truncated-data-half", lambda raw: raw[: len(raw) // 2], "tensor")
file_case("12-trailing-data", lambda raw: raw + bytes(16), "426896")
entry_case("13-overlapping-offsets", SECOND, lambda e: e.update(data_offsets=[0, 65536]), FIRST)


@case("14-hole-in-data", WEIGHTS, NORM)
def hole(folder):
    header, data = split(folder / WEIGHTS)
    entries = json.loads(header)
    begin, end = entries[NORM]["data_offsets"]
    entries[NORM]["data_offsets"] = [begin + 16, end + 16]
    join(folder / WEIGHTS, json.dumps(entries).encode(), data + bytes(16))


entry_case("15-offsets-reversed", FIRST, lambda e: e.update(data_offsets=[65536, 0]), WEIGHTS)
entry_case("16-offset-size-mismatch", FIRST, lambda e: e.update(data_offsets=[0, 65538]), "65538")
entry_case("17-unknown-dtype", FIRST, lambda e: e.update(dtype="BF17"), "BF17")
entry_case("17-unknown-dtype-q4", FIRST, lambda e: e.update(dtype="Q4"), "Q4")
entry_case("17-missing-dtype", FIRST, lambda e: e.pop("dtype"), "dtype")
entry_case("18-wrong-dtype", FIRST, lambda e: e.update(dtype="I16"), "i16")
Q_PROJ, DOWN_PROJ = "model.layers.0.self_attn.q_proj.weight", "model.layers.0.mlp.down_proj.weight"
SWAPPED = ["[64, 128]", "[128, 64]"]  # both the found and the expected one are named
entry_case("19-wrong-shape-q-proj", Q_PROJ, lambda e: e["shape"].reverse(), *SWAPPED)
entry_case("19-wrong-shape-down-proj", DOWN_PROJ, lambda e: e["shape"].reverse(), *SWAPPED)
EXPERTS, EXPERT = "model.layers.0.experts.gate_up_proj", "model.layers.0.mlp.experts.7.up_proj.weight"
entry_case("19-wrong-shape-experts", EXPERTS, lambda e: e.update(shape=[8, 32, 64]), "[8, 32, 64]",
           "[4, 64, 64]", base="gemma4_moe")
entry_case("19-wrong-shape-experts-flat", EXPERTS, lambda e: e.update(shape=[256, 64]), "[256, 64]",
           "[4, 64, 64]", base="gemma4_moe")
entry_case("19-wrong-shape-expert", EXPERT, lambda e: e["shape"].reverse(), "[64, 32]", "[32, 64]",
           base="qwen3_moe")
entry_case("20-shape-overflow", FIRST, lambda e: e.update(shape=[2**32, 2**32, 2]), "4294967296")
entry_case("21-shape-zero", FIRST, lambda e: e.update(shape=[0, 128]), "[0, 128]")
entry_case("21-shape-negative", FIRST, lambda e: e.update(shape=[-1, 128]), "-1")
text_case("22-duplicate-name", SECOND.encode(), FIRST.encode(), WEIGHTS, FIRST, "twice")
UP_PROJ = "model.layers.1.mlp.up_proj.weight"
for variant, tensor in [("up-proj", UP_PROJ), ("norm", NORM), ("lm-head", FIRST)]:
    renamed = tensor.replace("_proj.", "_prox.").replace("norm.", "norx.").replace("head.", "heax.")
    before, after = f'"{tensor}"'.encode(), f'"{renamed}"'.encode()
    text_case(f"23-missing-tensor-{variant}", before, after, tensor)
for variant, value in [("nan", b"\xc0\x7f"), ("inf", b"\x80\x7f")]:

    @case(f"24-{variant}-weights", ["NaN", "infinite", "not a number", "not numbers"],
          expect="load-ok-generation-error")
    def overwrite(folder, value=value):
        header, data = split(folder / WEIGHTS)
        begin = json.loads(header)[NORM]["data_offsets"][0]
        join(folder / WEIGHTS, header, data[:begin] + value + data[begin + 2 :])


text_case("25-name-with-nul", b'"lm_head.weight"', b'"lm_head\\u0000.weight"', WEIGHTS, "lm_head")
text_case("25-name-with-invalid-utf8", b'"lm_head.weight"', b'"lm_head\xff\xfe.weight"', WEIGHTS)


# --- Damaging a sharded model -------------------------------------------------------------------


def shard(number):
    return f"model-0000{number}-of-00003.safetensors"


def index_case(name, place, *mentions):
    """Sends lm_head.weight to `place`."""

    def damage(folder):
        index = json.loads((folder / INDEX).read_text())
        index["weight_map"][FIRST] = place
        (folder / INDEX).write_text(json.dumps(index))

    case(name, INDEX, FIRST, place, *mentions, base="llama_sharded")(damage)


@case("26-index-missing-shard", shard(2), base="llama_sharded")
def missing_shard(folder):
    (folder / shard(2)).unlink()


index_case("27-index-wrong-shard", shard(1))
index_case("27-index-parent-folder", "../../etc/passwd")
index_case("27-index-absolute-path", "/etc/passwd")


@case("28-index-not-json", INDEX, base="llama_sharded")
def half_index(folder):
    text = (folder / INDEX).read_bytes()
    (folder / INDEX).write_bytes(text[: len(text) // 2])


@case("29-shard-swap", [shard(1), shard(3)], base="llama_sharded")
def swap_shards(folder):
    first, third = (folder / shard(1)).read_bytes(), (folder / shard(3)).read_bytes()
    (folder / shard(1)).write_bytes(third)
    (folder / shard(3)).write_bytes(first)


# --- Damaging config.json -----------------------------------------------------------------------


@case("30-config-missing", "config.json")
def no_config(folder):
    (folder / "config.json").unlink()


for variant, edit in [
    ("empty", lambda text: ""),
    ("null", lambda text: "null"),
    ("trailing-comma", lambda text: text.rstrip()[:-1].rstrip() + ",\n}\n"),
]:

    @case(f"30-config-{variant}", "config.json")
    def edit_config(folder, edit=edit):
        path = folder / "config.json"
        path.write_text(edit(path.read_text()))


def config_case(name, changes, *mentions, base="llama_untied", both=False):
    """Sets fields of config.json; `both` sets them in generation_config.json too."""

    def damage(folder):
        for file in ["config.json"] + ["generation_config.json"] * both:
            config = json.loads((folder / file).read_text())
            config.update(changes)
            (folder / file).write_text(json.dumps(config, indent=2))

    case("31-config-" + name, *mentions, base=base)(damage)


config_case("hidden-size-0", {"hidden_size": 0}, "hidden_size")
config_case("heads-0", {"num_attention_heads": 0}, "num_attention_heads")
config_case("heads-not-divisible", {"num_key_value_heads": 3}, "num_key_value_heads")
TOO_MANY_LAYERS = ["num_hidden_layers", "model.layers.3."]
config_case("layers-billion", {"num_hidden_layers": 10**9}, TOO_MANY_LAYERS)
config_case("vocab-size", {"vocab_size": 513}, ["vocab_size", SECOND])
config_case("head-dim-odd", {"head_dim": 31}, "head_dim")
config_case("eps-string", {"rms_norm_eps": "1e-5"}, "rms_norm_eps")
config_case("rope-theta-0", {"rope_theta": 0}, "rope_theta")
config_case("one-layer-more", {"num_hidden_layers": 4}, TOO_MANY_LAYERS)
FULL, SLIDING = "full_attention", "sliding_attention"
config_case("layer-types-short", {"layer_types": [FULL] * 2}, "layer_types", base="gemma3_hub")
config_case("layer-type-unknown", {"layer_types": [SLIDING] * 6 + ["spiral_attention"]},
            "spiral_attention", base="gemma3_hub")
for base, other in ("lfm2", "conv"), ("qwen3_5_text", "linear_attention"):
    config_case(f"{base}-layer-types-short", {"layer_types": [other] * 4}, "layer_types", base=base)
    config_case(f"{base}-layer-type-unknown", {"layer_types": [other] * 4 + ["spiral_attention"]},
                "spiral_attention", base=base)
config_case("lfm2-attention-beyond-layers", {"layer_types": None, "full_attn_idxs": [2, 5]},
            "full_attn_idxs", base="lfm2")
config_case("lfm2-taps-0", {"conv_L_cache": 0}, "conv_L_cache", base="lfm2")
config_case("lfm2-taps-1", {"conv_L_cache": 1}, "conv_L_cache", base="lfm2")
config_case("lfm2-ffn-huge", {"block_ffn_dim_multiplier": 1e300}, "block_ff_dim", base="lfm2")
config_case("qwen3_5-taps-0", {"linear_conv_kernel_dim": 0}, "linear_conv_kernel_dim",
            base="qwen3_5_text")
config_case("qwen3_5-key-heads-3", {"linear_num_key_heads": 3}, "linear_num_key_heads",
            base="qwen3_5_text")
config_case("qwen3_5-value-heads-million", {"linear_num_value_heads": 10**6},
            "linear_num_value_heads", base="qwen3_5_text")
config_case("kv-shared-all", {"num_kv_shared_layers": 8}, "num_kv_shared_layers", "8",
            base="gemma4_ple")
config_case("kv-shared-type", {"layer_types": [SLIDING] * 7 + [FULL]}, "num_kv_shared_layers",
            base="gemma4_ple")
config_case("kv-shared-negative", {"num_kv_shared_layers": -1}, "num_kv_shared_layers",
            base="gemma4_ple")
config_case("ple-vocab", {"vocab_size_per_layer_input": 511}, "vocab_size_per_layer_input",
            base="gemma4_ple")
config_case("ple-huge", {"hidden_size_per_layer_input": 2**31 - 1}, "hidden_size_per_layer_input",
            base="gemma4_ple")
config_case("gemma4-layer-type", {"layer_types": [SLIDING] * 7 + ["spiral_attention"]},
            "spiral_attention", base="gemma4_ple")
config_case("gemma4-bidirectional", {"use_bidirectional_attention": "all"},
            "use_bidirectional_attention", base="gemma4_ple")
config_case("gemma4-rope-part", {"rope_parameters": {FULL: {"rope_type": "proportional",
                                                            "partial_rotary_factor": 1.5}}},
            "partial_rotary_factor", base="gemma4_ple")
for variant, entries in [("list", []), ("key", {"x": {}}), ("layer", {"99": {}}),
                         ("sliding", {"00": {"head_dim": 64}}), ("field", {"02": {"window": 3}}),
                         ("number", {"02": 3}), ("few", {"02": {"head_dim": 64}}),
                         ("unlike", {"02": {"head_dim": 64}, "05": {"head_dim": 32}})]:
    config_case(f"per-layer-{variant}", {"per_layer_config": entries}, "per_layer_config",
                base="gemma4_dense")
config_case("top-k", {"num_experts_per_tok": 9}, "num_experts_per_tok", "9", "8", base="qwen3_moe")
config_case("top-k-0", {"num_experts_per_tok": 0}, "num_experts_per_tok", base="qwen3_moe")
config_case("gemma4-top-k", {"top_k_experts": 5}, "top_k_experts", "5", "4", base="gemma4_moe")
config_case("experts-missing", {"num_experts": None}, "num_experts", base="gemma4_moe")
config_case("experts-billion", {"num_experts": 10**9}, "num_experts", base="qwen3_moe")
config_case("one-expert-more", {"num_experts": 9}, ["mlp.gate.weight"], base="qwen3_moe")
config_case("one-expert-less", {"num_experts": 3}, ["gate_up_proj", "router"], base="gemma4_moe")
config_case("mlp-only-beyond", {"mlp_only_layers": [3]}, "mlp_only_layers", base="qwen3_moe")
config_case("mlp-only-number", {"mlp_only_layers": 1}, "mlp_only_layers", base="qwen3_moe")
config_case("sparse-step-0", {"decoder_sparse_step": 0}, "decoder_sparse_step", base="qwen3_moe")
config_case("model-type-unknown", {"model_type": "foo", "architectures": ["FooForCausalLM"]},
            ["foo", "FooForCausalLM"])
config_case("architectures-empty", {"architectures": []}, "architectures")
config_case("sliding-window-0", {"sliding_window": 0}, "sliding_window", base="gemma3_hub")
config_case("sliding-window-negative", {"sliding_window": -1}, "sliding_window", base="gemma3_hub")
config_case("eos-empty", {"eos_token_id": []}, "eos_token_id", both=True)
config_case("eos-beyond-vocab", {"eos_token_id": 512}, "eos_token_id", "512", both=True)


# --- Damaging an encoder ------------------------------------------------------------------------

ENCODER = "../embeddings/embeddinggemma"
MODULES, POOLING, DENSE = "modules.json", "1_Pooling/config.json", "2_Dense/config.json"


def encoder_case(name, file, edit, *mentions):
    """`edit`: the text of `file` -> another."""

    def damage(folder):
        path = folder / file
        path.write_text(edit(path.read_text()))

    case("32-encoder-" + name, *mentions, base=ENCODER)(damage)


encoder_case("modules-half", MODULES, lambda text: text[: len(text) // 2], MODULES)
encoder_case("modules-object", MODULES, lambda text: "{}", MODULES, "an object")
encoder_case("module-unknown", MODULES, lambda text: text.replace("models.Dense", "models.LSTM"),
             MODULES, "LSTM")
encoder_case("module-own-code", MODULES,
             lambda text: text.replace("sentence_transformers.models.Dense", "own.Dense"),
             "own.Dense")
encoder_case("module-outside", MODULES, lambda text: text.replace("2_Dense", "../2_Dense"),
             MODULES, "../2_Dense")
encoder_case("module-missing", MODULES, lambda text: text.replace("3_Dense", "9_Dense"), "9_Dense")
encoder_case("pooling-max", POOLING, lambda text: text.replace('"pooling_mode_mean_tokens": true',
             '"pooling_mode_max_tokens": true, "pooling_mode_mean_tokens": false')
             .replace('"pooling_mode_max_tokens": false,', ""), POOLING, "max")
encoder_case("pooling-none", POOLING, lambda text: text.replace("true", "false", 1), POOLING)
encoder_case("pooling-width", POOLING, lambda text: text.replace("64", "65"), "65", "64")
encoder_case("dense-width", DENSE, lambda text: text.replace("160", "161"), "161", "160")
encoder_case("dense-activation", DENSE, lambda text: text.replace("linear.Identity",
             "activation.Hardswish"), DENSE, "Hardswish")
encoder_case("dense-null", DENSE, lambda text: "null", DENSE)


@case("32-encoder-dense-lacks-weights", "2_Dense", "model.safetensors", base=ENCODER)
def no_dense(folder):
    (folder / "2_Dense" / WEIGHTS).unlink()


@case("32-encoder-dense-turned", "2_Dense/linear.weight", "[160, 64]", base=ENCODER)
def turned_dense(folder):
    path = folder / "2_Dense" / WEIGHTS
    header, data = split(path)
    entries = json.loads(header)
    entries["linear.weight"]["shape"].reverse()
    join(path, json.dumps(entries).encode(), data)


@case("32-encoder-dense-renamed", "2_Dense/linear.weight", base=ENCODER)
def renamed_dense(folder):
    path = folder / "2_Dense" / WEIGHTS
    header, data = split(path)
    join(path, header.replace(b'"linear.weight"', b'"linear.weighs"'), data)


# --- Damaging packed matrices -------------------------------------------------------------------

MLX, GPTQ = "llama_mlx4_g64", "llama_gptq4_g128_actorder"


def as_f16(tensors):
    entry = tensors[MODULE + ".weight"]
    entry["dtype"] = "F16"
    entry["shape"][1] *= 2


def set_group(value):
    def edit(tensors):
        entry = tensors[MODULE + ".g_idx"]
        entry["data"] = struct.pack("<i", value) + entry["data"][4:]

    return edit


tensors_case("33-mlx-scales-missing", lambda t: t.pop(MODULE + ".scales"), MODULE + ".scales",
             base=MLX)
tensors_case("33-mlx-half-the-scales", halve(MODULE + ".scales"), MODULE + ".scales", base=MLX)
tensors_case("33-mlx-weight-as-f16", as_f16, MODULE + ".weight", "f16", base=MLX)
for group in (0, 48, 4096):
    packed_config_case(f"33-mlx-group-{group}", {"group_size": group}, "group_size", str(group),
                       base=MLX)
for bits in (0, 7, 33):
    packed_config_case(f"33-mlx-bits-{bits}", {"bits": bits}, "bits", str(bits), base=MLX)
packed_config_case("33-mlx-bits-8", {"bits": 8}, "bits", MODULE[:5], base=MLX)
tensors_case("34-gptq-group-beyond", set_group(2), MODULE + ".g_idx", "group 2", base=GPTQ)
tensors_case("34-gptq-group-negative", set_group(-1), MODULE + ".g_idx", "-1", base=GPTQ)
tensors_case("34-gptq-group-missing", lambda t: t.pop(MODULE + ".g_idx"), MODULE + ".g_idx",
             "desc_act is true", base=GPTQ)
tensors_case("34-gptq-zeros-missing", lambda t: t.pop(MODULE + ".qzeros"), MODULE + ".qzeros",
             base=GPTQ)
tensors_case("34-gptq-half-the-words", halve(MODULE + ".qweight"), MODULE + ".qzeros", base=GPTQ)
packed_config_case("34-gptq-bits-5", {"bits": 5}, "bits", "5", base=GPTQ)


@case("34-gptq-format-in-quantize-config", "quantize_config.json", "marlin", base=GPTQ)
def unknown_format_beside(folder):
    config = json.loads((folder / "config.json").read_text())
    declared = config.pop("quantization_config") | {"checkpoint_format": "marlin"}
    (folder / "quantize_config.json").write_text(json.dumps(declared))
    (folder / "config.json").write_text(json.dumps(config))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", type=pathlib.Path, help="tests/data/models")
    parser.add_argument("out", type=pathlib.Path, help="folder to write; cases there are replaced")
    arguments = parser.parse_args()
    manifest = []
    for name, base, expect, mentions, damage in CASES:
        folder = arguments.out / name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(arguments.models / base, folder, ignore=shutil.ignore_patterns("golden*"))
        damage(folder)
        command = "embed" if base == ENCODER else "logits"
        manifest.append({"case": name, "group": int(name[:2]), "expect": expect,
                         "command": command, "must_mention": mentions})
    (arguments.out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(f"{len(manifest)} cases in {arguments.out}")


if __name__ == "__main__":
    main()
