"""Packed checkpoints of random weights, for tools/random_model: GGUF with Q4_0 or Q8_0 blocks, and
MLX's affine packing of 4 bits in groups of 64. Every matrix is packed but those that llama-quantize
keeps, too; norms and biases stay floats."""
import math
import random
import re
import struct
import zlib

# Made once and repeated; prime, and above any vocabulary, so that no two rows are equal.
BLOCKS = 262147
GROUP = {"q4_0": 32, "q8_0": 32, "mlx4": 64}
ALIGNMENT = 32
TYPES = {"f32": 0, "q4_0": 2, "q8_0": 8, "bf16": 30}  # of ggml
FILE_TYPES = {"q4_0": 2, "q8_0": 7}                   # llama.h, enum llama_ftype
NIBBLE_SPREAD = 4.32  # the deviation of whole numbers from -7 to 7, all equally likely
BYTE_SPREAD = 73.61   # of those from -127 to 127

# How GGUF names what is left of a layer's tensor after "model.layers.N." and before ".weight".
LAYER_NAMES = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "self_attn.qkv_proj": "attn_qkv", "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "mlp.gate_up_proj": "ffn_up",
    "mlp.gate": "ffn_gate_inp", "mlp.experts.gate_proj": "ffn_gate_exps",
    "mlp.experts.up_proj": "ffn_up_exps", "mlp.experts.down_proj": "ffn_down_exps",
}
GEMMA_NAMES = {"post_attention_layernorm": "post_attention_norm",
               "pre_feedforward_layernorm": "ffn_norm",
               "post_feedforward_layernorm": "post_ffw_norm"}
GEMMA4_NAMES = {**GEMMA_NAMES, "layer_scalar": "layer_output_scale",
                "per_layer_input_gate": "inp_gate", "per_layer_projection": "proj",
                "post_per_layer_input_norm": "post_norm"}
FAMILY_NAMES = {"gemma3": GEMMA_NAMES, "gemma4": GEMMA4_NAMES}
MODEL_NAMES = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
               "model.embed_tokens_per_layer": "per_layer_token_embd",
               "model.per_layer_model_projection": "per_layer_model_proj",
               "model.per_layer_projection_norm": "per_layer_proj_norm"}
WIDTHS = {"f32": 4, "bf16": 2}
# llama-quant.cpp, tensor_allows_quantization; its routers are floats, too.
KEPT = {"per_layer_model_proj.weight": "bf16", "ffn_gate_inp.weight": "f32"}
# The names of architectures in GGUF where the tool has others.
GGUF_NAMES = {"qwen3_moe": "qwen3moe"}
GGUF_ARCHITECTURES = ("gemma3", "gemma4", "llama", "phi3", "qwen2", "qwen3", "qwen3_moe")
STILL = 1e30  # divides the frequencies of pairs that do not turn


def is_matrix(row):
    return len(row[1]) == 2 and row[0].endswith(".weight")


def check(rows, packing):
    """Ends the program when a matrix has no whole groups in its rows."""
    group = GROUP[packing]
    for name, shape, *_ in rows:
        if len(shape) == 2 and shape[1] % group:
            raise SystemExit(f"error: \"{name}\" has {shape[1]} columns, no multiple of {group} as "
                             f"{packing} needs; --hidden, --ffn or --head-dim must change.")


