#!/usr/bin/env python3
"""optimize.py MODULE FOLDER --wasm-opt FILE --never-waits FILE --cache FOLDER [--asserts]: the modules that are served.

Binaryen makes two of the linked one, NAME.wasm, which has the names of its functions: one of that name, smaller, for
browsers that suspend WebAssembly, and NAME.asyncify.wasm, which suspends itself. What it made of the same input is taken
from the cache. With --asserts it is the second one only, which traps where a function waits that --never-waits names.
"""
import argparse
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

# The features of WebAssembly that clang uses.
FEATURES = ["--enable-simd", "--enable-bulk-memory", "--enable-nontrapping-float-to-int", "--enable-sign-ext",
            "--enable-mutable-globals", "--enable-multivalue", "--enable-reference-types", "--enable-extended-const"]
# In the order of their names, instances of one template stand beside each other: gzip makes one percent less of them.
SERVED = ["--reorder-functions-by-name", "--strip-debug", "--strip-producers"]
# The imports that give promises: imports.h in src/backend/webgpu/web, host_file.cpp in src/formats, page_images.cpp in
# src/engine, compression_host.cpp in src/speech.
WAITS = "gpu.wait,file.read,image.decode,image.pixels,deflate.bytes"


def patterns(file):
    """The lines of never_waits.txt that are no remarks."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.strip() and not line.startswith("#"))


def names_functions(module):
    """Whether the module has a section with the names of its functions, without which no pattern finds any."""
    data, at = module.read_bytes(), 8  # magic number and version

    def number():  # LEB128
        nonlocal at
        value = shift = 0
        while True:
            byte, at, shift = data[at], at + 1, shift + 7
            value |= (byte & 127) << (shift - 7)
            if byte < 128:
                return value

    while at < len(data):
        kind, size = number(), number()
        end = at + size
        if kind == 0 and data[at:end].startswith(b"\x04name"):
            return True
        at = end
    return False


def digest(*inputs):
    known = hashlib.sha256()
    for one in inputs:
        known.update(hashlib.sha256(one).digest())
    return known.hexdigest()


def run(options, module, arguments, names=""):
    """What Binaryen makes of the module, in the cache; names: those of functions that never wait."""
    key = digest(options.wasm_opt.read_bytes(), module.read_bytes(), repr(arguments).encode(), names.encode())
    kept = options.cache / f"{key}.wasm"
    if kept.is_file():
        return kept
    started = time.monotonic()
    options.cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.cache) as folder:
        listed = pathlib.Path(folder) / "names"
        listed.write_text(names, encoding="utf-8")
        given = [f"--pass-arg=asyncify-removelist@@{listed}"] if names else []
        made = pathlib.Path(folder) / "module"
        subprocess.run(["node", options.wasm_opt, module, *FEATURES, *arguments, *given, "-o", made], check=True)
        # The rename is the last step, so that a file with its final name is always complete.
        made.rename(kept)
    print(f"wasm-opt {' '.join(arguments)}: {time.monotonic() - started:.0f} s")
    return kept


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    for name in ("wasm-opt", "never-waits", "cache"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--asserts", action="store_true")
    options = parser.parse_args()
    if not options.wasm_opt.is_file():
        sys.exit(f"error: {options.wasm_opt} is missing; `npm --prefix web ci` installs it.")
    if not names_functions(options.module):
        sys.exit(f"error: {options.module} was linked without the names of its functions, by settings of an earlier "
                 "version; `rm -r build/wasm` and build again.")
    options.folder.mkdir(parents=True, exist_ok=True)
    # --converge would take twice as long, for half a percent.
    small = run(options, options.module, ["-Oz", "--debuginfo"])
    asyncify = ["--asyncify", f"--pass-arg=asyncify-imports@{WAITS}",
                *(["--pass-arg=asyncify-asserts"] if options.asserts else []), "-Oz", *SERVED]
    twin = run(options, small, asyncify, patterns(options.never_waits))
    shutil.copyfile(twin, options.folder / f"{options.module.stem}.asyncify.wasm")
    if not options.asserts:
        shutil.copyfile(run(options, small, SERVED), options.folder / options.module.name)


if __name__ == "__main__":
    main()
