#!/usr/bin/env python3
"""record_families.py FILE...: records what transformers answers for the families of tests/data/families.

A file has a config.json and, instead of weights, how they are made: element i of a tensor is
middle + 2^exponent * u, where u from -128 to 127 is the top byte of splitmix64 of the name's FNV-1a
hash plus i. tests/golden/made_checkpoint.cpp makes the same. Matrices are bf16, vectors f32, and
what has "bytes" is the whole part in u8.
"""
import json
import math
import pathlib
import sys
import tempfile

import numpy as np
import torch
import transformers
from safetensors.torch import save_file

STEPS = 12
LENGTHS = {"short": (9, 64), "long": (70, 24)}  # tokens, and prompts to choose from
U64 = np.uint64


def made(name, shape, exponent, middle, is_bytes):
    key = 0xCBF29CE484222325
    for byte in name.encode():
        key = (key ^ byte) * 0x100000001B3 % 2**64
    with np.errstate(over="ignore"):
        x = U64(key) + (np.arange(1, math.prod(shape) + 1, dtype=U64)) * U64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> U64(30))) * U64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> U64(27))) * U64(0x94D049BB133111EB)
        x ^= x >> U64(31)
    values = middle + (x >> U64(56)).astype(np.float64).reshape(shape) * 2.0**exponent
    values -= 128 * 2.0**exponent
    if is_bytes:
        return torch.from_numpy(values.astype(np.uint8))
    tensor = torch.from_numpy(np.asarray(values, np.float32))
    return tensor.to(torch.bfloat16) if len(shape) > 1 else tensor


def tensors(weights):
    for w in weights:
        for layer in w.get("layers", [None]):
            for expert in range(w.get("experts", 1)):
                name = w["name"]
                for index in [i for i in (layer, expert) if i is not None][: name.count("*")]:
                    name = name.replace("*", str(index), 1)
                yield name, made(name, w["shape"], w["exponent"], w["middle"], "bytes" in w)


def load(family):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "config.json").write_text(json.dumps(family["config"]))
        save_file(dict(tensors(family["weights"])), f"{folder}/model.safetensors", {"format": "pt"})
        cls = getattr(transformers, family["config"]["architectures"][0])
        model, info = cls.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager",
                                          output_loading_info=True)
    problems = {kind: names for kind, names in info.items() if names}
    if problems:
        raise SystemExit(f"{family['config']['architectures'][0]}: {problems}")
    return model.eval()


def logits(model, ids):
    with torch.no_grad():
        return model(input_ids=ids, use_cache=False).logits.float()


def record(model, vocab, name, length, candidates):
    """The one of some random prompts whose greedy tokens are the clearest."""
    generator = torch.Generator().manual_seed(length)
    prompts = torch.randint(3, vocab, (candidates, length), generator=generator)
    ids, clear = prompts, torch.full((candidates,), torch.inf)
    for _ in range(STEPS):
        best = logits(model, ids)[:, -1].topk(2)
        clear = torch.minimum(clear, best.values[:, 0] - best.values[:, 1])
        ids = torch.cat([ids, best.indices[:, :1]], dim=1)
    chosen = int(clear.argmax())
    rows = logits(model, prompts[chosen : chosen + 1])[0]
    top = rows[-1].topk(5)
    print(f"{name}: margin {clear[chosen]:.3f}, deviation {rows[-1].std():.2f}")
    return {"name": name, "ids": prompts[chosen].tolist(),
            "logits_last": [float(f"{x:.7g}") for x in rows[-1].tolist()],
            "logits_stats": {"top5": [[i, float(f"{x:.7g}")] for i, x in
                                      zip(top.indices.tolist(), top.values.tolist())]},
            "argmax_per_position": rows.argmax(-1).tolist(),
            "greedy": {"ids": ids[chosen, length:].tolist()}}


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
        model = load(family)
        family["transformers"] = transformers.__version__
        vocab = family["config"].get("text_config", family["config"])["vocab_size"]
        family["prompts"] = [record(model, vocab, name, *sizes) for name, sizes in LENGTHS.items()]
        file.write_text(text(family) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
