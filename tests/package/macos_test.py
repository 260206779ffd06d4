"""What is known of macOS' files: signatures, and stubs of its frameworks. TOKAMAK_SOURCE_DIR has the sources."""

import hashlib
import os
import pathlib
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["TOKAMAK_SOURCE_DIR"]).resolve() / "tools" / "release"))
import macho  # noqa: E402  pylint: disable=wrong-import-position
import macos_stubs  # noqa: E402  pylint: disable=wrong-import-position

PAGE = 12  # as a power of two
METAL = "/System/Library/Frameworks/Metal.framework/Versions/A/Metal"


def command(number, *fields, text=b""):
    body = struct.pack(f"<{len(fields)}I", *fields) + text
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<2I", number, 8 + len(body)) + body


def file_of(*commands):
    joined = b"".join(commands)
    return struct.pack("<8I", 0xFEEDFACF, 0x0100000C, 0, 2, len(commands), len(joined), 0, 0) + joined


def signed(size):
    """-> a file of that size for arm64, followed by its signature."""
    data = file_of(command(macho.SIGNATURE, size, 0))
    data += bytes(range(256)) * (size // 256 + 1)
    data = data[:size]
    hashes = b"".join(hashlib.sha256(data[at:at + (1 << PAGE)]).digest() for at in range(0, size, 1 << PAGE))
    head = struct.pack(">9I4B", macho.DIRECTORY, 44 + len(hashes), 0x20400, 2, 44, 0, 0, len(hashes) // 32, size, 32, macho.SHA256, 0, PAGE)
    directory = head.ljust(44, b"\0") + hashes
    return data + struct.pack(">5I", macho.EMBEDDED, 20 + len(directory), 1, 0, 20) + directory


def linked(names):
    """-> a file that takes names from libraries: pairs of a name and the number of a library, from 1."""
    texts, table = b"\0", b""
    for name, library in names:
        table += struct.pack("<IBBHQ", len(texts), 1, 0, library << 8, 0)
        texts += name.encode() + b"\0"
    libraries = [command(0xC, 24, 0, 0, 0, text=path.encode() + b"\0") for path in (METAL, "/usr/lib/libobjc.A.dylib", "/usr/lib/libSystem.B.dylib")]
    start = len(file_of(*libraries, command(2, 0, 0, 0, 0)))
    return file_of(*libraries, command(2, start, len(names), start + len(table), len(texts))) + table + texts


class MacOs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def is_signed(self, data):
        path = self.folder / "program"
        path.write_bytes(data)
        return macho.is_signed(path)

    def test_a_signature_covers_every_byte(self):
        data = signed(10_000)
        self.assertTrue(self.is_signed(data))
        for at in (100, 5_000, 9_999):
            self.assertFalse(self.is_signed(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]), at)

    def test_no_signature_is_none(self):
        self.assertFalse(self.is_signed(file_of(command(2, 0, 0, 0, 0)) + b"\0" * 100))

    def test_stubs_have_what_a_linked_library_takes_from_each(self):
        library = self.folder / "linked"
        library.write_bytes(linked([("_MTLCopyAllDevices", 1), ("_OBJC_CLASS_$_MTLCompileOptions", 1), ("_objc_release", 2),
                                    ("_malloc", 3), ("_napi_wrap", 254)]))
        macos_stubs.main(library, self.folder / "root")
        metal = (self.folder / "root" / "System/Library/Frameworks/Metal.framework/Metal.tbd").read_text()
        self.assertIn(f"install-name: '{METAL}'", metal)
        self.assertIn("symbols: [ '_MTLCopyAllDevices' ]", metal)
        self.assertIn("objc-classes: [ MTLCompileOptions ]", metal)
        self.assertIn("'_objc_release'", (self.folder / "root" / "usr/lib/libobjc.tbd").read_text())
        written = "".join(path.read_text() for path in self.folder.glob("root/**/*.tbd"))
        self.assertNotIn("malloc", written)
        self.assertNotIn("napi", written)

    def test_the_part_for_arm64_is_taken(self):
        data = b"x" * 8
        fat = struct.pack(">2I", macos_stubs.FAT, 2) + struct.pack(">5I", 7, 3, 0, 0, 0) + struct.pack(">5I", macos_stubs.ARM64, 0, 64, 8, 0)
        self.assertEqual(macos_stubs.slice_of(fat.ljust(64, b"\0") + data), data)


if __name__ == "__main__":
    unittest.main()
