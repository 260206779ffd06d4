#!/usr/bin/env python3
"""Makes packages of a portable build; ./dev package calls it, after the build and tools/release/libraries.sh.

usage: package.py ARCHITECTURE SYSROOT BUILD LIBRARIES OUT VERSION [FORMAT...]

ARCHITECTURE is x86_64, with SYSROOT /, or aarch64, with the folder of tools/dev/fetch_sysroot.sh; FORMAT is folder, tar,
wheel, deb or npm, all where none is given.
"""

import os
import pathlib
import subprocess
import sys

import archives
import stage

FORMATS = {"tar": archives.tar, "wheel": archives.wheel, "deb": archives.deb, "npm": archives.npm}


def main(architecture, sysroot, build, libraries, out, version, *formats):
    root = pathlib.Path(__file__).resolve().parents[2]
    target = stage.Target(root, architecture, sysroot)
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    # Archives made twice of one commit are the same, byte for byte.
    commit = subprocess.run(["git", "-C", str(root), "log", "-1", "--format=%ct"], stdout=subprocess.PIPE,
                            text=True, check=False).stdout.strip()
    os.environ.setdefault("SOURCE_DATE_EPOCH", commit or "0")
    folder = out / f"tokamak-{version}-linux-{target.architecture}"
    stage.Stage(folder, build, libraries, target, version).make()
    made = []
    for name in formats or FORMATS:
        if name != "folder":
            paths = FORMATS[name](folder, version, target)
            made += paths if isinstance(paths, list) else [paths]
    archives.write_sums(out)
    for path in made:
        print(f"{path.stat().st_size / 1e6:7.1f} MB  {path}")


if __name__ == "__main__":
    if len(sys.argv) < 7 or not set(sys.argv[7:]) <= {*FORMATS, "folder"}:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except stage.Problem as problem:
        sys.exit(f"error: {problem}")
    except subprocess.CalledProcessError as problem:
        sys.exit(f"error: {' '.join(map(str, problem.cmd))} ended with {problem.returncode}.")
