"""Damaged copies of models: what cases are made of, and the list of them."""
import json
import struct

WEIGHTS = "model.safetensors"
MODULE = "model.layers.0.mlp.down_proj"  # a matrix that every packing has
CASES = []


def case(name, *mentions, base="llama_untied", expect="error"):
    """Registers a function that damages a fresh copy of `base`; `name` starts with its group."""

    def register(damage):
        CASES.append((name, base, expect, list(mentions), damage))
        return damage

    return register


def split(path):
    """-> header text, data"""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    return raw[8 : 8 + length], raw[8 + length :]


def join(path, header, data, length=None):
    path.write_bytes(struct.pack("<Q", len(header) if length is None else length) + header + data)


def file_case(name, edit, *mentions, **options):
    """`edit`: bytes of the whole file -> bytes."""

    def damage(folder):
        path = folder / WEIGHTS
        path.write_bytes(edit(path.read_bytes()))

    case(name, WEIGHTS, *mentions, **options)(damage)


def entry_case(name, tensor, edit, *mentions, **options):
    """`edit` changes the header's entry of one tensor in place; the data stay."""

    def damage(folder):
        header, data = split(folder / WEIGHTS)
        entries = json.loads(header)
        edit(entries[tensor])
        join(folder / WEIGHTS, json.dumps(entries).encode(), data)

    case(name, tensor, *mentions, **options)(damage)


def text_case(name, before, after, *mentions, **options):
    """Replaces bytes of the header's text, once."""

    def damage(folder):
        header, data = split(folder / WEIGHTS)
        assert before in header, (name, before)
        join(folder / WEIGHTS, header.replace(before, after, 1), data)

    case(name, *mentions, **options)(damage)


def tensors_case(name, edit, *mentions, base):
    """`edit`: {tensor: {dtype, shape, data}} changed in place; the file is written again."""

    def damage(folder):
        header, data = split(folder / WEIGHTS)
        tensors = json.loads(header)
        tensors.pop("__metadata__", None)
        for entry in tensors.values():
            begin, end = entry.pop("data_offsets")
            entry["data"] = data[begin:end]
        edit(tensors)
        out = b""
        for entry in tensors.values():
            raw = entry.pop("data")
            entry["data_offsets"] = [len(out), len(out) + len(raw)]
            out += raw
        join(folder / WEIGHTS, json.dumps(tensors).encode(), out)

    case(name, *mentions, base=base)(damage)


def halve(tensor):
    def edit(tensors):
        entry = tensors[tensor]
        entry["shape"][0] //= 2
        entry["data"] = entry["data"][: len(entry["data"]) // 2]

    return edit


def packed_config_case(name, changes, *mentions, base):
    """Changes what config.json says about how matrices are packed."""

    def damage(folder):
        path = folder / "config.json"
        config = json.loads(path.read_text())
        for field in ("quantization", "quantization_config"):
            if field in config:
                config[field].update(changes)
        path.write_text(json.dumps(config))

    case(name, *mentions, base=base)(damage)
