#!/usr/bin/env python3
"""graph_texts.py [--backend cpu|cpu-reference|webgpu|cuda] BINARY OUT: writes what a built `tokamak` makes of every model of tests/data.

A file per model and view: the graph as its architecture writes it, the fused graph and the plan, as text that parses back,
and the exit status. Two builds agree when `diff -r` of their folders is empty. Models of tests/data/families have weights of
zeros, which no text shows. Ends with 1, and the names, where a view of a model is refused.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
VIEWS = ("graph", "fused", "plan")
CODEC = "NanoCodecDecoder"  # of whose plan there is no text
BYTES = {"F32": 4, "BF16": 2, "U8": 1}

sys.path.insert(0, str(ROOT / "tests" / "cli"))
from made_tensors import layout  # noqa: E402
from safetensors_file import write_tensors  # noqa: E402


def recorded():
    """-> (name, path) of the models that lie in tests/data"""
    folders = [path.parent for path in DATA.glob("*/*/config.json") if CODEC not in path.read_text()]
    return [(f"{path.parent.name}-{path.name}", path) for path in sorted([*folders, *DATA.glob("gguf/*.gguf")])]


def made(out):
    """-> (name, path) of the families of tests/data/families, written below out"""
    models = []
    for path in sorted(DATA.glob("families/*.json")):
        family = json.loads(path.read_text())
        folder = out / path.stem
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(family["config"]))
        write_tensors(folder / "model.safetensors", {
            name: (dtype, weight["shape"], bytes(BYTES[dtype] * math.prod(weight["shape"])))
            for name, dtype, weight in layout(family)})
        models.append((f"families-{path.stem}", folder))
    return models


def main(arguments):
    arguments.out.mkdir(parents=True, exist_ok=True)
    refused = []
    with tempfile.TemporaryDirectory() as folder:
        for name, model in recorded() + made(pathlib.Path(folder)):
            for view in VIEWS:
                command = [arguments.binary, "inspect", model, f"--{view}", "--text", "--backend", arguments.backend]
                done = subprocess.run(command, capture_output=True, text=True)
                text = f"{done.stdout}{done.stderr}exit status {done.returncode}\n".replace(folder, "FOLDER")
                (arguments.out / f"{name}.{view}.txt").write_text(text)
                if done.returncode:
                    refused.append(f"{name} --{view}: {done.stderr.strip()}")
    if refused:
        print("\n".join(refused), file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("binary")
    parser.add_argument("out", type=pathlib.Path)
    sys.exit(main(parser.parse_args()))
