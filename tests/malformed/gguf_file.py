"""A GGUF file taken apart, so that tests can damage it and write it again."""
import struct

FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
U32, STRING, ARRAY = 4, 8, 9
ALIGNMENT = 32


def pack_string(text):
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(data)) + data


class GgufFile:
    """entries: key -> (type, bytes of the value); tensors: [name, extents, type, offset]."""

    def __init__(self, path):
        raw = path.read_bytes()
        at = 24
        self.magic, self.version, tensors, entries = struct.unpack("<4sIQQ", raw[:at])
        self.tensor_count = self.entry_count = None  # None: as many as there are

        def number(kind):
            nonlocal at
            (value,) = struct.unpack_from("<" + kind, raw, at)
            at += struct.calcsize(kind)
            return value

        def text():
            nonlocal at
            length = number("Q")
            at += length
            return raw[at - length : at].decode()

        def skip(kind):
            nonlocal at
            if kind == STRING:
                text()
            elif kind == ARRAY:
                inner, count = number("I"), number("Q")
                for _ in range(count):
                    skip(inner)
            else:
                number(FORMATS[kind])

        self.entries = {}
        for _ in range(entries):
            key, kind = text(), number("I")
            begin = at
            skip(kind)
            self.entries[key] = (kind, raw[begin:at])
        self.tensors = []
        for _ in range(tensors):
            name = text()
            extents = [number("Q") for _ in range(number("I"))]
            self.tensors.append([name, extents, number("I"), number("Q")])
        self.infos_end = at
        self.data = raw[(at + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT :]

    def tensor(self, name):
        return next(tensor for tensor in self.tensors if tensor[0] == name)

    def set_u32(self, key, value):
        self.entries[key] = (U32, struct.pack("<I", value))

    def header(self):
        def count(given, real):
            return len(real) if given is None else given

        out = struct.pack("<4sIQQ", self.magic, self.version, count(self.tensor_count, self.tensors),
                          count(self.entry_count, self.entries))
        for key, (kind, value) in self.entries.items():
            out += pack_string(key) + struct.pack("<I", kind) + value
        return out

    def infos(self):
        out = b""
        for tensor in self.tensors:
            name, extents, kind, offset = tensor[:4]
            dims = tensor[4] if len(tensor) > 4 else len(extents)
            out += pack_string(name) + struct.pack("<I", dims)
            out += b"".join(struct.pack("<Q", extent) for extent in extents)
            out += struct.pack("<IQ", kind, offset)
        return out

    def bytes(self):
        out = self.header() + self.infos()
        return out + bytes(-len(out) % ALIGNMENT) + self.data
