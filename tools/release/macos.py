"""The folder for macOS on arm64, of a build of the preset "macos" and what foreign_libraries.sh built.

bin/tokamak, lib/tokamak with the libraries that may be replaced, share, and the script that is to be run first. The folder may
be moved. Nothing here is changed after the linker wrote it: its signature would be wrong.
"""

import pathlib
import re
import shutil

import elf
import macho
import sbom
import stage

OLDEST = (13, 0)  # as cmake/arm64-macos.cmake
OF_THE_SYSTEM = ("/usr/lib/", "/System/Library/Frameworks/")
OWN = "@rpath/"
HEADERS = ("libboost-dev",)  # compiled in


def lay_out(folder, build, libraries, sysroot, target, version):
    """Makes the folder anew."""
    shutil.rmtree(folder, ignore_errors=True)
    elf.run("cmake", "--install", str(build), "--prefix", str(folder), "--component", "runtime")
    shutil.rmtree(folder / "include", ignore_errors=True)  # of the C interface, which is not in here
    own = folder / "lib" / "tokamak"
    own.mkdir(parents=True, exist_ok=True)
    waiting = [folder / "bin" / "tokamak"]
    while waiting:
        for name in filter(lambda name: name.startswith(OWN), macho.needed(waiting.pop())):
            copy = own / name.removeprefix(OWN)
            if not copy.exists():
                shutil.copy((libraries / "lib" / copy.name).resolve(), copy)
                copy.chmod(0o644)
                waiting.append(copy)
    shutil.copy(target.root / "packaging" / "macos" / "first_run.sh", folder)
    write_licences(folder, libraries, sysroot, target, version)
    check(folder, [target.root, build.resolve(), libraries.resolve(), pathlib.Path.home()])


def write_licences(folder, libraries, sysroot, target, version):
    """Names the version of everything inside and copies its licence."""
    docs = folder / "share" / "doc" / "tokamak"
    licences = docs / "licenses"
    licences.mkdir(parents=True)
    lines = [tuple(line.split()) for line in (libraries / "versions.txt").read_text(encoding="utf-8").splitlines()]
    for _, source, _ in lines:
        shutil.copy(libraries / "licenses" / f"{source}.txt", licences)
    name, number = (sysroot / "versions.txt").read_text(encoding="utf-8").split()
    lines.append(("tokamak", name, number))
    shutil.copy(sysroot / "licenses" / "llvm.txt", licences / f"{name}.txt")
    for package in HEADERS:
        name, number = target.installed(package)
        lines.append(("tokamak", name, number))
        shutil.copy(target.copyright_of(package), licences / f"{name}.txt")
    dawn = re.search(r"set\(_dawn_header_package (\S+) (\S+)", (target.root / "cmake" / "Dawn.cmake").read_text(encoding="utf-8"))
    lines.append(("tokamak", "dawn", f"{dawn.group(1)}-{dawn.group(2)}"))
    sbom.write(docs, folder.name, version, lines)


def check(folder, own_paths):
    """Raises Problem unless the folder has all that it needs, as macOS wants it, and nothing of the machine that built it."""
    binaries = [path for path in sorted(folder.rglob("*")) if path.is_file() and macho.is_macho(path)]
    there = {path.name for path in binaries}
    if "tokamak" not in there:
        raise stage.Problem("bin/tokamak is no program for macOS on arm64.")
    for path in binaries:
        where = path.relative_to(folder)
        for name in macho.needed(path):
            if not name.startswith(OF_THE_SYSTEM) and name.removeprefix(OWN) not in there:
                raise stage.Problem(f"{where} needs {name}, which neither the folder nor macOS has.")
        if macho.oldest_system(path) > OLDEST:
            raise stage.Problem(f"{where} needs macOS {'.'.join(map(str, macho.oldest_system(path)))}; "
                                f"{'.'.join(map(str, OLDEST))} is wanted.")
        if not macho.is_signed(path):
            raise stage.Problem(f"{where} has no signature, or one that does not fit: macOS would end it at once.")
    stage.refuse_paths(folder, own_paths)
