#!/usr/bin/env python3
"""Makes packages of a portable build; ./dev package calls it, after the build and tools/release/libraries.sh.

usage: package.py BUILD LIBRARIES OUT VERSION [FORMAT...]    (folder tar wheel deb; all)
"""

import os
import pathlib
import subprocess
import sys

import archives
import stage

FORMATS = {"tar": archives.tar, "wheel": archives.wheel, "deb": archives.deb}


def main(build, libraries, out, version, *formats):
    root = pathlib.Path(__file__).resolve().parents[2]
    target = stage.Target(root, "x86_64")
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    # Archives made twice of one commit are the same, byte for byte.
    commit = subprocess.run(["git", "-C", str(root), "log", "-1", "--format=%ct"], stdout=subprocess.PIPE,
                            text=True, check=False).stdout.strip()
    os.environ.setdefault("SOURCE_DATE_EPOCH", commit or "0")
    folder = out / f"tokamak-{version}-linux-{target.architecture}"
    stage.Stage(folder, build, libraries, target).make()
    made = [FORMATS[name](folder, version, target) for name in formats or FORMATS if name != "folder"]
    archives.write_sums(out)
    for path in made:
        print(f"{path.stat().st_size / 1e6:7.1f} MB  {path}")


if __name__ == "__main__":
    if len(sys.argv) < 5 or not set(sys.argv[5:]) <= {*FORMATS, "folder"}:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except stage.Problem as problem:
        sys.exit(f"error: {problem}")
    except subprocess.CalledProcessError as problem:
        sys.exit(f"error: {' '.join(map(str, problem.cmd))} ended with {problem.returncode}.")
