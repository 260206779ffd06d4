#!/usr/bin/env python3
"""sizes.py FOLDER: how large the modules for the browser are; fails where one is larger than it should be."""
import gzip
import pathlib
import sys

# What a page may cost, compressed: docs/browser.md.
LARGEST_KB = {"tokamak_web.wasm": 965, "tokamak_web.asyncify.wasm": 1200}


def main():
    folder = pathlib.Path(sys.argv[1])
    problems = []
    for name, largest in LARGEST_KB.items():
        module = (folder / name).read_bytes()
        compressed = len(gzip.compress(module, 9)) / 1000
        print(f"{name:26} {len(module) / 1000:6,.0f} kB, {compressed:4.0f} kB compressed by gzip")
        if compressed > largest:
            problems.append(f"error: {name} has {compressed:.0f} kB, compressed; expected at most {largest}.")
    print("\n".join(problems), end="")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
