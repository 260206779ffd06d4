#!/usr/bin/env python3
"""golden.py MODEL EVAL OUT: the reference outputs that tests compare Tokamak with.

MODEL is a model folder, EVAL a text of at most one context, OUT the JSON file to write:
  cases  for each prompt: ids, the ten highest logits after it, the greedy continuation of up to
         64 tokens, and by how much the best logit of each step beats the second
  eval   the text's ids (<bos> first) and how well the model predicts ids[1:] in one pass, each id
         from all before it: mean negative log-likelihood in nats, perplexity = exp(mean), bits per
         UTF-8 byte, and the log-probabilities of the first 20 predicted ids

Needs torch and transformers (5.17 made the stored file). Runs on the CPU in float32 from the
weights as they are stored.
"""
import json
import math
import pathlib
import sys

import torch
import transformers

STEPS = 64
LONG_PROMPT_CHARACTERS = 3200  # longer than the sliding window of 256 tokens
PROMPTS = [
    ("text", "Once upon a time"),
    ("text", "The old king looked at his daughter and said,"),
    ("text", "Café — naïve 北京 🙂: the cat (aged 7)\n\nsaid"),
    ("text", None),  # the beginning of EVAL
    ("chat", "Tell me a story about a fox."),
    ("chat", "Hello!"),
]


def load(folder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager").eval()
    if any(p.dtype != torch.float32 or p.device.type != "cpu" for p in model.parameters()):
        sys.exit("error: The weights are not float32 on the CPU.")
    return tokenizer, model


def encode(tokenizer, kind, prompt):
    if kind == "text":
        return list(tokenizer(prompt)["input_ids"])
    rendered = tokenizer.apply_chat_template(
        [{"role": "user", "content": prompt}], add_generation_prompt=True, tokenize=False)
    return list(tokenizer(rendered, add_special_tokens=False)["input_ids"])


def end_ids(model):
    ids = model.generation_config.eos_token_id
    return set(ids if isinstance(ids, list) else [ids])


def logits_of(model, ids):
    """[tokens, vocab]"""
    return model(torch.tensor([ids]), use_cache=False).logits[0].float()


def greedy(model, prompt):
    """Whole passes without a key/value cache: ids and margins."""
    ids, margins = list(prompt), []
    while len(ids) < len(prompt) + STEPS:
        best = logits_of(model, ids)[-1].topk(2)
        margins.append(round((best.values[0] - best.values[1]).item(), 4))
        ids.append(best.indices[0].item())
        if ids[-1] in end_ids(model):
            break
    return ids[len(prompt):], margins


def check_with_cache(model, prompt, expected):
    """transformers' own generation, which keeps keys and values, must say the same."""
    ids = torch.tensor([prompt])
    out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=STEPS,
                         do_sample=False)
    if out[0, len(prompt):].tolist() != expected:
        sys.exit("error: Generation with a key/value cache differs from generation without one.")


def case(tokenizer, model, kind, prompt):
    ids = encode(tokenizer, kind, prompt)
    top = logits_of(model, ids)[-1].topk(10)
    out, margins = greedy(model, ids)
    check_with_cache(model, ids, out)
    return {"kind": kind, "prompt": prompt, "ids": ids,
            "top10_ids": top.indices.tolist(), "top10_logits": top.values.tolist(),
            "greedy_ids": out, "greedy_margins": margins,
            "greedy_text": tokenizer.decode(out, skip_special_tokens=True),
            "stopped": out[-1] in end_ids(model)}


def evaluate(tokenizer, model, name, text):
    ids = encode(tokenizer, "text", text)
    if tokenizer.decode(ids, skip_special_tokens=True) != text:
        sys.exit(f"error: {name} does not survive encoding and decoding.")
    if len(ids) > model.config.max_position_embeddings:
        sys.exit(f"error: {name} has {len(ids)} tokens, at most "
                 f"{model.config.max_position_embeddings} fit into one pass.")
    logprobs = logits_of(model, ids)[:-1].double().log_softmax(-1)
    chosen = logprobs.gather(1, torch.tensor(ids[1:])[:, None])[:, 0]
    size = len(text.encode())
    nll = -chosen.mean().item()
    return {"file": name, "bytes": size, "tokens": len(ids) - 1, "nll_mean": nll,
            "perplexity": math.exp(nll),
            "bits_per_byte": -chosen.sum().item() / math.log(2) / size,
            "first_logprobs": chosen[:20].tolist(), "ids": ids}


def one_field_per_line(value, depth=0):
    """JSON with an object's fields on lines of their own, and lists of numbers on one line each."""
    pad = " " * depth
    if isinstance(value, dict):
        fields = [f"{pad} {json.dumps(k)}: {one_field_per_line(v, depth + 1)}"
                  for k, v in value.items()]
        return "{\n" + ",\n".join(fields) + f"\n{pad}}}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        items = [f"{pad} {one_field_per_line(v, depth + 1)}" for v in value]
        return "[\n" + ",\n".join(items) + f"\n{pad}]"
    return json.dumps(value, ensure_ascii=False)


@torch.no_grad()
def main(folder, eval_path, out_path):
    tokenizer, model = load(folder)
    path = pathlib.Path(eval_path)
    text = path.read_bytes().decode("utf-8")
    cases = [case(tokenizer, model, kind, text[:LONG_PROMPT_CHARACTERS] if p is None else p)
             for kind, p in PROMPTS]
    golden = {"about": "transformers on the CPU in float32, weights as stored; greedy_margins: "
                       "best minus second logit of each step",
              "transformers": transformers.__version__, "torch": torch.__version__,
              "cases": cases, "eval": evaluate(tokenizer, model, path.name, text)}
    pathlib.Path(out_path).write_text(one_field_per_line(golden) + "\n", encoding="utf-8")
    for one in cases:
        print(repr(one["prompt"][-60:]), "->", repr(one["greedy_text"]),
              "smallest margin", min(one["greedy_margins"]))
    print({k: v for k, v in golden["eval"].items() if k != "ids"})


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
