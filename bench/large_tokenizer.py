#!/usr/bin/env python3
"""Writes a tokenizer.json as large as those of real models, and a text to encode with it.

examples:
  bench/large_tokenizer.py --shape gemma3 --out /tmp/t     tokenizer.json and text.txt in /tmp/t
  bench/large_tokenizer.py --shape llama3 --out /tmp/t --text-mb 4

The pieces begin with those of the storyteller, which are English; the others are made-up words of
five alphabets, and every part of them. Every way to join two pieces to a third is a merge, as in the
files made from SentencePiece models. The text has the sentences of this repository, cut and joined anew, with
other pieces among the words. The same options give the same bytes.
"""
import argparse
import json
import pathlib
import random
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHAPES = {"gemma3": dict(tokens=262144, style="sentencepiece"),
          "llama3": dict(tokens=128256, style="bytes")}
BLANK = "\u2581"
WORD_PARTS = 5
# First and last letter of an alphabet, and its share of the pieces that are made here.
ALPHABETS = (("a", "z", 60), ("\u0430", "\u044f", 12), ("\u03b1", "\u03c9", 4),
             ("\u0905", "\u0939", 8), ("\u4e00", "\u5e00", 16))
LLAMA3_WORDS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
                r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def byte_chars():
    """GPT-2's character for every byte."""
    plain = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    chars, extra = {}, 256
    for byte in range(256):
        chars[byte] = chr(byte if byte in plain else extra)
        extra += byte not in plain
    return chars


def make_pieces(rng, count):
    """Single characters first, then joined pieces, each after its parts."""
    story = json.loads((ROOT / "models/storyteller/tokenizer.json").read_text())["model"]
    joined = ["".join(merge.split(" ") if isinstance(merge, str) else merge)
              for merge in story["merges"]]
    known = dict.fromkeys(token for token in story["vocab"] if len(token) == 1)
    pools = [[chr(c) for c in range(ord(first), ord(last) + 1)] for first, last, _ in ALPHABETS]
    for letters in pools:
        known.update(dict.fromkeys(letters))
    known.update(dict.fromkeys(joined))
    for letters in pools:
        known.update(dict.fromkeys(BLANK + letter for letter in letters))
    pools[0] += [t for t in joined if t.isascii() and t.isalpha() and len(t) < 5]
    weights = [share for _, _, share in ALPHABETS]
    while len(known) < count:
        parts = rng.choices(rng.choices(pools, weights)[0], k=WORD_PARTS)
        if rng.random() < 0.5:
            parts[0] = BLANK + parts[0]
        for size in range(1, WORD_PARTS + 1):
            for first in range(WORD_PARTS + 1 - size):
                known["".join(parts[first:first + size])] = None
    return list(known)[:count]


def find_merges(pieces):
    known = set(pieces)
    return [(piece[:cut], piece[cut:]) for piece in pieces for cut in range(1, len(piece))
            if piece[:cut] in known and piece[cut:] in known]


def added(ids, contents):
    return [{"id": i, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": True} for i, content in zip(ids, contents)]


def template(token, token_id):
    piece = {"SpecialToken": {"id": token, "type_id": 0}}
    a, b = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    return {"type": "TemplateProcessing", "single": [piece, a], "pair": [piece, a, piece, b],
            "special_tokens": {token: {"id": token, "ids": [token_id], "tokens": [token]}}}


def sentencepiece_file(rng, count):
    special = ["<pad>", "<eos>", "<bos>", "<unk>"]
    names = special + [f"<0x{byte:02X}>" for byte in range(256)]
    pieces = make_pieces(rng, count - len(names))
    blank = {"String": " "}
    return {"added_tokens": added(range(4), special),
            "normalizer": {"type": "Replace", "pattern": blank, "content": BLANK},
            "pre_tokenizer": {"type": "Split", "pattern": blank,
                              "behavior": "MergedWithPrevious", "invert": False},
            "post_processor": template("<bos>", 2),
            "decoder": {"type": "Sequence", "decoders": [
                {"type": "Replace", "pattern": {"String": BLANK}, "content": " "},
                {"type": "ByteFallback"}, {"type": "Fuse"}]},
            "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>",
                      "continuing_subword_prefix": None, "end_of_word_suffix": None,
                      "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
                      "vocab": {token: i for i, token in enumerate(names + pieces)},
                      "merges": find_merges(pieces)}}, pieces


def bytes_file(rng, count):
    chars = byte_chars()

    def spell(text):
        return "".join(chars[byte] for byte in text.replace(BLANK, " ").encode())

    special = [f"<|reserved_special_token_{i}|>" for i in range(256)]
    pieces = make_pieces(rng, count - len(special) - 256)
    spelled = dict.fromkeys(chars.values())
    for piece in pieces:  # the bytes of a character are joined first, from the left
        for end in range(2, len(piece[:1].encode()) + 1):
            spelled[spell(piece)[:end]] = None
        spelled[spell(piece)] = None
    spelled = list(spelled)[:count - len(special)]
    ids = range(len(spelled), len(spelled) + len(special))
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    split = {"type": "Split", "pattern": {"Regex": LLAMA3_WORDS}, "behavior": "Isolated",
             "invert": False}
    return {"added_tokens": added(ids, special), "normalizer": None,
            "pre_tokenizer": {"type": "Sequence",
                              "pretokenizers": [split, {**level, "use_regex": False}]},
            "post_processor": template(special[0], ids[0]),
            "decoder": {**level, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None,
                      "continuing_subword_prefix": None, "end_of_word_suffix": None,
                      "fuse_unk": False, "byte_fallback": False, "ignore_merges": True,
                      "vocab": {token: i for i, token in enumerate(spelled)},
                      "merges": find_merges(spelled)}}, pieces


def make_text(rng, pieces, size):
    """Chains of words that follow one another somewhere in the prose of the repository."""
    sources = [ROOT / "tests/data/storyteller/eval.txt", *sorted(ROOT.glob("docs/**/*.md"))]
    words = " ".join(path.read_text() for path in sources).split()
    words = [word for word in words if re.fullmatch(r"[\"']?[A-Za-z'-]+[.,;:!?]?[\"']?", word)]
    after = {}
    for word, follower in zip(words, words[1:]):
        after.setdefault(word, []).append(follower)
    rare = [piece[1:] for piece in pieces if piece.startswith(BLANK) and piece[1:].isascii()
            and piece[1:].isalpha()]
    text, length, word = [], 0, words[0]
    while length < size:
        chosen = rng.choice(rare) if rng.random() < 0.04 else word
        ending = word[-1] in ".!?\"" and rng.random() < 0.25
        text.append(chosen + ("\n\n" if ending else " "))
        length += len(text[-1])
        word = rng.choice(after.get(word, words))
    return "".join(text)[:size]


def write(shape, folder, text_bytes):
    rng = random.Random(20)
    make = {"sentencepiece": sentencepiece_file, "bytes": bytes_file}[SHAPES[shape]["style"]]
    file, pieces = make(rng, SHAPES[shape]["tokens"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text.txt").write_text(make_text(rng, pieces, text_bytes))
    file = {"version": "1.0", "truncation": None, "padding": None, **file}
    (folder / "tokenizer.json").write_text(json.dumps(file, ensure_ascii=False, indent=2))
    return file


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="gemma3")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--text-mb", type=float, default=0.5)
    options = parser.parse_args()
    file = write(options.shape, options.out, int(options.text_mb * 1e6))
    size = (options.out / "tokenizer.json").stat().st_size
    print(f"{options.shape}: {len(file['model']['vocab'])} tokens, "
          f"{len(file['model']['merges'])} merges, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
