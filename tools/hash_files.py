#!/usr/bin/env python3
"""Writes a C++ source with a hash of files' contents: hash_files.py ROOT OUT.cpp FILE..."""
import hashlib
import pathlib
import sys

root, out, files = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
sum_of_all = hashlib.sha256()
for name in sorted(files):
    sum_of_all.update(f"{name}\0".encode() + hashlib.sha256((root / name).read_bytes()).digest())
text = (
    '#include "kernels/sources.h"\n\nnamespace tokamak {\n\n'
    f'std::string_view kernel_sources_hash() {{ return "{sum_of_all.hexdigest()[:16]}"; }}\n\n'
    "}  // namespace tokamak\n"
)
out.write_text(text)
