#!/usr/bin/env python3
"""Makes packages of a portable build; ./dev package calls it, after the build and tools/release/libraries.sh.

usage: package.py ARCHITECTURE SYSROOT BUILD LIBRARIES OUT VERSION [FORMAT...]

ARCHITECTURE is x86_64, with SYSROOT /, or aarch64, with the folder of tools/dev/fetch_sysroot.sh; FORMAT is folder, tar,
wheel, deb or npm, all where none is given. ARCHITECTURE may be windows-x86_64, with SYSROOT / and what
tools/release/foreign_libraries.sh built; FORMAT is folder or zip then. It may be macos-arm64, with the folder of
tools/release/macos_sysroot.sh; FORMAT is folder or tar then.
"""

import os
import pathlib
import subprocess
import sys

import archives
import macos
import stage
import windows

FORMATS = {"tar": archives.tar, "wheel": archives.wheel, "deb": archives.deb, "npm": archives.npm}


def main(architecture, sysroot, build, libraries, out, version, *formats):
    root = pathlib.Path(__file__).resolve().parents[2]
    system, _, processor = architecture.rpartition("-")
    target = stage.Target(root, {"arm64": "aarch64"}.get(processor, processor), "/" if system else sysroot)
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    # Archives made twice of one commit are the same, byte for byte.
    commit = subprocess.run(["git", "-C", str(root), "log", "-1", "--format=%ct"], stdout=subprocess.PIPE,
                            text=True, check=False).stdout.strip()
    os.environ.setdefault("SOURCE_DATE_EPOCH", commit or "0")
    made = []
    folder = out / f"tokamak-{version}-{system or 'linux'}-{processor}"
    if system == "windows":
        windows.lay_out(folder, pathlib.Path(build), pathlib.Path(libraries), target, version)
        if "zip" in (formats or ("zip",)):
            made.append(windows.pack(folder))
    elif system == "macos":
        macos.lay_out(folder, pathlib.Path(build), pathlib.Path(libraries), pathlib.Path(sysroot), target, version)
        if "tar" in (formats or ("tar",)):
            made.append(archives.tar(folder, version, target))
    else:
        stage.Stage(folder, build, libraries, target, version).make()
        for name in formats or FORMATS:
            if name != "folder":
                paths = FORMATS[name](folder, version, target)
                made += paths if isinstance(paths, list) else [paths]
    archives.write_sums(out)
    for path in made:
        print(f"{path.stat().st_size / 1e6:7.1f} MB  {path}")


if __name__ == "__main__":
    known = {"windows": {"zip"}, "macos": {"tar"}}.get("".join(sys.argv[1:2]).partition("-")[0], set(FORMATS)) | {"folder"}
    if len(sys.argv) < 7 or not set(sys.argv[7:]) <= known:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except stage.Problem as problem:
        sys.exit(f"error: {problem}")
    except subprocess.CalledProcessError as problem:
        sys.exit(f"error: {' '.join(map(str, problem.cmd))} ended with {problem.returncode}.")
