"""Programs and libraries of macOS: what they need, and whether their signature is right."""

import hashlib
import re
import struct

import elf

SIGNATURE = 0x1D  # a command of the header
EMBEDDED, DIRECTORY = 0xFADE0CC0, 0xFADE0C02  # of a signature, with the bytes in a network's order
SHA256 = 2


def is_macho(path):
    with open(path, "rb") as file:
        return file.read(8) == struct.pack("<2I", 0xFEEDFACF, 0x0100000C)  # for arm64


def needed(path):
    """-> the libraries that a program or library loads, without itself."""
    text = elf.run("llvm-objdump-22", "--macho", "--dylibs-used", str(path))
    own = elf.run("llvm-objdump-22", "--macho", "--dylib-id", str(path)).splitlines()[1:]
    return [name for name in re.findall(r"^\t(\S+) \(", text, re.MULTILINE) if name not in own]


def oldest_system(path):
    """-> the oldest macOS that runs it, as a tuple."""
    found = re.search(r"minos ([0-9.]+)", elf.run("llvm-objdump-22", "--macho", "--private-headers", str(path)))
    return tuple(map(int, found.group(1).split(".")))


def signature(data):
    """-> where the signature of a file begins, or None."""
    at = 32
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<2I", data, at)
        if command == SIGNATURE:
            return struct.unpack_from("<I", data, at + 8)[0]
        at += size
    return None


def is_signed(path):
    """Whether each page has the hash that the signature names: macOS ends programs for arm64 that have another."""
    data = path.read_bytes()
    start = signature(data)
    if start is None or struct.unpack_from(">I", data, start)[0] != EMBEDDED:
        return False
    for i in range(struct.unpack_from(">I", data, start + 8)[0]):
        at = start + struct.unpack_from(">2I", data, start + 12 + 8 * i)[1]
        if struct.unpack_from(">I", data, at)[0] == DIRECTORY:
            break
    else:
        return False
    hashes, _, _, slots, limit = struct.unpack_from(">5I", data, at + 16)
    size, kind, _, page = struct.unpack_from("4B", data, at + 36)
    if kind != SHA256 or limit != start:
        return False
    return all(data[at + hashes + size * i:at + hashes + size * (i + 1)] ==
               hashlib.sha256(data[i << page:min((i + 1) << page, limit)]).digest() for i in range(slots))
