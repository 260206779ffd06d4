#!/usr/bin/env python3
"""Writes stubs of macOS' frameworks and of libobjc, for linking Dawn's archive on another system (docs/decisions/0109-macos.md).

usage: macos_stubs.py LINKED SYSROOT

LINKED is a library of Dawn for arm64 that Apple's linker made: it records which library each name of the system comes from.
Only those names are in the stubs; libSystem and libc++ have none, for both are there as they are.
"""

import pathlib
import re
import struct
import sys

FAT, ARM64 = 0xCAFEBABE, 0x0100000C
LOAD_SYMBOLS, LOADS_OF_LIBRARIES = 0x2, {0xC, 0x18, 0x1F, 0x23}
OTHERS = ("libSystem", "libc++")
# Dawn's archive asks for a surface's layer by name, the linked library does not.
ALSO = {"/System/Library/Frameworks/QuartzCore.framework/Versions/A/QuartzCore": ["_OBJC_CLASS_$_CALayer"]}


def slice_of(data):
    """-> the part for arm64 of a file for several processors."""
    magic, count = struct.unpack(">2I", data[:8])
    if magic != FAT:
        return data
    for i in range(count):
        processor, _, offset, size, _ = struct.unpack(">5I", data[8 + 20 * i:28 + 20 * i])
        if processor == ARM64:
            return data[offset:offset + size]
    sys.exit("error: the library has no part for arm64.")


def text_at(data, at):
    return data[at:data.index(b"\0", at)].decode()


def names_by_library(data):
    """-> {library: names that are taken from it}, of a linked file."""
    count = struct.unpack("<8I", data[:32])[4]
    at, libraries, symbols = 32, [], None
    for _ in range(count):
        command, size = struct.unpack("<2I", data[at:at + 8])
        if command & 0x7FFFFFFF in LOADS_OF_LIBRARIES:
            libraries.append(text_at(data, at + struct.unpack("<I", data[at + 8:at + 12])[0]))
        elif command == LOAD_SYMBOLS:
            symbols = struct.unpack("<4I", data[at + 8:at + 24])
        at += size
    table, number, texts, _ = symbols
    found = {}
    for i in range(number):
        name, kind, _, description, _ = struct.unpack("<IBBHQ", data[table + 16 * i:table + 16 * (i + 1)])
        library = description >> 8  # from 1; above the last: of no library in particular
        if kind & 0xEF == 1 and 0 < library <= len(libraries):  # undefined, and not for debuggers
            found.setdefault(libraries[library - 1], []).append(text_at(data, texts + name))
    return found


def stub(library, names):
    """-> the text of a .tbd file, version 4."""
    kinds = {"symbols": [], "objc-classes": []}
    for name in sorted(set(names)):
        match = re.fullmatch(r"_OBJC_(?:META)?CLASS_\$_(\w+)", name)
        kinds["objc-classes" if match else "symbols"].append(match[1] if match else f"'{name}'")
    lines = ["--- !tapi-tbd", "tbd-version: 4", "targets: [ arm64-macos ]", f"install-name: '{library}'", "exports:",
             "  - targets: [ arm64-macos ]"]
    lines += [f"    {kind}: [ {', '.join(sorted(set(members)))} ]" for kind, members in kinds.items() if members]
    return "\n".join([*lines, "...", ""])


def main(linked, sysroot):
    found = names_by_library(slice_of(pathlib.Path(linked).read_bytes()))
    for library, names in ALSO.items():
        found.setdefault(library, []).extend(names)
    for library, names in found.items():
        if pathlib.PurePath(library).name.startswith(OTHERS):
            continue
        # Foo.framework/Versions/A/Foo is linked as Foo.framework/Foo, libfoo.A.dylib as -lfoo.
        path = re.sub(r"/Versions/\w+/(\w+)$", r"/\1", re.sub(r"\.\w\.dylib$", "", library))
        path = pathlib.Path(sysroot, path.lstrip("/") + ".tbd")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(stub(library, names), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
