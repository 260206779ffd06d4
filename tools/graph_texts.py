#!/usr/bin/env python3
"""graph_texts.py BINARY OUT: writes what a built `tokamak` makes of every small model of tests/data.

A file per model and view: the graph as its architecture writes it, the fused graph and the plan for
the CPU, as text that parses back. Two builds agree when `diff -r` of their folders is empty.
"""
import pathlib
import subprocess
import sys

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data"
VIEWS = ("graph", "fused", "plan")


def models():
    folders = (path.parent for path in DATA.glob("*/*/config.json"))
    return sorted([*folders, *DATA.glob("gguf/*.gguf")])


def main(binary, out):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    for model in models():
        for view in VIEWS:
            command = [binary, "inspect", model, f"--{view}", "--text", "--backend", "cpu"]
            done = subprocess.run(command, capture_output=True, text=True)
            name = f"{model.parent.name}-{model.name}.{view}.txt"
            (out / name).write_text(done.stdout + done.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
