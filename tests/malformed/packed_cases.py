"""Cases of damaged packings beside those of MLX and GPTQ in make_malformed.py: files that lack a
tensor, have half of one or another type, and configs that contradict the tensors."""
from damage import MODULE, halve, packed_config_case, tensors_case


def lacks(base, suffix, *mentions):
    """The matrix without one of the tensors beside it, which the error names."""
    form, part = base.removeprefix("llama_"), suffix.split(".")[-1].split("_bitsandbytes")[0]
    tensors_case(f"37-{form}-lacks-{part}", lambda t: t.pop(MODULE + suffix),
                 MODULE + suffix, *mentions, base="../formats/" + base)


def cut(base, suffix, *mentions):
    form, part = base.removeprefix("llama_"), suffix.split(".")[-1]
    tensors_case(f"37-{form}-half-{part}", halve(MODULE + suffix), MODULE, *mentions,
                 base="../formats/" + base)


def typed(base, suffix, dtype, *mentions):
    """The same bytes as another type of that size."""
    form, part = base.removeprefix("llama_"), suffix.split(".")[-1]
    tensors_case(f"37-{form}-{part}-as-{dtype.lower()}",
                 lambda t: t[MODULE + suffix].update(dtype=dtype), MODULE + suffix, *mentions,
                 base="../formats/" + base)


def declared(base, variant, changes, *mentions):
    packed_config_case(f"37-{base.removeprefix('llama_')}-{variant}", changes, *mentions,
                       base="../formats/" + base)


AWQ, GPTQ3, GPTQ8 = "llama_awq4_small", "llama_gptq3", "llama_gptq8"
lacks(AWQ, ".qzeros", MODULE + ".qweight")
lacks(AWQ, ".scales", MODULE + ".qweight")
cut(AWQ, ".qweight", "[96, 16]")
cut(AWQ, ".qzeros", "i32[6, 16]")
typed(AWQ, ".qzeros", "F32", "i32[6, 16]")
declared(AWQ, "bits-8", {"bits": 8}, "bits", "8")
declared(AWQ, "group-64", {"group_size": 64}, "group_size", "64", "32")
declared(AWQ, "version-gemv", {"version": "gemv"}, "version", "gemv")
lacks(GPTQ3, ".scales", MODULE + ".qweight")
cut(GPTQ3, ".qweight", "[9, 128]")
declared(GPTQ3, "bits-2", {"bits": 2}, "bits", "2", "3")
cut(GPTQ8, ".g_idx", "i32[192]")
declared(GPTQ8, "bits-4", {"bits": 4}, "bits", "4", "8")

FP8_BLOCK, FP8_TENSOR = "llama_fp8_block", "llama_fp8_tensor"
lacks(FP8_BLOCK, ".weight_scale_inv", "f8e4m3")
cut(FP8_BLOCK, ".weight_scale_inv", "128 x 128")
cut(FP8_BLOCK, ".weight", "[96, 144]", "[192, 144]")
declared(FP8_BLOCK, "blocks-64", {"weight_block_size": [64, 64]}, "weight_block_size", "64")
declared(FP8_BLOCK, "fmt-e5m2", {"fmt": "e5m2"}, "fmt", "e5m2")
lacks(FP8_TENSOR, ".weight_scale", "f8e4m3")
typed(FP8_TENSOR, ".weight_scale", "I32", "f32, f16, bf16 or f8e8m0")