class Repeated:
    """Any number of bytes from a pool that starts over at its end."""

    def __init__(self, pool, width):
        self.pool, self.width = memoryview(pool), width

    def write(self, out, name, count):
        """`count` times `width` bytes, from a place that the name decides."""
        at = zlib.crc32(name.encode()) % (len(self.pool) // self.width) * self.width
        left = count * self.width
        while left:
            piece = self.pool[at : at + left]
            out.write(piece)
            left -= len(piece)
            at = 0


def random_nibbles(seed, count):
    """Bytes of two numbers between 1 and 15: eight more than their value in q4_0."""
    table = bytes((i * 225 // 256) // 15 + 1 | ((i * 225 // 256) % 15 + 1) << 4 for i in range(256))
    return random.Random(seed).randbytes(count).translate(table)


def random_bytes(seed, count):
    """Signed numbers between -127 and 127."""
    return random.Random(seed).randbytes(count).replace(b"\x80", b"\x81")


def random_steps(seed, count):
    """Sizes of a step around 1."""
    generator = random.Random(f"{seed} steps")
    return [generator.uniform(0.75, 1.25) for _ in range(count)]


class AffineTensors:
    """Tensors of the MLX layout: w = scale q + bias."""

    def __init__(self, seed, dtype, encode):
        self.seed, self.dtype, self.encode = seed, dtype, encode
        self.packed = Repeated(random_nibbles(seed, BLOCKS * GROUP["mlx4"] // 2),
                               GROUP["mlx4"] // 2)
        self.pools = {}

    def pool(self, deviation):
        if deviation not in self.pools:
            steps = [deviation / NIBBLE_SPREAD * x for x in random_steps(self.seed, BLOCKS)]
            width = len(self.encode([0.0], self.dtype))
            self.pools[deviation] = (Repeated(self.encode(steps, self.dtype), width),
                                     Repeated(self.encode([-8 * x for x in steps], self.dtype),
                                              width))
        return self.pools[deviation]

    def stored(self, row):
        """-> [(name, dtype, shape, bytes, write)] of one matrix."""
        name, (out, columns), _, deviation = row
        groups = columns // GROUP["mlx4"]
        scales, biases = self.pool(deviation)
        module = name.removesuffix(".weight")

        def part(ending, dtype, width, values):
            return (module + ending, dtype, [out, width], out * groups * values.width,
                    lambda file: values.write(file, f"{self.seed} {module}", out * groups))

        return [part(".biases", self.dtype, groups, biases),
                part(".scales", self.dtype, groups, scales),
                part(".weight", "u32", columns // 8, self.packed)]


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key, value):
    """One pair of the metadata, as gguf-py types it: numbers are u32 or f32, in lists i32."""
    def kind(one):
        if isinstance(one, bool):
            return 7, struct.pack("<?", one)
        if isinstance(one, int):
            return (5, struct.pack("<i", one)) if listed else (4, struct.pack("<I", one))
        if isinstance(one, float):
            return 6, struct.pack("<f", one)
        return 8, string(one)

    listed = isinstance(value, list)
    if not listed:
        number, data = kind(value)
        return string(key) + struct.pack("<I", number) + data
    parts = [kind(one) for one in value]
    return (string(key) + struct.pack("<IIQ", 9, parts[0][0], len(parts)) +
            b"".join(data for _, data in parts))


def vocabulary(model):
    """A SentencePiece vocabulary of the model's size: the bytes, then made-up words."""
    bos, eos = model["bos"], model["eos"]
    tokens, types, words = [], [], iter(range(model["vocab"]))
    codes = iter(range(256))
    unknown = next(i for i in range(3) if i not in (bos, eos))
    for token in range(model["vocab"]):
        if token in (bos, eos, unknown):
            tokens.append("<unk>" if token == unknown else "</s>" if token == eos else "<s>")
            types.append(2 if token == unknown else 3)
        elif (code := next(codes, None)) is not None:
            tokens.append(f"<0x{code:02X}>")
            types.append(6)
        else:
            tokens.append(f"\u2581w{next(words)}")
            types.append(1)
    return {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.scores": [-float(i) for i in range(len(tokens))],
            "tokenizer.ggml.token_type": types, "tokenizer.ggml.bos_token_id": bos,
            "tokenizer.ggml.eos_token_id": eos, "tokenizer.ggml.unknown_token_id": unknown}


def gemma4_keys(model):
    """What differs between its layers, as conversion/gemma.py of llama.cpp writes it."""
    layers, full = range(model["layers"]), model["full"]
    keys = {"attention.key_length": model["full_head_dim"],
            "attention.value_length": model["full_head_dim"],
            "attention.key_length_swa": model["head_dim"],
            "attention.value_length_swa": model["head_dim"],
            "attention.sliding_window_pattern": [i not in full for i in layers],
            "attention.shared_kv_layers": model["shared"],
            "embedding_length_per_layer_input": model["ple"],
            "rope.dimension_count": model["full_head_dim"],
            "rope.dimension_count_swa": model["head_dim"],
            "rope.freq_base": 1e6, "rope.freq_base_swa": 1e4, "final_logit_softcapping": 30.0}
    if model["wide"] and model["shared"]:
        keys["feed_forward_length"] = [model["ffn"] * (1 + (i >= model["layers"] - model["shared"]))
                                       for i in layers]
    return keys


def metadata(model, packing):
    arch = GGUF_NAMES.get(model["arch"], model["arch"])
    keys = {"context_length": model["context"], "embedding_length": model["hidden"],
            "block_count": model["layers"], "feed_forward_length": model["ffn"],
            "attention.head_count": model["heads"], "attention.head_count_kv": model["kv_heads"],
            "attention.key_length": model["head_dim"], "attention.value_length": model["head_dim"],
            "rope.dimension_count": model["head_dim"], "rope.freq_base": float(model["theta"]),
            "attention.layer_norm_rms_epsilon": float(model["eps"])}
    if arch in FAMILY_NAMES or model["window"]:
        keys["attention.sliding_window"] = model["window"] or model["context"]
    if arch == "gemma4":
        keys.update(gemma4_keys(model))
    if model["experts"]:
        keys.update({"expert_count": model["experts"], "expert_used_count": model["top_k"],
                     "expert_feed_forward_length": model["expert_ffn"]})
    return {"general.architecture": arch, "general.name": "random",
            "general.file_type": FILE_TYPES[packing],
            **{f"{arch}.{key}": value for key, value in keys.items()}, **vocabulary(model)}


def gguf_name(name, arch):
    if name.endswith(".layer_scalar"):
        name += ".weight"
    stem, _, ending = name.rpartition(".")
    if stem in MODEL_NAMES:
        return f"{MODEL_NAMES[stem]}.{ending}"
    _, _, layer, rest = stem.split(".", 3)
    names = {**LAYER_NAMES, **FAMILY_NAMES.get(arch, {})}
    return f"blk.{layer}.{names[rest]}.{ending}"


def rope_divisors(model):
    """What each frequency is divided by; empty where by nothing. Gemma 4 turns the first quarter of a
    full layer's pairs; llama3's scaling is that of transformers'
    modeling_rope_utils._compute_llama3_parameters."""
    if model["arch"] == "gemma4":
        pairs = model["full_head_dim"] // 2
        return [1.0] * (pairs // 4) + [STILL] * (pairs - pairs // 4)
    if not model["rope_scaling"]:
        return []
    scaling, divisors = model["rope_scaling"], []
    factor, original = scaling["factor"], scaling["original_max_position_embeddings"]
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    for i in range(0, model["head_dim"], 2):
        wave = 2 * math.pi * model["theta"] ** (i / model["head_dim"])
        share = (original / wave - low) / (high - low)  # 1: short waves, which stay as they are
        share = min(1.0, max(0.0, share))
        divisors.append(1 / ((1 - share) / factor + share))
    return divisors


def block_pool(seed, packing, deviation):
    """Blocks of a packing: an f16 step, then 32 numbers. -> Repeated"""
    make, width, spread = {"q4_0": (random_nibbles, 16, NIBBLE_SPREAD),
                           "q8_0": (random_bytes, 32, BYTE_SPREAD)}[packing]
    numbers = make(seed, BLOCKS * width)
    steps = struct.pack(f"<{BLOCKS}e", *(deviation / spread * x for x in random_steps(seed, BLOCKS)))
    blocks = b"".join(steps[2 * i : 2 * i + 2] + numbers[width * i : width * (i + 1)]
                      for i in range(BLOCKS))
    return Repeated(blocks, 2 + width)


def stacked(rows):
    """The rows, with the matrices of a layer's experts as one each, with their number in front of its shape."""
    others, experts = [], {}
    for name, shape, *rest in rows:
        one = re.sub(r"(\.experts)\.\d+\.", r"\1.", name)
        if one == name:
            others.append((name, shape, *rest))
        else:
            experts.setdefault(one, []).append((shape, *rest))
    return others + [(name, [len(all_), *all_[0][0]], *all_[0][1:]) for name, all_ in experts.items()]


def gguf_tensors(model, rows, floats, packing):
    """-> [(name, type, shape, bytes, write)]"""
    tensors, pools, seed = [], {}, floats["f32"].seed
    for name, shape, mean, deviation in stacked(rows):
        new_name = gguf_name(name, model["arch"])
        kept = KEPT.get(new_name.split(".", 2)[-1] if new_name.startswith("blk.") else new_name)
        if kept or len(shape) < 2 or not name.endswith(".weight"):
            if model["arch"] == "gemma3" and name.endswith("norm.weight"):
                mean += 1.0  # stored with their 1
            dtype = kept or "f32"
            tensors.append((new_name, dtype, shape, WIDTHS[dtype] * math.prod(shape),
                            lambda out, a=(name, math.prod(shape), mean, deviation), dtype=dtype:
                            floats[dtype].write(out, *a)))
            continue
        if deviation not in pools:
            pools[deviation] = block_pool(seed, packing, deviation)
        pool, count = pools[deviation], math.prod(shape) // GROUP[packing]
        tensors.append((new_name, packing, shape, pool.width * count,
                        lambda out, a=(pool, f"{seed} {name}", count): a[0].write(out, a[1], a[2])))
    if divisors := rope_divisors(model):
        data = struct.pack(f"<{len(divisors)}f", *divisors)
        tensors.append(("rope_freqs.weight", "f32", [len(divisors)], len(data),
                        lambda out: out.write(data)))
    return tensors


def write_gguf(path, model, rows, floats, packing):
    """-> the numbers of tensors and of bytes in them. `floats` has what writes values of each type."""
    if model["arch"] not in GGUF_ARCHITECTURES:
        raise SystemExit(f"error: {packing} files are written of {', '.join(GGUF_ARCHITECTURES)}, not "
                         f"of {model['arch']}.")
    if model["experts"] and model["arch"] == "gemma4":
        raise SystemExit(f"error: {packing} files of gemma4 are written without experts.")
    check(rows, packing)
    tensors, entries = gguf_tensors(model, rows, floats, packing), metadata(model, packing)
    with open(path, "wb") as out:
        out.write(struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(entries)))
        for key, value in entries.items():
            out.write(entry(key, value))
        offset = 0
        for name, dtype, shape, size, _ in tensors:
            out.write(string(name) + struct.pack("<I", len(shape)))
            out.write(struct.pack(f"<{len(shape)}Q", *reversed(shape)))
            out.write(struct.pack("<IQ", TYPES[dtype], offset))
            offset += size + -size % ALIGNMENT
        for _, _, _, _, write in tensors:
            out.write(bytes(-out.tell() % ALIGNMENT))
            write(out)
        out.write(bytes(-out.tell() % ALIGNMENT))
    return len(tensors), sum(tensor[3] for tensor in tensors)
