#!/usr/bin/env python3
"""record_images.py FILE...: records what transformers answers about images, for the families of
tests/data/families that read some: the rows of their towers, and chats with and without images.

The chats and their ids are those that a file has: what stands around an image in a prompt is a
matter of processors, after which tools/numpy_vision.py writes it. Greedy tokens end before one that
stands for an image.
"""
import json
import pathlib
import sys

import torch
import transformers
from PIL import Image

import record_families

STEPS = 16  # tokens after a chat
IMAGES = pathlib.Path(__file__).parent.parent / "tests/data/images"


def rounded(values):
    return [float(f"{x:.7g}") for x in values]


def image_token(config):
    return config.get("image_token_id", config.get("image_token_index"))


class Seen:
    """Images as the family's processor gives them to its model."""

    def __init__(self, family):
        processor = dict(family["processor"])
        # By Pillow: the other backend has no Lanczos filter, and takes a bicubic one in its place.
        name = processor["image_processor_type"].removesuffix("Fast") + "Pil"
        self.processor = getattr(transformers, name)(**processor)
        self.in_lists = family["config"]["model_type"] == "idefics3"

    def __call__(self, names):
        images = [Image.open(IMAGES / name).convert("RGB") for name in names]
        made = self.processor(images=[images] if self.in_lists else images, return_tensors="pt")
        return {name: made[name] for name in made if name not in ("rows", "cols")}


def tower_rows(model, seen, name):
    """[rows, hidden], and after them as many for each of the first layers that get some."""
    with torch.no_grad():
        out = model.model.get_image_features(**seen([name]))
    rows = out.pooler_output
    rows = torch.cat(list(rows)) if isinstance(rows, (tuple, list)) else rows.flatten(0, -2)
    deep = getattr(out, "deepstack_features", None) or []
    return torch.cat([rows, *deep]).float()


def chat(model, config, seen, asked):
    images = seen([one for one in asked["segments"] if isinstance(one, str)])
    ids, rows = torch.tensor([asked["ids"]]), []
    for _ in range(STEPS):
        kinds = {"mm_token_type_ids": (ids == image_token(config)).int()}
        own = kinds if config["model_type"].startswith("qwen") else {}
        with torch.no_grad():
            rows.append(model(input_ids=ids, use_cache=False, **images, **own).logits[0, -1].float())
        best = int(rows[-1].argmax())
        if best == image_token(config):
            break
        ids = torch.cat([ids, torch.tensor([[best]])], 1)
    asked["logits_last"] = rounded(rows[0].tolist())
    asked["greedy"] = {"ids": ids[0, len(asked["ids"]):].tolist()}
    margin = min(float(row.topk(2).values.diff().abs()) for row in rows)
    print(f"{asked['name']}: {len(ids[0])} tokens, margin {margin:.3f}")


def main(files):
    for file in map(pathlib.Path, files):
        family = json.loads(file.read_text())
        print(file.stem)
        model, config, seen = record_families.load(family), family["config"], Seen(family)
        for one in family["tower"]:
            one["rows"] = rounded(tower_rows(model, seen, one["file"]).flatten().tolist())
        for one in family["chats"]:
            chat(model, config, seen, one)
        vocab = min(config.get("text_config", config)["vocab_size"], image_token(config))
        family["prompts"] = [record_families.record(model, vocab, name, *sizes)
                             for name, sizes in record_families.LENGTHS.items()]
        family.pop("reference", None)
        family["transformers"] = transformers.__version__
        file.write_text(record_families.text(family) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