INT4, INT4_ZERO, INT8 = "llama_ct_int4", "llama_ct_int4_zero", "llama_ct_int8"
lacks(INT4, ".weight_scale", MODULE + ".weight_packed")
cut(INT4, ".weight_packed", "[128, 16]", "[256, 128]")
cut(INT4, ".weight_scale", "bf16[128, 1]")
declared(INT4, "format-marlin", {"format": "marlin-24"}, "format", "marlin-24")
cut(INT4_ZERO, ".weight_zero_point", "i32[16, 6]")
typed(INT4_ZERO, ".weight_zero_point", "F32", "i32[16, 6]")
lacks(INT4_ZERO, ".weight_zero_point", "symmetric is false", MODULE + ".weight_packed")
lacks(INT8, ".weight_scale", "i8")
for base, variant, weights, *mentions in [
    (INT4_ZERO, "unordered", {"num_bits": 4, "actorder": "group"}, 'actorder is "group"', ".weight_g_idx"),
    (INT8, "asymmetric", {"num_bits": 8, "symmetric": False}, "symmetric is false", ".weight_zero_point")]:
    declared(base, variant, {"config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}}, *mentions)
tensors_case("37-ct_int8-zero-points",
             lambda t: t.update({MODULE + ".weight_zero_point": {
                 "dtype": "I8", "shape": [128, 1], "data": bytes([0] * 127 + [3])}}),
             MODULE + ".weight_zero_point", base="../formats/" + INT8)
declared(INT4, "rotated", {"transform_config": {"config_groups": {"R4": {"type": "hadamard", "apply": [
    {"targets": ["re:.*down_proj$"], "location": "input"},
    {"targets": ["re:.*down_proj$"], "location": "weight_input", "inverse": True}]}}}}, "R4: apply", "input")
lacks("llama_ct_fp8_channel", ".weight_scale", "f8e4m3")
cut("llama_ct_fp8_channel", ".weight_scale", "128 rows")

MXFP4, NVFP4, MODELOPT = "llama_ct_mxfp4", "llama_ct_nvfp4", "llama_modelopt_nvfp4"
lacks(MXFP4, ".weight_scale", MODULE + ".weight_packed")
cut(MXFP4, ".weight_scale", "128 rows of a byte")
cut(MXFP4, ".weight_packed", "u8[64, 96]")
lacks(NVFP4, ".weight_scale", MODULE + ".weight_packed")
lacks(NVFP4, ".weight_global_scale", MODULE + ".weight_packed")
typed(NVFP4, ".weight_global_scale", "I32", "one f32")
lacks(MODELOPT, ".weight_scale", "u8")
lacks(MODELOPT, ".weight_scale_2", "u8")
declared(MODELOPT, "algorithm", {"quant_algo": "W4A8_AWQ"}, "quant_algo", "W4A8_AWQ")

BNB8, NF4, NF4_DOUBLE = "llama_bnb_int8", "llama_bnb_nf4", "llama_bnb_nf4_double"
lacks(BNB8, ".SCB", "i8")
cut(BNB8, ".SCB", "f32[64]")
lacks(NF4, ".weight.absmax", "u8")
cut(NF4, ".weight.absmax", "192 columns")
cut(NF4, ".weight.quant_map", "nf4")
tensors_case("37-bnb_fp4", lambda t: t.pop(MODULE + ".weight.quant_state.bitsandbytes__nf4"), MODULE,
             "nf4", base="../formats/" + NF4)
lacks(NF4_DOUBLE, ".weight.nested_absmax")
cut(NF4_DOUBLE, ".weight.nested_quant_map", "nested_quant_map")
tensors_case("37-bnb_nf4_double-half-state", halve(MODULE + ".weight.quant_state.bitsandbytes__nf4"),
             "quant_state", base="../formats/" + NF4_DOUBLE)

for bits in (2, 3, 5, 6):
    lacks(f"llama_mlx{bits}", ".scales", MODULE + ".weight")
declared("llama_mlx6", "bits-5", {"bits": 5}, "bits", "5", "6")
declared("llama_mlx5", "group-64", {"group_size": 64}, "group_size", "64", "32")
cut("llama_mlx3", ".biases", "bf16[128, 3]")
cut("llama_mlx2", ".weight", "u32[64, 12]")
for mode in ("mxfp4", "mxfp8", "nvfp4"):
    cut(f"llama_mlx_{mode}", ".scales", "128 rows of a byte")
lacks("llama_mlx_mxfp4", ".scales", MODULE + ".weight")
declared("llama_mlx_mxfp4", "mode", {"mode": "mxfp6"}, "mode", "mxfp6")
