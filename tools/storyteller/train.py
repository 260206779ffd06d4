#!/usr/bin/env python3
"""Trains the storyteller: tokenizer, pre-training, chat phase, export in Hugging Face format.

  train.py tokenizer CORPUS OUT                       train the 8192-token BPE and write the tokenizer files
  train.py train CORPUS OUT SECONDS [NAME=VALUE...]   train for SECONDS of wall clock and export to OUT

Needs torch >= 2.6, numpy, tokenizers, safetensors.  Made for one GPU; runs slowly on a CPU.
"""
import hashlib, json, lzma, math, os, random, re, sys, time
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from chat import CHAT_TEMPLATE, chat_examples

VOCAB, HID, LAYERS, HEADS, HEAD, FFN, WINDOW, CTX = 8192, 320, 8, 5, 64, 576, 256, 2048
PAD, EOS, BOS, UNK, SOT, EOT = range(6)
SPECIAL = ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"]
FULL = [i % 6 == 5 for i in range(LAYERS)]           # every 6th layer attends to everything
CONFIG = {
    "architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text", "vocab_size": VOCAB, "hidden_size": HID,
    "intermediate_size": FFN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": 1,
    "head_dim": HEAD, "query_pre_attn_scalar": HEAD, "hidden_activation": "gelu_pytorch_tanh", "rms_norm_eps": 1e-6,
    "max_position_embeddings": CTX, "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0, "rope_scaling": None,
    "sliding_window": WINDOW, "_sliding_window_pattern": 6,
    "layer_types": ["full_attention" if f else "sliding_attention" for f in FULL],
    "attention_bias": False, "attention_dropout": 0.0, "attn_logit_softcapping": None, "final_logit_softcapping": None,
    "use_bidirectional_attention": False, "tie_word_embeddings": True, "initializer_range": 0.02, "use_cache": True,
    "pad_token_id": PAD, "eos_token_id": [EOS, EOT], "bos_token_id": BOS, "torch_dtype": "bfloat16"}


# ---------------------------------------------------------------- tokenizer

def load_corpus(path):
    with lzma.open(path, "rt", encoding="utf8") as f:
        docs = [json.loads(line) for line in f]
    for d in docs:
        d["val"] = hashlib.md5(d["x"].encode()).digest()[0] < 3        # about 1 % held out
    return docs


def train_tokenizer(docs, out):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, decoders, trainers, processors, Regex
    tok = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tok.normalizer = normalizers.Replace(" ", "▁")
    # only while training: no merge crosses a word boundary
    tok.pre_tokenizer = pre_tokenizers.Split(
        Regex(r"'(?:s|t|re|ve|ll|d|m)\b|▁?\p{L}+|▁?\p{N}|▁?[^\p{L}\p{N}▁\n]+|\n+|▁+"), "isolated")
    bytes_ = [f"<0x{i:02X}>" for i in range(256)]
    tok.train_from_iterator((d["x"] for d in docs if not d["val"]), trainers.BpeTrainer(
        vocab_size=VOCAB, special_tokens=SPECIAL + bytes_, limit_alphabet=120, min_frequency=20, show_progress=False))
    tok.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")       # as in Gemma: never splits
    tok.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tok.post_processor = processors.TemplateProcessing(
        single="<bos> $A", pair="<bos> $A <bos>:1 $B:1", special_tokens=[("<bos>", BOS)])
    t = json.loads(tok.to_str())
    t["added_tokens"] = [a for a in t["added_tokens"] if a["id"] < len(SPECIAL)]
    assert len(t["model"]["vocab"]) == VOCAB and [t["model"]["vocab"][s] for s in SPECIAL] == list(range(6))
    os.makedirs(out, exist_ok=True)
    dump(t, f"{out}/tokenizer.json", indent=None)
    names = dict(pad_token="<pad>", eos_token="<eos>", bos_token="<bos>", unk_token="<unk>")
    dump(names | {"additional_special_tokens": SPECIAL[4:]}, f"{out}/special_tokens_map.json")
    dump({"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": CTX, "clean_up_tokenization_spaces": False,
          "add_bos_token": True, "add_eos_token": False, "padding_side": "left", **names,
          "additional_special_tokens": SPECIAL[4:], "chat_template": CHAT_TEMPLATE,
          "added_tokens_decoder": {str(a["id"]): {k: v for k, v in a.items() if k != "id"} for a in t["added_tokens"]},
          }, f"{out}/tokenizer_config.json")
    open(f"{out}/chat_template.jinja", "w", encoding="utf8").write(CHAT_TEMPLATE)


