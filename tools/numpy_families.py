#!/usr/bin/env python3
"""numpy_families.py FILE...: records what a forward pass in float64 answers, for the families of
tests/data/families that transformers lacks, or where it cannot be had.

The passes are written from the papers and the reference implementations alone, layer by layer and
without a cache, so that they share nothing with the engine. record_families.py has the format.
"""
import json
import math
import pathlib
import sys

import numpy as np

STEPS = 12
LENGTHS = {"short": (9, 64), "long": (70, 24)}  # tokens, and prompts to choose from
U64 = np.uint64


def made(name, shape, exponent, middle):
    key = 0xCBF29CE484222325
    for byte in name.encode():
        key = (key ^ byte) * 0x100000001B3 % 2**64
    with np.errstate(over="ignore"):
        x = U64(key) + np.arange(1, math.prod(shape) + 1, dtype=U64) * U64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> U64(30))) * U64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> U64(27))) * U64(0x94D049BB133111EB)
        x ^= x >> U64(31)
    return middle + ((x >> U64(56)).astype(np.float64) - 128).reshape(shape) * 2.0**exponent


def tensors(weights):
    for w in weights:
        for layer in w.get("layers", [None]):
            name = w["name"] if layer is None else w["name"].replace("*", str(layer), 1)
            yield name, made(name, w["shape"], w["exponent"], w["middle"])


