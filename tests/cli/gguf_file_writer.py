"""Writes GGUF files of tensors of floats, for tests that write models anew."""
import os
import struct
import sys

import program

sys.path.insert(1, os.path.join(program.SOURCE, "tools"))
import random_packed  # noqa: E402

TYPES = {"F32": 0, "F16": 1, "BF16": 30, "MXFP4": 39}


def write(path, entries, tensors):
    """tensors: [(name, type, shape, bytes)]"""
    infos, data = b"", b""
    for name, kind, shape, raw in tensors:
        infos += random_packed.string(name) + struct.pack("<I", len(shape))
        infos += struct.pack(f"<{len(shape)}QIQ", *reversed(shape), kind, len(data))
        data += raw + bytes(-len(raw) % 32)
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(entries))
    head += b"".join(random_packed.entry(key, value) for key, value in entries.items()) + infos
    path.write_bytes(head + bytes(-len(head) % 32) + data)
