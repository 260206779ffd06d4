#!/usr/bin/env python3
"""parts.py BUILD [--module NAME] [--functions N]: what is in a module for the browser, by the folder of src that its functions are from.

BUILD is the folder of the wasm build (build/wasm), which has the linked module with the names of its functions and the object files; needs
llvm-nm. Bytes are those before Binaryen; gzip -9 of each part alone, which adds up to somewhat more than that of the whole. Functions of
templates that several folders have are parts of their own.
"""
import argparse
import collections
import gzip
import pathlib
import re
import subprocess

CODE, DATA, IMPORTS = 10, 11, 2


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def number(self):  # LEB128
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at, value, shift = self.at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    def take(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def text(self):
        return self.take(self.number()).decode(errors="replace")


def imported_functions(reader):
    functions = 0
    for _ in range(reader.number()):
        reader.text()
        reader.text()
        kind = reader.take(1)[0]
        if kind == 0:
            functions += 1
        elif kind == 3:  # a global's type
            reader.number()
        if kind in (1, 2) and (reader.take(1 if kind == 2 else 2)[-1]) & 1:  # limits of a table or a memory
            reader.number()
        reader.number()
    return functions


def read(module):
    """-> ([(name, code)] of its functions, bytes of data)"""
    reader, imports, bodies, names, data = Reader(module, 8), 0, [], {}, b""
    while reader.at < len(module):
        kind, size = reader.take(1)[0], reader.number()
        section = Reader(reader.take(size))
        if kind == IMPORTS:
            imports = imported_functions(section)
        elif kind == CODE:
            bodies = [section.take(section.number()) for _ in range(section.number())]
        elif kind == DATA:
            data = section.data
        elif kind == 0 and section.text() == "name":
            while section.at < size:
                of_functions, length = section.take(1) == b"\x01", section.number()
                part = Reader(section.take(length))
                if of_functions:
                    names = {part.number(): part.text() for _ in range(part.number())}
    return [(names.get(imports + i, ""), body) for i, body in enumerate(bodies)], data


def key(name):
    """The name without its arguments, which demanglers write in different ways."""
    plain = re.sub(r"\[abi:[^]]*\]", "", name.replace("(anonymous namespace)", "@").replace(" ", ""))
    return plain.split("(", 1)[0] if not plain.startswith("(") else plain


def folders(build):
    """-> {key of a function: folders of src that define it}"""
    objects = [str(path.relative_to(build)) for path in sorted(build.glob("src/**/*.obj"))]
    found = collections.defaultdict(set)
    for i in range(0, len(objects), 100):
        run = subprocess.run(["llvm-nm", "-A", "-C", "--defined-only", *objects[i:i + 100]], cwd=build, check=True, capture_output=True, text=True)
        for line in run.stdout.splitlines():
            symbol = re.match(r"src/(\S+)/[^/]+\.obj: *[0-9a-f]* [TtWw] (.*)", line)
            if symbol:
                found[key(symbol[2])].add(re.sub(r"/?CMakeFiles/[^/]+\.dir", "", symbol[1]))
    return found


def part_of(name, found):
    places = found.get(key(name), set())
    if len(places) == 1:
        return next(iter(places))
    if places and "std::" not in name.split("(", 1)[0]:
        tops = {place.split("/")[0] for place in places}
        return f"{tops.pop()}, templates" if len(tops) == 1 else "templates of several folders"
    return "C and C++ libraries"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--module", default="tokamak_web", help="or tokamak_web_whole")
    parser.add_argument("--functions", type=int, default=0, metavar="N", help="the largest functions of each part as well")
    options = parser.parse_args()
    functions, data = read((options.build / "bin" / f"{options.module}.wasm").read_bytes())
    found, parts = folders(options.build), collections.defaultdict(list)
    for name, body in functions:
        parts[part_of(name, found)].append((name, body))
    parts["data: WGSL, tables, messages"] = [("", data)]
    rows = [(sum(len(body) for _, body in own), len(gzip.compress(b"".join(body for _, body in sorted(own, key=lambda one: one[0])), 9)), part, own)
            for part, own in parts.items()]
    for size, packed, part, own in sorted(rows, key=lambda row: row[1], reverse=True):
        print(f"{size / 1000:8.1f} kB {packed / 1000:7.1f} kB gzip {len(own):6}  {part}")
        for name, body in sorted(own, key=lambda one: len(one[1]), reverse=True)[:options.functions]:
            print(f"{len(body) / 1000:12.1f} kB  {name[:110]}")
    print(f"{sum(row[0] for row in rows) / 1000:8.1f} kB {sum(row[1] for row in rows) / 1000:7.1f} kB gzip")


if __name__ == "__main__":
    main()
