#!/usr/bin/env python3
"""Writes a C++ source that holds text files: embed.py [--without-comments] ROOT OUT.cpp HEADER FUNCTION FILE...

HEADER declares FUNCTION, which gives a span of EmbeddedFile (base/embedded_file.h). Without comments: a file of WGSL
is cut to what src/kernels reads of it, which includes its indents and the remarks about unrolling.
"""
import pathlib
import re
import sys

COMMENT = re.compile(r"[ ]*//(?! unroll\b(?:\n|, at most )).*")
without_comments = sys.argv[1] == "--without-comments"
if without_comments:
    del sys.argv[1]
root, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
header, function, files = sys.argv[3], sys.argv[4], sys.argv[5:]
entries = []
for name in files:
    text = (root / name).read_text()
    if without_comments:
        lines = (COMMENT.sub("", line) for line in text.splitlines(keepends=True))
        text = "".join(line for line in lines if line.strip())
    # Compilers limit the length of one literal; adjacent literals are joined.
    pieces = [text[i : i + 8000] for i in range(0, len(text), 8000)] or [""]
    literal = "\n".join(f'R"embedded({piece})embedded"' for piece in pieces)
    entries.append(f'    {{"{name}", {literal}}},')
out.write_text(
    f'#include "{header}"\n\nnamespace tokamak {{\nnamespace {{\n'
    "constexpr EmbeddedFile kFiles[] = {\n" + "\n".join(entries) + "\n};\n}  // namespace\n\n"
    f"std::span<const EmbeddedFile> {function}() {{ return kFiles; }}\n\n}}  // namespace tokamak\n"
)
