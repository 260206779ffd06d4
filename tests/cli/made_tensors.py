"""Tensors of the families of tests/data/families, by the rule of tools/record_families.py, without
its libraries."""
import struct


def numbers(name, weight):
    """-> the values of one tensor, which f32 and, of matrices, bf16 have exactly"""
    count, step = 1, 2.0 ** weight["exponent"]
    for extent in weight["shape"]:
        count *= extent
    key, mask = 0xCBF29CE484222325, 2**64 - 1
    for byte in name.encode():
        key = (key ^ byte) * 0x100000001B3 & mask
    values = []
    for i in range(1, count + 1):
        x = key + i * 0x9E3779B97F4A7C15 & mask
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & mask
        x = (x ^ x >> 27) * 0x94D049BB133111EB & mask
        values.append(weight["middle"] + ((x ^ x >> 31) >> 56) * step - 128 * step)
    return values


def packed(values, dtype):
    if dtype in ("U8", "MXFP4"):
        return bytes(map(int, values))
    floats = struct.pack(f"<{len(values)}f", *values)
    if dtype == "F32":
        return floats
    return b"".join(floats[at + 2:at + 4] for at in range(0, len(floats), 4))


def layout(family):
    """-> (name, dtype, weight) of each tensor that the checkpoint has"""
    for weight in family["weights"]:
        dtype = "F32" if len(weight["shape"]) == 1 else "BF16"
        dtype = "U8" if "bytes" in weight else dtype
        for layer in weight.get("layers", [0]):
            for expert in range(weight.get("experts", 1)):
                name = weight["name"]
                for index in (layer, expert):
                    name = name.replace("*", str(index), 1)
                yield name, dtype, weight


def tensors(family):
    """-> {name: (dtype, shape, values)}, as the checkpoint has them"""
    return {name: (dtype, weight["shape"], numbers(name, weight)) for name, dtype, weight in layout(family)}