def dump(obj, path, indent=2):
    with open(path, "w", encoding="utf8") as f:
        json.dump(obj, f, ensure_ascii=False, indent=indent)
        f.write("\n")


# ---------------------------------------------------------------- model (Gemma 3 text, same parameter names as transformers)

class Norm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(n))

    def forward(self, x):
        x = x.float()
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (1 + self.weight)


def linear(i, o):
    return nn.Linear(i, o, bias=False)


class Layer(nn.Module):
    def __init__(self, full):
        super().__init__()
        self.full = full
        self.self_attn = nn.ModuleDict(dict(
            q_proj=linear(HID, HEADS * HEAD), k_proj=linear(HID, HEAD), v_proj=linear(HID, HEAD),
            o_proj=linear(HEADS * HEAD, HID), q_norm=Norm(HEAD), k_norm=Norm(HEAD)))
        self.mlp = nn.ModuleDict(dict(gate_proj=linear(HID, FFN), up_proj=linear(HID, FFN), down_proj=linear(FFN, HID)))
        self.input_layernorm, self.post_attention_layernorm = Norm(HID), Norm(HID)
        self.pre_feedforward_layernorm, self.post_feedforward_layernorm = Norm(HID), Norm(HID)

    def forward(self, x, rope, attend):
        b, t, _ = x.shape
        a, h = self.self_attn, self.input_layernorm(x)
        q = a["q_norm"](a["q_proj"](h).view(b, t, HEADS, HEAD)).transpose(1, 2)
        k = a["k_norm"](a["k_proj"](h).view(b, t, 1, HEAD)).transpose(1, 2)
        v = a["v_proj"](h).view(b, t, 1, HEAD).transpose(1, 2)
        cos, sin = rope[self.full]
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        o = attend(q.to(v.dtype), k.to(v.dtype), v, self.full)
        x = x + self.post_attention_layernorm(a["o_proj"](o.transpose(1, 2).reshape(b, t, HEADS * HEAD)))
        h, m = self.pre_feedforward_layernorm(x), self.mlp
        h = m["down_proj"](F.gelu(m["gate_proj"](h), approximate="tanh") * m["up_proj"](h))
        return x + self.post_feedforward_layernorm(h)


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCAB, HID)
        self.layers = nn.ModuleList(Layer(f) for f in FULL)
        self.norm = Norm(HID)
        for p in self.parameters():
            if p.ndim == 2:
                nn.init.normal_(p, std=0.02)
        pos = torch.arange(CTX).float()
        for name, base in (("local", 1e4), ("global", 1e6)):
            ang = torch.outer(pos, base ** (-torch.arange(0, HEAD, 2).float() / HEAD))
            ang = torch.cat((ang, ang), -1)
            self.register_buffer(name + "_cos", ang.cos(), persistent=False)
            self.register_buffer(name + "_sin", ang.sin(), persistent=False)

    def forward(self, ids, attend):
        t = ids.shape[1]
        rope = {False: (self.local_cos[:t], self.local_sin[:t]), True: (self.global_cos[:t], self.global_sin[:t])}
        x = self.embed_tokens(ids) * HID ** 0.5
        for layer in self.layers:
            x = layer(x, rope, attend)
        return F.linear(self.norm(x), self.embed_tokens.weight)

    def loss(self, ids, labels, attend):
        return F.cross_entropy(self(ids, attend).float().flatten(0, 1), labels.flatten(), ignore_index=-100)


def plain_attention(q, k, v, full):
    t = q.shape[2]
    d = torch.arange(t, device=q.device)[:, None] - torch.arange(t, device=q.device)
    s = (q @ k.transpose(-1, -2)).float() * HEAD ** -0.5
    s = s.masked_fill((d < 0) | (d >= (t if full else WINDOW)), float("-inf"))
    return s.softmax(-1).to(v.dtype) @ v


