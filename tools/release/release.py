#!/usr/bin/env python3
"""Completes a release, after its packages were made: ./dev release calls it.

usage: release.py PACKAGES VERSION

Into PACKAGES go the sources of the commit, a bill of materials of each system's folder (NAME.spdx.json), the recipes of package
managers, NOTES.md (the CHANGELOG's section of the version, or of what is not released yet) and SHA256SUMS of all that is
downloaded.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import archives
import recipes

# The packages of a release, by the ends of their names; several packages of Python and Node.js are for the same systems.
EXPECTED = ("linux-x86_64.tar.xz", "linux-aarch64.tar.xz", "macos-arm64.tar.xz", "windows-x86_64.zip", "_amd64.deb", "_arm64.deb",
            "manylinux_2_34_x86_64.whl", "manylinux_2_34_aarch64.whl", "linux-x64-{}.tgz", "linux-arm64-{}.tgz", "node-{}.tgz")


class Problem(Exception):
    """What keeps a release from being complete, for the person who makes it."""


def missing(packages, version):
    """-> the ends of names that no package of that version has."""
    names = [path.name for path in packages.iterdir() if version in path.name]
    return [end.format(version) for end in EXPECTED if not any(name.endswith(end.format(version)) for name in names)]


def notes(changelog, version):
    """-> the section of the version, or that of what is not released yet."""
    sections = re.split(r"^(?=## )", changelog, flags=re.MULTILINE)[1:]
    for title in (f"## {version}", "## Unreleased"):
        for section in sections:
            if re.match(re.escape(title) + r"(?![\d.])", section):
                return section.strip() + "\n"
    raise Problem(f"CHANGELOG.md has no section \"{version}\" and none \"Unreleased\".")


def archive_sources(packages, version, root):
    """NAME-source.tar.xz of the commit, the same each time."""
    name = f"tokamak-{version}-source"
    tree = subprocess.run(["git", "-C", str(root), "archive", f"--prefix={name}/", "HEAD"], stdout=subprocess.PIPE, check=False)
    if tree.returncode != 0:
        raise Problem(f"{root} is no clone of the repository: the sources of a release are those of a commit.")
    with open(packages / f"{name}.tar.xz", "wb") as file:
        subprocess.run(["xz", "--threads=1", "-6", "--stdout"], input=tree.stdout, stdout=file, check=True)


def copy_bills(packages, version):
    for bill in packages.glob(f"tokamak-{version}-*/**/sbom.spdx.json"):
        folder = packages / bill.relative_to(packages).parts[0]
        shutil.copy(bill, packages / f"{folder.name}.spdx.json")


def complete(packages, version, root):
    if lacks := missing(packages, version):
        raise Problem(f"{packages} has no package {', '.join(lacks)} of version {version}: ./dev package makes them.")
    (packages / "NOTES.md").write_text(notes((root / "CHANGELOG.md").read_text(encoding="utf-8"), version), encoding="utf-8")
    archive_sources(packages, version, root)
    copy_bills(packages, version)
    shutil.rmtree(packages / "recipes", ignore_errors=True)
    recipes.fill(packages, packages / "recipes")
    archives.write_sums(packages)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        complete(pathlib.Path(sys.argv[1]), sys.argv[2], recipes.ROOT)
    except Problem as problem:
        sys.exit(f"error: {problem}")
