#!/usr/bin/env python3
"""python_declarations.py [--check]: writes python/tokamak/_declarations.py, the C interface for ctypes.

It is made of the headers include/tokamak/c*.h, which alone say what there is. --check only fails where the file is
not what they give.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include" / "tokamak"
TARGET = ROOT / "python" / "tokamak" / "_declarations.py"

PLAIN = {"void": "None", "bool": "c_bool", "int": "c_int", "double": "c_double", "float": "c_float", "size_t": "c_size_t",
         "uint32_t": "c_uint32", "uint64_t": "c_uint64"}
# A text that a function returns and its caller frees must stay a pointer; ctypes would make bytes of c_char_p.
POINTERS = {"const char*": "c_char_p", "char*": "c_void_p", "const void*": "c_void_p", "void*": "c_void_p",
            "const char* const*": "POINTER(c_char_p)"}


def headers():
    """The text of the headers without comments and directives, c.h first, since the others use it."""
    paths = sorted(HEADERS.glob("c_*.h"))
    text = "\n".join(path.read_text(encoding="utf-8") for path in [HEADERS / "c.h", *paths])
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"^#.*$", "", text, flags=re.MULTILINE)


def camel(name):
    return "".join(part.capitalize() for part in name.removeprefix("tokamak_").split("_"))


class Declarations:
    def __init__(self, text):
        self.text = text
        self.enums = {name: re.findall(r"(TOKAMAK_\w+) = (\d+)", body)
                      for body, name in re.findall(r"typedef enum \{(.*?)\} (tokamak_\w+);", text, re.DOTALL)}
        self.structs = {name: [self.named(field) for field in body.split(";") if field.strip()]
                        for body, name in re.findall(r"typedef struct \{(.*?)\} (tokamak_\w+);", text, re.DOTALL)}
        self.callbacks = {name: (result, self.split(arguments)) for result, name, arguments in
                          re.findall(r"typedef (\w+) \(\*(tokamak_\w+)\)\((.*?)\);", text, re.DOTALL)}
        self.functions = {name: (result.strip(), self.split(arguments)) for result, name, arguments in
                          re.findall(r"TOKAMAK_API ([^;(]*?)\b(tokamak_\w+)\((.*?)\);", text, re.DOTALL)}

    @staticmethod
    def named(declared):
        """The type and the name of a parameter or a field."""
        kind, name = re.fullmatch(r"\s*(.*?)\s*(\w+)\s*", declared, re.DOTALL).groups()
        return re.sub(r"\s+", " ", kind), name

    def split(self, arguments):
        return [] if arguments.strip() == "void" else [self.named(one)[0] for one in arguments.split(",")]

    def ctype(self, kind):
        if kind in PLAIN:
            return PLAIN[kind]
        if kind in POINTERS:
            return POINTERS[kind]
        if kind in self.enums:
            return "c_int"
        if kind in self.callbacks:
            return camel(kind)
        pointed = kind.removeprefix("const ").removesuffix("*")
        if pointed in PLAIN:
            return f"POINTER({PLAIN[pointed]})"
        if pointed in self.structs:
            return f"POINTER({camel(pointed)})"
        if re.fullmatch(r"tokamak_\w+\*", pointed):
            return "POINTER(c_void_p)"
        if re.fullmatch(r"tokamak_\w+", pointed) and kind.endswith("*"):
            return "c_void_p"
        sys.exit(f"error: include/tokamak: there is no ctypes type for \"{kind}\"; add it to {pathlib.Path(__file__).name}.")

    def field(self, kind):
        """A text in a struct may hold a zero, at which c_char_p would end it."""
        return "c_void_p" if kind == "const char*" else self.ctype(kind)

    def lines(self):
        yield '"""The C interface for ctypes, made of include/tokamak/c*.h by tools/python_declarations.py."""'
        yield "from __future__ import annotations"
        yield ""
        yield "import ctypes"
        yield "import enum"
        yield ("from ctypes import (CFUNCTYPE, POINTER, c_bool, c_char_p, c_double, c_float, c_int, c_size_t, c_uint32, "
               "c_uint64, c_void_p)")
        yield "from typing import Any, Dict, Tuple"
        for name, values in self.enums.items():
            prefix = self.prefix(values)
            yield from ["", "", f"class {camel(name)}(enum.IntEnum):"]
            yield from [f"    {value.removeprefix(prefix)} = {number}" for value, number in values]
        for name, fields in self.structs.items():
            yield from ["", "", f"class {camel(name)}(ctypes.Structure):", "    _fields_ = ["]
            yield from [f'        ("{field}", {self.field(kind)}),' for kind, field in fields]
            yield "    ]"
        yield from ["", ""]
        for name, (result, arguments) in self.callbacks.items():
            yield f"{camel(name)} = CFUNCTYPE({', '.join([self.ctype(result), *map(self.ctype, arguments)])})"
        yield from ["", "# The type of the result and those of the arguments.", "FUNCTIONS: Dict[str, Tuple[Any, ...]] = {"]
        for name, (result, arguments) in self.functions.items():
            types = [self.ctype(result), *map(self.ctype, arguments)]
            yield f'    "{name}": ({", ".join(types)}{"," if len(types) == 1 else ""}),'
        yield "}"

    @staticmethod
    def prefix(values):
        """The words that the names begin with in common; TOKAMAK_ where they have no other."""
        words = [name.split("_") for name, _ in values]
        count = next(i for i, column in enumerate(zip(*words)) if len(set(column)) > 1)
        return "_".join(words[0][:count]) + "_"


def main():
    text = "\n".join(Declarations(headers()).lines()) + "\n"
    if sys.argv[1:] == ["--check"]:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
            sys.exit(f"error: {TARGET.relative_to(ROOT)} is not what the headers give: run tools/python_declarations.py.")
        return
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
