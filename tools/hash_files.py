#!/usr/bin/env python3
"""Writes a C++ source with a function that gives a hash of files' contents.

hash_files.py ROOT OUT.cpp HEADER NAMESPACE::FUNCTION FILE...: HEADER declares the function, the FILEs are relative to ROOT.
"""
import hashlib
import pathlib
import sys

root, out, header, function, files = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), *sys.argv[3:5], sys.argv[5:]
namespace, _, name = function.rpartition("::")
sum_of_all = hashlib.sha256()
for file in sorted(files):
    sum_of_all.update(f"{file}\0".encode() + hashlib.sha256((root / file).read_bytes()).digest())
out.write_text(
    f'#include "{header}"\n\nnamespace {namespace} {{\n\n'
    f'std::string_view {name}() {{ return "{sum_of_all.hexdigest()[:16]}"; }}\n\n'
    f"}}  // namespace {namespace}\n"
)
