#!/usr/bin/env python3
"""Loads and encodes with Tokamak and with Hugging Face's library, turn by turn on the same files.

examples:
  bench/compare_tokenizers.py build/release                         both shapes, 5 turns each
  bench/compare_tokenizers.py build/release --shape gemma3 --turns 9

The files are made by bench/large_tokenizer.py. The library is the npm package "tokenizers", which
npm fetches into TOKAMAK_CACHE_DIR (~/.cache/tokamak); node runs it. Times are processor seconds,
medians over the turns. Ends with an error when the two do not give the same ids.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import large_tokenizer

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE, VERSION = "tokenizers", "0.23.2"
INTEGRITY = ("sha512-OS99VXTXuGuyUncICcS0hEawgKQlrFVKNU+UlzRsTN03RpOeJiCmcai5nKg3JrdI"
             "vUDo7/RC5puVEjlJd2e5oA==")


def fail(message):
    sys.exit(f"error: {message}")


def cache_folder():
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("TOKAMAK_CACHE_DIR") or pathlib.Path(home) / "tokamak")


def fetch_library():
    """The folder of the unpacked package."""
    folder = cache_folder() / "npm" / f"{PACKAGE}-{VERSION}"
    if not (folder / "package" / "package.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        print(f"Fetching {PACKAGE} {VERSION} from the npm registry", file=sys.stderr)
        packed = subprocess.run(["npm", "pack", "--json", f"{PACKAGE}@{VERSION}"], cwd=folder,
                                capture_output=True, text=True)
        if packed.returncode != 0:
            fail(f"npm could not fetch {PACKAGE} {VERSION}; is the network there?")
        archive = json.loads(packed.stdout)[0]
        if archive["integrity"] != INTEGRITY:
            fail(f"{PACKAGE} {VERSION} is {archive['integrity']}; expected {INTEGRITY}")
        subprocess.run(["tar", "-xzf", archive["filename"]], cwd=folder, check=True)
        (folder / archive["filename"]).unlink()
    return folder / "package"


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"{command[0]} failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def compare(shape, programs, folder, turns):
    large_tokenizer.write(shape, folder, 500_000)
    results = {name: [] for name in programs}
    for _ in range(turns):
        for name, command in programs.items():
            results[name].append(run([*command, folder, 1]))
    answers = {(result["ids"], result["hash"]) for all_ in results.values() for result in all_}
    if len(answers) != 1:
        fail(f"{shape}: the ids differ: {sorted(answers)}")
    megabytes = results["tokamak"][0]["bytes"] / 1e6
    medians = {}
    for name, all_ in results.items():
        load = statistics.median(result["load"][0] for result in all_)
        encode = statistics.median(result["encode"][0] for result in all_)
        medians[name] = load, encode
        print(f"| {shape} | {name} | {load:.3f} s | {megabytes / encode:.1f} MB/s |")
    ours, theirs = medians["tokamak"], medians["tokenizers"]
    print(f"| {shape} | ratio | {theirs[0] / ours[0]:.1f} x | {theirs[1] / ours[1]:.1f} x |",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="folder that CMake built")
    parser.add_argument("--shape", choices=large_tokenizer.SHAPES, action="append")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    program = options.build / "bin" / "bench_tokenizer"
    if not program.exists():
        fail(f"{program} is missing; build the target bench_tokenizer")
    library = fetch_library()
    programs = {"tokamak": [program],
                "tokenizers": ["node", HERE / "huggingface_tokenizers.js", library]}
    print("| shape | library | load | encode |\n| --- | --- | --- | --- |")
    for shape in options.shape or large_tokenizer.SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            compare(shape, programs, pathlib.Path(folder), options.turns)


if __name__ == "__main__":
    main()
