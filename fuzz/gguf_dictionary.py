#!/usr/bin/env python3
"""gguf_dictionary.py > gguf.dict: for libFuzzer, every key and text that the readers of GGUF files look for.

They are taken from the sources, so that a new key is in it from the first day. A key is written as
the format has it: its length, the text, and the number of a type.
"""
import pathlib
import re
import struct

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src"
# The sources that read texts, and what stands before them in a key.
READERS = {"formats/gguf.cpp": [""], "text/tokenizer/gguf_*.cpp": [], "engine/files/gguf_files.cpp": ["", "tokenizer.ggml."],
           "model/gguf/*.cpp": ["", "llama.", "gemma4."]}
TEXT = re.compile(r'"([^"\\\n]{2,60})"')
KEY = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)*")
U32, F32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9
BROKEN = [b"\xe6\x97", b"\xff\xfe", b"\xf0\x9f\x98", b"\xc3", b"\xed\xa0\x80"]


def readers():
    """(a text between quotes, what may stand before it), in the order of the files"""
    for pattern, prefixes in READERS.items():
        paths = sorted(SOURCE.glob(pattern))
        if not paths:
            raise SystemExit(f"error: src/{pattern} matches no file")
        for path in paths:
            if not path.name.endswith("_test.cpp"):
                for text in TEXT.findall(path.read_text()):
                    if " " not in text and not text.endswith(".h"):
                        yield text, prefixes


def string(data):
    return struct.pack("<Q", len(data)) + data


def main():
    found = list(readers())
    entries = [string(text.encode()) for text, _ in found]
    for text, prefixes in found:
        if KEY.fullmatch(text):
            keys = [string((prefix + text).encode()) for prefix in prefixes]
            entries += [key + struct.pack("<I", U32) for key in keys]
    entries += [string(b"tokenizer.ggml." + name) + struct.pack("<III", ARRAY, kind, 1)
                for name, kind in ((b"tokens", STRING), (b"merges", STRING), (b"scores", F32),
                                   (b"token_type", U32), (b"eos_token_ids", U32))]
    entries += [struct.pack("<I", kind) for kind in range(13)] + BROKEN
    entries += [string(text) for text in BROKEN]
    for entry in dict.fromkeys(entries):
        print('"' + "".join(f"\\x{byte:02x}" for byte in entry) + '"')


main()