def rms(x, w, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w


def layer_norm(x, w, b, eps):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w + b


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def gelu_new(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def frequencies(config, size):
    f = config["rope_theta"] ** (-np.arange(0, size, 2) / size)
    s = config.get("rope_scaling")
    if not s:
        return f
    wave, old = 2 * math.pi / f, s["original_max_position_embeddings"]
    low, high = s["low_freq_factor"], s["high_freq_factor"]
    part = np.clip((old / wave - low) / (high - low), 0, 1)
    return (1 - part) * f / s["factor"] + part * f


def rope(x, f, pairs=False):
    """x: [T, heads, d]"""
    angle = np.arange(len(x))[:, None, None] * f
    a, b = (x[..., ::2], x[..., 1::2]) if pairs else np.split(x, 2, -1)
    turned = a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)
    return np.stack(turned, -1).reshape(x.shape) if pairs else np.concatenate(turned, -1)


def attend(q, k, v, chunk=None, window=None, sinks=None):
    """[T, heads, d] and twice [T, kv_heads, d] -> [T, heads * d], causal."""
    k, v = (np.repeat(part, q.shape[1] // k.shape[1], 1) for part in (k, v))
    scores = np.einsum("ihd,jhd->hij", q, k) / math.sqrt(q.shape[2])
    at = np.arange(len(q))
    seen = at[:, None] >= at
    if chunk:
        seen &= at[:, None] // chunk == at // chunk
    if window:
        seen &= at[:, None] - at < window
    scores = np.where(seen, scores, -np.inf)
    most = scores.max(-1, keepdims=True)
    scores = np.exp(scores - most)
    more = 0 if sinks is None else np.exp(sinks[:, None, None] - most)
    scores /= scores.sum(-1, keepdims=True) + more
    return np.einsum("hij,jhd->ihd", scores, v).reshape(len(q), -1)


class Model:
    def __init__(self, family):
        self.c = family["config"]
        self.w = dict(tensors(family["weights"]))

    def lin(self, x, name):
        y = x @ self.w[name + ".weight"].T
        return y + self.w[name + ".bias"] if name + ".bias" in self.w else y

    def ln(self, x, name, eps=1e-5):
        return layer_norm(x, self.w[name + ".weight"], self.w.get(name + ".bias", 0), eps)

    def rms(self, x, name):
        return rms(x, self.w[name + ".weight"], self.c["rms_norm_eps"])

    def heads(self, x, at):
        c = self.c
        d = c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]
        return [self.lin(x, f"{at}{n}_proj").reshape(len(x), -1, d) for n in "qkv"]

    def gated(self, x, at, names=("gate_proj", "up_proj", "down_proj")):
        gate, up, down = (at + name for name in names)
        return self.lin(silu(self.lin(x, gate)) * self.lin(x, up), down)

    def llama(self, ids, mlp, head_norm=False, names=("input_layernorm", "post_attention_layernorm"),
              factors=(1.0, 1.0, 1.0)):
        c, first = self.c, "model.embed_tokens"
        x = self.w[first + ".weight"][ids] * factors[0]
        for i in range(c["num_hidden_layers"]):
            p = f"model.layers.{i}."
            q, k, v = self.heads(self.rms(x, p + names[0]), p + "self_attn.")
            if head_norm:
                q, k = self.rms(q, p + "self_attn.q_norm"), self.rms(k, p + "self_attn.k_norm")
            f = frequencies(c, q.shape[2])
            x = x + factors[1] * self.lin(attend(rope(q, f), rope(k, f), v), p + "self_attn.o_proj")
            x = x + factors[1] * mlp(self.rms(x, p + names[1]), p + "mlp.")
        head = first if c["tie_word_embeddings"] else "lm_head"
        return self.lin(self.rms(x, "model.norm") * factors[2], head)

    def arcee(self, ids):
        def mlp(x, at):
            return self.lin(np.maximum(self.lin(x, at + "up_proj"), 0) ** 2, at + "down_proj")
        return self.llama(ids, mlp)

    def apertus(self, ids):
        def mlp(x, at):
            x = self.lin(x, at + "up_proj")
            a = np.log1p(np.exp(self.w[at + "act_fn.alpha_p"]))
            beta, eps = (self.w[f"{at}act_fn.{name}"] for name in ("beta", "eps"))
            b = beta + np.log1p(np.exp(self.w[at + "act_fn.alpha_n"]))
            below = b * (np.expm1(np.minimum(x, eps)) - x) + beta * x
            return self.lin(np.where(x > 0, a * x * x + beta * x, below), at + "down_proj")
        return self.llama(ids, mlp, True, ("attention_layernorm", "feedforward_layernorm"))

    def qwen3_moe(self, ids):
        def mlp(x, at):
            names = (f"{at}switch_mlp.{n}_proj.weight" for n in ("gate", "up", "down"))
            (gate, up, down), y = map(self.w.get, names), []
            for row, logits in zip(x, self.lin(x, at + "gate")):
                chosen = logits.argsort()[::-1][: self.c["num_experts_per_tok"]]
                shares = np.exp(logits[chosen] - logits[chosen].max())
                y.append(sum(share * (silu(row @ gate[e].T) * (row @ up[e].T)) @ down[e].T
                             for share, e in zip(shares / shares.sum(), chosen)))
            return np.array(y)
        return self.llama(ids, mlp, True)

    def minicpm(self, ids):
        c = self.c
        depth = c["scale_depth"] / math.sqrt(c["num_hidden_layers"])
        factors = c["scale_emb"], depth, c["dim_model_base"] / c["hidden_size"]
        return self.llama(ids, self.gated, factors=factors)

    def internlm2(self, ids):
        c = self.c
        kv, groups = c["num_key_value_heads"], c["num_attention_heads"] // c["num_key_value_heads"]
        d = c["hidden_size"] // c["num_attention_heads"]
        x = self.w["model.tok_embeddings.weight"][ids]
        f = frequencies({**c, "rope_scaling": None}, d)
        for i in range(c["num_hidden_layers"]):
            p = f"model.layers.{i}."
            qkv = self.lin(self.rms(x, p + "attention_norm"), p + "attention.wqkv")
            qkv = qkv.reshape(len(x), kv, groups + 2, d)
            q = qkv[:, :, :groups].reshape(len(x), -1, d)
            y = attend(rope(q, f), rope(qkv[:, :, -2], f), qkv[:, :, -1])
            x = x + self.lin(y, p + "attention.wo")
            x = x + self.gated(self.rms(x, p + "ffn_norm"), p + "feed_forward.", ("w1", "w3", "w2"))
        return self.lin(self.rms(x, "model.norm"), "output")

    def cohere(self, ids):
        c, first = self.c, "model.embed_tokens"
        x = self.w[first + ".weight"][ids]
        for i in range(c["num_hidden_layers"]):
            p = f"model.layers.{i}."
            h = self.ln(x, p + "input_layernorm", c["layer_norm_eps"])
            q, k, v = self.heads(h, p + "self_attn.")
            f = frequencies(c, q.shape[2])
            y = attend(rope(q, f, True), rope(k, f, True), v)
            x = x + self.lin(y, p + "self_attn.o_proj") + self.gated(h, p + "mlp.")
        return self.lin(self.ln(x, "model.norm", c["layer_norm_eps"]), first) * c["logit_scale"]

    def gpt2(self, ids):
        c, w = self.c, self.w
        heads = c["n_head"]

        def conv(x, name):
            return x @ w[name + ".weight"] + w[name + ".bias"]

        x = w["transformer.wte.weight"][ids] + w["transformer.wpe.weight"][: len(ids)]
        for i in range(c["n_layer"]):
            p = f"transformer.h.{i}."
            qkv = np.split(conv(self.ln(x, p + "ln_1"), p + "attn.c_attn"), 3, -1)
            y = attend(*(part.reshape(len(x), heads, -1) for part in qkv))
            x = x + conv(y, p + "attn.c_proj")
            x = x + conv(gelu_new(conv(self.ln(x, p + "ln_2"), p + "mlp.c_fc")), p + "mlp.c_proj")
        return self.lin(self.ln(x, "transformer.ln_f"), "transformer.wte")

    def opt(self, ids):
        c, at = self.c, "model.decoder."
        x = self.w[at + "embed_tokens.weight"][ids]
        x = x + self.w[at + "embed_positions.weight"][2 : 2 + len(ids)]
        for i in range(c["num_hidden_layers"]):
            p = f"{at}layers.{i}."
            q, k, v = self.heads(self.ln(x, p + "self_attn_layer_norm"), p + "self_attn.")
            x = x + self.lin(attend(q, k, v), p + "self_attn.out_proj")
            h = np.maximum(self.lin(self.ln(x, p + "final_layer_norm"), p + "fc1"), 0)
            x = x + self.lin(h, p + "fc2")
        return self.lin(self.ln(x, at + "final_layer_norm"), at + "embed_tokens")

    def gpt_oss(self, ids):
        c, w = self.c, self.w
        x = w["model.embed_tokens.weight"][ids]
        for i in range(c["num_hidden_layers"]):
            p, at = f"model.layers.{i}.", f"model.layers.{i}.mlp.experts."
            q, k, v = self.heads(self.rms(x, p + "input_layernorm"), p + "self_attn.")
            f, window = frequencies(c, q.shape[2]), None if i % 2 else c["sliding_window"]
            y = attend(rope(q, f), rope(k, f), v, None, window, w[p + "self_attn.sinks"])
            x = x + self.lin(y, p + "self_attn.o_proj")
            h = self.rms(x, p + "post_attention_layernorm")
            y = np.zeros_like(x)
            for t, logits in enumerate(self.lin(h, p + "mlp.router")):
                chosen = logits.argsort()[::-1][: c["num_experts_per_tok"]]
                shares = np.exp(logits[chosen] - logits[chosen].max())
                for share, e in zip(shares / shares.sum(), chosen):
                    both = h[t] @ w[at + "gate_up_proj"][e] + w[at + "gate_up_proj_bias"][e]
                    gate, up = np.minimum(both[::2], 7), np.clip(both[1::2], -7, 7)
                    read = (up + 1) * gate * sigmoid(1.702 * gate)
                    y[t] += share * (read @ w[at + "down_proj"][e] + w[at + "down_proj_bias"][e])
            x = x + y
        return self.lin(self.rms(x, "model.norm"), "lm_head")

    def llama4_text(self, ids):
        c, w = self.c, self.w
        x = w["model.embed_tokens.weight"][ids]
        position = np.arange(len(ids))
        for i in range(c["num_hidden_layers"]):
            p = f"model.layers.{i}."
            q, k, v = self.heads(self.rms(x, p + "input_layernorm"), p + "self_attn.")
            if (i + 1) % 4:
                f = frequencies(c, q.shape[2])
                q, k = (rms(rope(part, f, True), 1, c["rms_norm_eps"]) for part in (q, k))
                y = attend(q, k, v, c["attention_chunk_size"])
            else:
                scale = np.log1p(np.floor((position + 1) / c["floor_scale"])) * c["attn_scale"] + 1
                y = attend(q * scale[:, None, None], k, v)
            x = x + self.lin(y, p + "self_attn.o_proj")
            h = self.rms(x, p + "post_attention_layernorm")
            if (i + 1) % c["interleave_moe_layer_step"]:
                x = x + self.gated(h, p + "feed_forward.")
                continue
            scores = self.lin(h, p + "feed_forward.router")
            y = self.gated(h, p + "feed_forward.shared_expert.")
            for t, expert in enumerate(scores.argmax(-1)):
                read = h[t] * sigmoid(scores[t, expert])
                both = read @ w[p + "feed_forward.experts.gate_up_proj"][expert]
                gate, up = np.split(both, 2)
                y[t] += (silu(gate) * up) @ w[p + "feed_forward.experts.down_proj"][expert]
            x = x + y
        return self.lin(self.rms(x, "model.norm"), "lm_head")


def record(forward, vocab, name, length, candidates):
    """The one of some random prompts whose greedy tokens are the clearest."""
    generator, best = np.random.default_rng(length), (-1.0, None, None)
    for prompt in generator.integers(3, vocab, (candidates, length)):
        ids, clear = prompt, np.inf
        for _ in range(STEPS):
            row = forward(ids)[-1]
            order = row.argsort()
            clear = min(clear, row[order[-1]] - row[order[-2]])
            if clear < best[0]:
                break
            ids = np.append(ids, order[-1])
        if clear > best[0]:
            best = clear, prompt, ids[length:]
    rows = forward(best[1])
    top = rows[-1].argsort()[::-1][:5]
    print(f"{name}: margin {best[0]:.3f}, deviation {rows[-1].std():.2f}")
    return {"name": name, "ids": best[1].tolist(),
            "logits_last": [float(f"{x:.7g}") for x in rows[-1]],
            "logits_stats": {"top5": [[int(i), float(f"{rows[-1][i]:.7g}")] for i in top]},
            "argmax_per_position": rows.argmax(-1).tolist(),
            "greedy": {"ids": best[2].tolist()}}


def text(value, depth=0):
    """JSON with a line for each list or object two levels down."""
    if depth == 2 or not isinstance(value, (dict, list)) or not value:
        return json.dumps(value)
    pad, end = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, list):
        return "[" + ",".join(pad + text(one, depth + 1) for one in value) + end + "]"
    return "{" + ",".join(f"{pad}{json.dumps(key)}: {text(one, depth + 1)}"
                          for key, one in value.items()) + end + "}"


def main(files):
    for file in map(pathlib.Path, files):
        family = json.loads(file.read_text())
        print(file.stem)
        model = Model(family)
        forward = getattr(model, family["config"]["model_type"])
        vocab = family["config"]["vocab_size"]
        family["prompts"] = [record(forward, vocab, name, *sizes) for name, sizes in LENGTHS.items()]
        file.write_text(text(family) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
