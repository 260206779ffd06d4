#!/usr/bin/env python3
"""numpy_encoders.py FOLDER...: records the vectors that encoders give in float64, and the scores of
rankers, for the folders of tests/data/embeddings and tests/data/rerank whose reference
implementation cannot be had. The passes are written from it and share nothing with the engine.
"""
import json
import math
import pathlib
import struct
import sys
import zipfile

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


def torch_layer(file):
    """-> {name: float64 array} of the layer of halves, weight then bias, that torch.save wrote."""
    with zipfile.ZipFile(file) as archive:
        folder = archive.namelist()[0].split("/")[0]
        weight, bias = (np.frombuffer(archive.read(f"{folder}/data/{i}"), "<f2").astype(np.float64)
                        for i in (0, 1))
    return {"sparse_linear.weight": weight[None], "sparse_linear.bias": bias}


class Encoder:
    """A pass over the rows of a text; `pooled` makes its vector of the last ones."""

    POOLING = "mean over all tokens"

    def __init__(self, config, weights):
        self.c, self.w = config, weights
        self.eps = config.get("layer_norm_epsilon") or config["layer_norm_eps"]

    def lin(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w.get(name + ".bias", 0)

    def norm(self, x, name):
        return layer_norm(x, self.w[name + ".weight"], self.w[name + ".bias"], self.eps)

    def pooled(self, rows):
        return rows.mean(0)


class Bert(Encoder):
    """The part that BERT's relatives share: modeling_bert.py of transformers."""

    types = 0  # of the tokens

    def embedded(self, ids):
        return (self.w["embeddings.word_embeddings.weight"][ids]
                + self.w["embeddings.token_type_embeddings.weight"][self.types])

    def logit(self, ids, types):
        self.types = types
        x = np.tanh(self.lin(self.rows(ids)[0], "pooler.dense"))
        return float(self.lin(x, "classifier")[0])

    def heads(self, x, p):
        return [self.lin(x, f"{p}attention.self.{name}").reshape(
            len(x), self.c["num_attention_heads"], -1) for name in ("query", "key", "value")]

    def attended(self, x, p):
        return see_all(*self.heads(x, p))

    def mlp(self, x, p):
        y = self.lin(gelu(self.lin(x, p + "intermediate.dense")), p + "output.dense")
        return self.norm(x + y, p + "output.LayerNorm")

    def rows(self, ids):
        x = self.norm(self.embedded(ids), "embeddings.LayerNorm")
        for i in range(self.c["num_hidden_layers"]):
            p = f"encoder.layer.{i}."
            o = self.lin(self.attended(x, p), p + "attention.output.dense")
            x = self.mlp(self.after_attention(x, o, p), p)
        return x

    def after_attention(self, x, o, p):
        return self.norm(x + o, p + "attention.output.LayerNorm")


class BgeM3(Bert):
    """XLM-RoBERTa, and the weights of tokens of BGE-M3: FlagEmbedding, BGEM3FlagModel."""

    POOLING = "first token"

    def embedded(self, ids):
        first = self.c["pad_token_id"] + 1
        positions = self.w["embeddings.position_embeddings.weight"][first:first + len(ids)]
        return super().embedded(ids) + positions

    def pooled(self, rows):
        return rows[0]

    def sparse(self, ids, rows):
        """[[id, weight], ...] of the ids that have one above 0, the largest of each."""
        largest = {}
        for token, row in zip(ids.tolist(), self.lin(rows, "sparse_linear")[:, 0]):
            if row > 0:
                largest[token] = max(largest.get(token, 0), row)
        return [[token, float(f"{largest[token]:.8g}")] for token in sorted(largest)]


class JinaBert(Bert):
    """modeling_bert.py of jinaai/jina-bert-implementation."""

    def slopes(self, heads):
        below = 2 ** math.floor(math.log2(heads))
        own = [2 ** (-8 * (i + 1) / below) for i in range(below)]
        return own if below == heads else own + self.slopes(2 * below)[::2][:heads - below]

    def attended(self, x, p):
        q, k, v = self.heads(x, p)
        places = np.arange(len(x))
        distances = np.abs(places[:, None] - places)
        scores = np.einsum("ihd,jhd->hij", q, k) / math.sqrt(q.shape[2])
        scores -= np.array(self.slopes(q.shape[1]))[:, None, None] * distances
        return np.einsum("hij,jhd->ihd", softmax(scores), v).reshape(len(x), -1)

    def mlp(self, x, p):
        gate, up = np.split(self.lin(x, p + "mlp.gated_layers"), 2, -1)
        return self.norm(x + self.lin(gelu(gate) * up, p + "mlp.wo"), p + "mlp.layernorm")


class JinaCodeBert(JinaBert):
    """modeling_bert.py of jinaai/jina-bert-v2-qk-post-norm."""

    def heads(self, x, p):
        p += "attention.self."
        q, k = (self.norm(self.lin(x, p + name), f"{p}layer_norm_{name[0]}")
                for name in ("query", "key"))
        return [one.reshape(len(x), self.c["num_attention_heads"], -1)
                for one in (q, k, self.lin(x, p + "value"))]

    def after_attention(self, x, o, p):
        return self.norm(x + super().after_attention(x, o, p), p + "layer_norm_1")

    def mlp(self, x, p):
        up, gate = np.split(self.lin(x, p + "mlp.up_gated_layer"), 2, -1)
        return self.norm(x + self.lin(up * gelu(gate), p + "mlp.down_layer"), p + "layer_norm_2")


class NomicBert(Encoder):
    """Nomic Embed v2: modeling_hf_nomic_bert.py of nomic-ai/nomic-bert-2048."""

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


def model_of(config, weights):
    name = config["architectures"][0]
    if not name.startswith("JinaBert"):
        return {"NomicBertModel": NomicBert, "XLMRobertaModel": BgeM3}[name](config, weights)
    is_for_code = any("layer_norm_q" in name for name in weights)
    return (JinaCodeBert if is_for_code else JinaBert)(config, weights)


def without_biases_of_sums(weights):
    """What llama.cpp's converter keeps."""
    return {name: one for name, one in weights.items() if not name.endswith("experts.bias")}


def rounded(values):
    return [float(f"{x:.8g}") for x in values]


def cases(model):
    out = []
    for length in LENGTHS:
        ids = np.random.default_rng(length).integers(FIRST_ID, model.c["vocab_size"], length)
        rows = model.rows(ids)
        vector = model.pooled(rows)
        print(f"{length} tokens, deviation {vector.std():.2f}")
        out.append({"ids": ids.tolist(), "embedding": rounded(vector / np.linalg.norm(vector)),
                    "before_normalize": rounded(vector)})
        if hasattr(model, "sparse"):
            out[-1]["sparse"] = model.sparse(ids, rows)
    return out


def ranked(model):
    """Pairs of texts, whose second ones are of the other type, with their scores."""
    out = []
    for length in LENGTHS:
        random = np.random.default_rng(length)
        ids = random.integers(FIRST_ID, model.c["vocab_size"], length)
        types = (np.arange(length) >= random.integers(1, length)).astype(int)
        logit = model.logit(ids, types)
        print(f"{length} tokens, logit {logit:.3f}")
        out.append({"ids": ids.tolist(), "token_type_ids": types.tolist(), "logit": logit,
                    "score": 1 / (1 + math.exp(-logit))})
    return out


def main(folders):
    for folder in map(pathlib.Path, folders):
        config = json.loads((folder / "config.json").read_text())
        name = config["architectures"][0]
        weights = tensors(folder / "model.safetensors")
        if (folder / "sparse_linear.pt").exists():
            weights |= torch_layer(folder / "sparse_linear.pt")
        weights = {name.removeprefix("bert."): one for name, one in weights.items()}
        model = model_of(config, weights)
        if name.endswith("ForSequenceClassification"):
            golden = {"kind": "rerank", "class": name, "cases": ranked(model),
                      "compute": "numpy float64 (tools/numpy_encoders.py)"}
            (folder / "golden.json").write_text(json.dumps(golden) + "\n")
            continue
        golden = {"kind": "embedding", "pooling": model.POOLING, "class": name,
                  "compute": "numpy float64 (tools/numpy_encoders.py)", "cases": cases(model)}
        less = without_biases_of_sums(weights)
        if len(less) < len(weights):
            golden["cases_of_gguf"] = cases(model_of(config, less))
        (folder / "golden.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
