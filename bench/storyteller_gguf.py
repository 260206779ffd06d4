#!/usr/bin/env python3
"""Writes models/storyteller as a GGUF file of bf16, so that other programs read the same weights. `tokamak quantize` makes smaller ones
of it. Needs Python alone.

  bench/storyteller_gguf.py storyteller.gguf
  tokamak quantize storyteller.gguf -o storyteller-q8_0.gguf --type q8_0
"""
import array
import json
import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import random_packed  # noqa: E402

ALIGNMENT = random_packed.ALIGNMENT
BF16_FILE = 32  # llama.h, enum llama_ftype
KINDS = {"normal": 1, "unknown": 2, "control": 3, "byte": 6}


def vocabulary(folder):
    """The tokenizer as SentencePiece has it: what is merged earlier has the better score."""
    file = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    ids = file["model"]["vocab"]
    special = {token["id"] for token in file["added_tokens"]}
    scores = {"".join(pair): -float(rank) for rank, pair in enumerate(file["model"]["merges"])}
    tokens = sorted(ids, key=ids.get)

    def kind(token):
        if token == file["model"]["unk_token"]:
            return KINDS["unknown"]
        if ids[token] in special:
            return KINDS["control"]
        return KINDS["byte"] if token.startswith("<0x") and len(token) == 6 else KINDS["normal"]

    return {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.scores": [scores.get(token, -1e6) for token in tokens],
            "tokenizer.ggml.token_type": [kind(token) for token in tokens],
            "tokenizer.ggml.bos_token_id": ids["<bos>"], "tokenizer.ggml.eos_token_id": ids["<eos>"],
            "tokenizer.ggml.eot_token_id": ids["<end_of_turn>"], "tokenizer.ggml.unknown_token_id": ids["<unk>"],
            "tokenizer.ggml.padding_token_id": ids["<pad>"],
            "tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.add_space_prefix": False}


def metadata(folder):
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    keys = {"context_length": config["max_position_embeddings"], "embedding_length": config["hidden_size"],
            "block_count": config["num_hidden_layers"], "feed_forward_length": config["intermediate_size"],
            "attention.head_count": config["num_attention_heads"], "attention.head_count_kv": config["num_key_value_heads"],
            "attention.key_length": config["head_dim"], "attention.value_length": config["head_dim"],
            "attention.layer_norm_rms_epsilon": config["rms_norm_eps"], "attention.sliding_window": config["sliding_window"],
            "rope.freq_base": config["rope_theta"]}
    return {"general.architecture": "gemma3", "general.name": "storyteller", "general.file_type": BF16_FILE,
            **{f"gemma3.{key}": value for key, value in keys.items()}, **vocabulary(folder)}


def plus_one(data):
    """f32 of bf16 weights of a norm: GGUF has what they multiply by, Gemma's own files that less one."""
    words = array.array("H", data)
    return struct.pack(f"<{len(words)}f", *(struct.unpack("<f", struct.pack("<I", word << 16))[0] + 1 for word in words))


def tensors(folder):
    """-> [(name, shape, type, bytes)] in ggml's names and types."""
    data = (folder / "model.safetensors").read_bytes()
    length = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    found = []
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        own, kind = data[begin:end], random_packed.TYPES["bf16"]
        if len(entry["shape"]) == 1:
            own, kind = plus_one(own), random_packed.TYPES["f32"]
        found.append((random_packed.gguf_name(name, "gemma3"), entry["shape"], kind, own))
    return found


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    folder = ROOT / "models" / "storyteller"
    keys, rows = metadata(folder), tensors(folder)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(rows), len(keys))
    head += b"".join(random_packed.entry(key, value) for key, value in keys.items())
    offset = 0
    for name, shape, kind, data in rows:
        head += random_packed.string(name) + struct.pack("<I", len(shape))
        head += struct.pack(f"<{len(shape)}QIQ", *reversed(shape), kind, offset)
        offset += -(-len(data) // ALIGNMENT) * ALIGNMENT
    with open(sys.argv[1], "wb") as out:
        out.write(head + bytes(-len(head) % ALIGNMENT))
        for *_, data in rows:
            out.write(data + bytes(-len(data) % ALIGNMENT))
    print(f"{sys.argv[1]}: {len(rows)} tensors, {pathlib.Path(sys.argv[1]).stat().st_size / 1e6:.1f} MB")


main()
