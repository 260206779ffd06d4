#!/usr/bin/env python3
"""numpy_encoders.py FOLDER...: records the vectors that encoders give in float64, for the folders of
tests/data/embeddings whose reference implementation cannot be had. The passes are written from it
and share nothing with the engine.
"""
import json
import pathlib
import struct
import sys

import numpy as np

from numpy_families import frequencies, layer_norm, rope
from numpy_vision import gelu, see_all, softmax

LENGTHS = (5, 33, 122)
FIRST_ID = 5  # after the special ones


def tensors(file):
    """-> {name: float64 array} of a file of safetensors."""
    data = file.read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    out = {}
    for name, one in json.loads(data[8:start]).items():
        begin, end = (start + at for at in one["data_offsets"])
        if one["dtype"] == "BF16":
            values = (np.frombuffer(data[begin:end], "<u2").astype(np.uint32) << 16).view(np.float32)
        else:
            values = np.frombuffer(data[begin:end], "<f4")
        out[name] = values.astype(np.float64).reshape(one["shape"])
    return out


class NomicBert:
    """Nomic Embed v2: modeling_hf_nomic_bert.py of nomic-ai/nomic-bert-2048."""

    def __init__(self, config, weights):
        self.c, self.w = config, weights

    def lin(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def norm(self, x, name):
        return layer_norm(x, self.w[name + ".weight"], self.w[name + ".bias"],
                          self.c["layer_norm_epsilon"])

    def experts(self, x, p):
        c, out = self.c, np.zeros_like(x)
        w1, w2 = (self.w[f"{p}experts.mlp.{one}"].reshape(c["num_experts"], c["n_inner"], -1)
                  for one in ("w1", "w2"))
        for t, shares in enumerate(softmax(x @ self.w[p + "router.layer.weight"].T)):
            for expert in shares.argsort()[::-1][: c["moe_top_k"]]:
                out[t] += shares[expert] * (gelu(w1[expert] @ x[t]) @ w2[expert])
        return out + self.w.get(p + "experts.bias", 0)

    def rows(self, ids):
        c = self.c
        x = self.w["embeddings.word_embeddings.weight"][ids]
        x = self.norm(x + self.w["embeddings.token_type_embeddings.weight"][0], "emb_ln")
        d = c["n_embd"] // c["n_head"]
        f = frequencies({"rope_theta": c["rotary_emb_base"]}, d)
        for i in range(c["n_layer"]):
            p = f"encoder.layers.{i}."
            q, k, v = (part.reshape(len(ids), -1, d)
                       for part in np.split(self.lin(x, p + "attn.Wqkv"), 3, -1))
            x = self.norm(x + self.lin(see_all(rope(q, f), rope(k, f), v), p + "attn.out_proj"),
                          p + "norm1")
            if i % c["moe_every_n_layers"] == 1:
                y = self.experts(x, p + "mlp.")
            else:
                y = self.lin(gelu(self.lin(x, p + "mlp.fc1")), p + "mlp.fc2")
            x = self.norm(x + y, p + "norm2")
        return x


MODELS = {"NomicBertModel": NomicBert}


def without_biases_of_sums(weights):
    """What llama.cpp's converter keeps."""
    return {name: one for name, one in weights.items() if not name.endswith("experts.bias")}


def rounded(values):
    return [float(f"{x:.8g}") for x in values]


def cases(model):
    out = []
    for length in LENGTHS:
        ids = np.random.default_rng(length).integers(FIRST_ID, model.c["vocab_size"], length)
        vector = model.rows(ids).mean(0)
        print(f"{length} tokens, deviation {vector.std():.2f}")
        out.append({"ids": ids.tolist(), "embedding": rounded(vector / np.linalg.norm(vector)),
                    "before_normalize": rounded(vector)})
    return out


def main(folders):
    for folder in map(pathlib.Path, folders):
        config = json.loads((folder / "config.json").read_text())
        name = config["architectures"][0]
        weights = tensors(folder / "model.safetensors")
        golden = {"kind": "embedding", "pooling": "mean over all tokens", "class": name,
                  "compute": "numpy float64 (tools/numpy_encoders.py)",
                  "cases": cases(MODELS[name](config, weights)),
                  "cases_of_gguf": cases(MODELS[name](config, without_biases_of_sums(weights)))}
        (folder / "golden.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
