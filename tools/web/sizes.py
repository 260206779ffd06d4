#!/usr/bin/env python3
"""sizes.py FOLDER [--brotli]: how large the modules for the browser are; fails where one is larger than it should be.

--brotli: also as hosts send them to browsers that take brotli, which takes Node some seconds.
"""
import gzip
import pathlib
import subprocess
import sys

# The limits of a page's size, compressed: docs/browser.md.
LARGEST_KB = {"tokamak_web.wasm": 1252, "tokamak_web.asyncify.wasm": 1558,
              "tokamak_web_whole.wasm": 1390, "tokamak_web_whole.asyncify.wasm": 1744}
BROTLI = 'process.stdout.write(String(zlib.brotliCompressSync(fs.readFileSync(process.argv[1])).length))'


def with_brotli(file):
    size = subprocess.run(["node", "-e", BROTLI, file], check=True, capture_output=True, text=True).stdout
    return f", {int(size) / 1000:4.0f} kB by brotli"


def main():
    folder = pathlib.Path(sys.argv[1])
    problems = []
    for name, largest in LARGEST_KB.items():
        module = (folder / name).read_bytes()
        compressed = len(gzip.compress(module, 9)) / 1000
        others = with_brotli(folder / name) if "--brotli" in sys.argv[2:] else ""
        print(f"{name:31} {len(module) / 1000:6,.0f} kB, {compressed:4.0f} kB compressed by gzip{others}")
        if compressed > largest:
            problems.append(f"error: {name} has {compressed:.0f} kB, compressed; expected at most {largest}.")
    print("\n".join(problems), end="")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