def flex(t):
    """Block-sparse attention for the GPU, to be compiled."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    masks = {True: create_block_mask(lambda b, h, i, j: i >= j, None, None, t, t),
             False: create_block_mask(lambda b, h, i, j: (i >= j) & (i - j < WINDOW), None, None, t, t)}
    return lambda q, k, v, full: flex_attention(q, k, v, block_mask=masks[full], scale=HEAD ** -0.5, enable_gqa=True)


# ---------------------------------------------------------------- optimizer: Muon for the matrices, Adam for the rest

def orthogonalize(g):
    x = g.bfloat16()
    if tall := g.size(-2) > g.size(-1):
        x = x.transpose(-1, -2)
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        a = x @ x.transpose(-1, -2)
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.transpose(-1, -2) if tall else x


class Muon:
    def __init__(self, params, decay, compiled):
        shapes = {}
        for p in params:
            shapes.setdefault(tuple(p.shape), []).append(p)
        self.groups = [(ps, torch.zeros(len(ps), *s, device=ps[0].device)) for s, ps in shapes.items()]
        self.decay, self.orth = decay, torch.compile(orthogonalize) if compiled else orthogonalize

    @torch.no_grad()
    def step(self, lr, momentum=0.95):
        for ps, buf in self.groups:
            g = torch.stack([p.grad for p in ps])
            buf.lerp_(g, 1 - momentum)
            u = self.orth(g.lerp(buf, momentum)).float() * max(1, g.size(1) / g.size(2)) ** 0.5
            torch._foreach_mul_(ps, 1 - lr * self.decay)
            torch._foreach_add_(ps, list(u.unbind(0)), alpha=-lr)


# ---------------------------------------------------------------- data

class Stream:
    """Tokens of many documents end to end; a row starts at a paragraph and gets <bos> in front."""

    def __init__(self, docs, device, starts_at):
        ids = np.concatenate([np.asarray(d, np.int32) for d, _ in docs])
        keep = np.concatenate([np.asarray(k, bool) for _, k in docs])
        starts = np.flatnonzero(np.isin(ids[:-1], starts_at)) + 1
        self.n = len(ids)
        pad = CTX + 1
        self.ids = torch.from_numpy(np.concatenate([ids, ids[:pad]])).to(device)
        self.keep = torch.from_numpy(np.concatenate([keep, keep[:pad]])).to(device)
        self.starts = torch.from_numpy(starts).to(device)

    def rows(self, n, t, gen, at=None):
        s = self.starts[torch.randint(len(self.starts), (n,), generator=gen, device=self.starts.device)] if at is None else at
        idx = s[:, None] - 1 + torch.arange(t + 1, device=s.device)
        ids = self.ids[idx].long()
        ids[:, 0] = BOS
        labels = torch.where(self.keep[idx], ids, -100)
        return ids[:, :-1].contiguous(), labels[:, 1:].contiguous()


def encode_all(tok, docs, seed=0):
    """-> streams by name, and the held-out tale documents."""
    order = random.Random(seed)
    enc = lambda texts: [e.ids for e in tok.encode_batch(texts, add_special_tokens=False)]
    out = {}
    for name, cond in (("tales", lambda d: d["g"] == "t" and not d["val"]), ("prose", lambda d: d["g"] == "p" and not d["val"]),
                       ("val_tales", lambda d: d["g"] == "t" and d["val"]), ("val_prose", lambda d: d["g"] == "p" and d["val"])):
        e = enc([d["x"] for d in docs if cond(d)])
        order.shuffle(e)
        out[name] = [([BOS] + x + [EOS], [False] + [True] * (len(x) + 1)) for x in e]
    for name, val in (("chat", False), ("val_chat", True)):
        ex = chat_examples([d for d in docs if d["g"] == "t" and d["val"] == val], order)
        order.shuffle(ex)
        pe = enc(["user\n" + p for p, _ in ex])
        re_ = enc([r for _, r in ex])
        head = enc(["model\n", "\n"])
        docs_ = []
        for p, r in zip(pe, re_):
            a = [BOS, SOT] + p + [EOT] + head[1] + [SOT] + head[0]
            docs_.append((a + r + [EOT] + head[1], [False] * len(a) + [True] * (len(r) + 1) + [False] * len(head[1])))
        out[name] = docs_
    return out


# ---------------------------------------------------------------- training

def train(corpus, out, seconds, rows=64, t=CTX, muon_lr=0.025, adam_lr=5e-3, decay=0.02, phase2=0.85, seed=1, save=True):
    t0 = time.time()
    cuda = torch.cuda.is_available()
    dev = "cuda" if cuda else "cpu"
    torch.manual_seed(seed)
    torch.set_float32_matmul_precision("high")
    if isinstance(corpus, str):
        from tokenizers import Tokenizer
        tok = Tokenizer.from_file(f"{out}/tokenizer.json")
        nn_tok = [tok.token_to_id("\n\n")]
        enc = encode_all(tok, load_corpus(corpus))
        streams = {k: Stream(v, dev, [BOS] if "chat" in k else [BOS] + nn_tok) for k, v in enc.items()}
        print({k: v.n for k, v in streams.items()}, f"encoded in {time.time() - t0:.0f} s", flush=True)
    else:
        streams = corpus
    model = Model().to(dev)
    print("parameters", sum(p.numel() for p in model.parameters()))
    attend, step_loss = plain_attention, model.loss
    if cuda:
        attend = flex(t)
        step_loss = torch.compile(model.loss)
    mats = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n]
    rest = [p for n, p in model.named_parameters() if p.ndim != 2 or "embed" in n]
    muon = Muon(mats, decay, cuda)
    adam = torch.optim.AdamW(rest, lr=adam_lr, betas=(0.9, 0.95), weight_decay=0.0, **({"fused": True} if cuda else {}))
    gen = torch.Generator(dev).manual_seed(seed)
    val_at = {k: v.starts[torch.linspace(0, len(v.starts) - 1, 32 if cuda else 4).long().to(dev)] for k, v in streams.items() if "val" in k}

    def batch(p):
        mix = {"prose": 0.7, "tales": 0.3} if p < phase2 else {"prose": 0.3, "tales": 0.4, "chat": 0.3}
        parts, left = [], rows
        for name, share in mix.items():
            n = left if name == list(mix)[-1] else round(rows * share)
            parts.append(streams[name].rows(n, t, gen))
            left -= n
        return [torch.cat(x) for x in zip(*parts)]

    def loss_on(ids, labels):
        with torch.autocast(dev, torch.bfloat16, enabled=cuda):
            return step_loss(ids, labels, attend)

    def evaluate():
        # same batch shape as in training and no no_grad(), so that nothing is compiled again
        res = {}
        for k, at in val_at.items():
            ids, labels = streams[k].rows(len(at), t, None, at)
            reps = -(-rows // len(ids))
            res[k] = round(loss_on(ids.repeat(reps, 1)[:rows], labels.repeat(reps, 1)[:rows]).item(), 4)
        return res

    log, step, seen = [], 0, 0
    loss_on(*batch(0)).backward()                       # compile before the clock starts
    muon.step(0)
    evaluate()
    model.zero_grad(set_to_none=True)
    if cuda:
        torch.cuda.synchronize()
    print(f"compiled at {time.time() - t0:.0f} s", flush=True)
    t0 = time.time()
    next_eval = 0.0
    while True:
        p = (time.time() - t0) / seconds
        if p >= 1:
            break
        scale = min(1, (step + 1) / 100) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * p)))
        loss = loss_on(*batch(p))
        loss.backward()
        for g in adam.param_groups:
            g["lr"] = adam_lr * scale
        adam.step()
        muon.step(muon_lr * scale, min(0.95, 0.85 + 0.1 * step / 300))
        model.zero_grad(set_to_none=True)
        step, seen = step + 1, seen + rows * t
        if step % 20 == 0 or not cuda:
            l = loss.item()
            assert l == l, "loss is NaN"
        if p >= next_eval and step % 20 == 0:
            next_eval += 0.04
            log.append({"step": step, "tokens": seen, "s": round(time.time() - t0, 1), "train": round(l, 4), **evaluate()})
            print(json.dumps(log[-1]), flush=True)
    log.append({"step": step, "tokens": seen, "s": round(time.time() - t0, 1), "train": round(loss.item(), 4), **evaluate()})
    print(json.dumps(log[-1]), flush=True)
    if save:
        export(model, out)
        dump(log, f"{out}/training_log.json", indent=None)
    return log[-1]


def export(model, out):
    from safetensors.torch import save_file
    sd = {"model." + k: v.detach().to("cpu", torch.bfloat16).contiguous() for k, v in model.state_dict().items()}
    save_file(sd, f"{out}/model.safetensors", metadata={"format": "pt"})
    dump(CONFIG, f"{out}/config.json")
    dump({"bos_token_id": BOS, "eos_token_id": [EOS, EOT], "pad_token_id": PAD, "do_sample": True, "temperature": 0.5,
          "top_k": 40, "top_p": 0.95, "max_new_tokens": 400}, f"{out}/generation_config.json")


if __name__ == "__main__":
    if sys.argv[1] == "tokenizer":
        train_tokenizer(load_corpus(sys.argv[2]), sys.argv[3])
    else:
        train(sys.argv[2], sys.argv[3], float(sys.argv[4]), **{k: float(v) for k, v in (a.split("=") for a in sys.argv[5:])})
