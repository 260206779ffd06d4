"""A model that answers at once, and nonsense: the weights of tests/data/models/llama_untied with a tokenizer
of bytes and a chat template."""
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from program import model  # noqa: E402

SPECIAL = ["<unk>", "<s>", "</s>"]
TEMPLATE = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"


def byte_characters():
    """GPT-2's: printable bytes are themselves, the others follow from 256 on."""
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in own]
    return [chr(byte if byte in own else 256 + others.index(byte)) for byte in range(256)]


def tokenizer(size):
    words = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in "lnrst"]
    tokens = [*SPECIAL, *byte_characters(), *words][:size]
    added = [{"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
              "special": True} for i, text in enumerate(SPECIAL)]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
            "pre_tokenizer": byte_level, "post_processor": None, "decoder": byte_level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                      "vocab": {text: i for i, text in enumerate(tokens)}, "merges": []}}


def write(folder, **changes):
    """`changes`: fields of its config."""
    source = model("llama_untied")
    for name in ("generation_config.json", "model.safetensors"):
        shutil.copy(os.path.join(source, name), folder)
    with open(os.path.join(source, "config.json"), encoding="utf-8") as file:
        config = json.load(file) | changes
    for name, value in (("config.json", config), ("tokenizer.json", tokenizer(config["vocab_size"])),
                        ("tokenizer_config.json", {"chat_template": TEMPLATE, "eos_token": "</s>"})):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(value, file)
