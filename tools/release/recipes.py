#!/usr/bin/env python3
"""Fills the recipes of package managers, packaging/recipes/*/*.in, with the facts of a release.

usage: recipes.py PACKAGES [OUT]

PACKAGES has what ./dev release made; OUT is PACKAGES/recipes where it is not given. The version and the description are those
of CMakeLists.txt, the licence is that of python/pyproject.toml, checksums are the files' own, and packaging/recipes/facts.json
has the rest: TOKAMAK_HOMEPAGE and TOKAMAK_DOWNLOADS go before it. This file alone knows what the libraries of
cmake/TokamakDependencies.cmake are called elsewhere.
"""

import hashlib
import json
import os
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPES = ROOT / "packaging" / "recipes"
ARCHIVES = {"SOURCE": "tokamak-{}-source.tar.xz", "LINUX_X86_64": "tokamak-{}-linux-x86_64.tar.xz",
            "LINUX_AARCH64": "tokamak-{}-linux-aarch64.tar.xz", "MACOS_ARM64": "tokamak-{}-macos-arm64.tar.xz"}
# The libraries that are needed without the apps and tests: CMake's name -> vcpkg's name, Conan's reference.
LIBRARIES = {
    "fmt": ("fmt", "fmt/[>=9]"),
    "libpcre2-8": ("pcre2", "pcre2/[>=10.42]"),
    "libutf8proc": ("utf8proc", "utf8proc/[>=2.8]"),
    "libhwy": ("highway", "highway/[>=1.0.3]"),
    "spng": ("libspng", "libspng/[>=0.7.3]"),
    "libturbojpeg": ("libjpeg-turbo", "libjpeg-turbo/[>=2.1.5]"),
    "libwebp": ("libwebp", "libwebp/[>=1.2.4]"),
    "sndfile": ("libsndfile", "libsndfile/[>=1.1]"),
    "libmpg123": ("mpg123", "mpg123/[>=1.26]"),
    "soxr": ("soxr", "soxr/[>=0.1.3]"),
    "yaml-0.1": ("libyaml", "libyaml/[>=0.2.5]"),
    "zlib": ("zlib", "zlib/[>=1.2.13]"),
    "libcurl": ("curl", "libcurl/[>=7.85]"),
    "libcrypto": ("openssl", "openssl/[>=3]"),
}


def asked_for():
    """-> the libraries that CMake asks for where it builds neither apps nor tests."""
    text = (ROOT / "cmake" / "TokamakDependencies.cmake").read_text(encoding="utf-8")
    always = re.search(r"find_package\(Threads REQUIRED\)(.*?)\n  if\(TOKAMAK_APPS\)", text, re.DOTALL).group(1)
    found = re.findall(r"pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET ([^\s>)]+)", always)
    return found + [name.lower() for name in re.findall(r"find_package\((\w+) REQUIRED\)", always) if name != "PkgConfig"]


def project():
    """-> version, description and licence."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r'project\(tokamak VERSION (\S+).*?DESCRIPTION "([^"]+)"', text, re.DOTALL)
    with open(ROOT / "python" / "pyproject.toml", "rb") as file:
        licence = tomllib.load(file)["project"]["license"]["text"]
    return {"VERSION": found.group(1), "DESCRIPTION": found.group(2), "LICENSE": licence}


def facts_of(packages):
    """-> the value of each @NAME@ that a recipe may have."""
    facts = project()
    for name, value in json.loads((RECIPES / "facts.json").read_text(encoding="utf-8")).items():
        given = os.environ.get(f"TOKAMAK_{name.upper()}", value)
        facts[name.upper()] = given.replace("@VERSION@", facts["VERSION"]).rstrip("/")
    for name, pattern in ARCHIVES.items():
        facts[name] = pattern.format(facts["VERSION"])
        data = (packages / facts[name]).read_bytes()
        facts[name + "_SHA256"] = hashlib.sha256(data).hexdigest()
        facts[name + "_SHA512"] = hashlib.sha512(data).hexdigest()
    return facts


def dependencies(recipe):
    """-> the lines of @DEPENDENCIES@, in the form of that recipe."""
    if recipe.startswith("vcpkg"):
        return ",\n".join(f'    "{name}"' for name in sorted(vcpkg for vcpkg, _ in LIBRARIES.values())) + ","
    return "\n".join(f'            "{reference}",' for reference in sorted(conan for _, conan in LIBRARIES.values()))


def fill(packages, out):
    """Writes each recipe; a name without a value ends it."""
    facts = facts_of(packages)
    for template in sorted(RECIPES.rglob("*.in")):
        name = template.relative_to(RECIPES).with_suffix("")
        text = template.read_text(encoding="utf-8").replace("@DEPENDENCIES@", dependencies(str(name)))
        text = re.sub(r"@([A-Z][A-Z0-9_]+)@", lambda found: facts[found.group(1)], text)
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    try:
        fill(folder, pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else folder / "recipes")
    except FileNotFoundError as missing:
        sys.exit(f"error: {missing.filename} is missing; ./dev release makes it.")
