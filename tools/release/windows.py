"""The folder and the zip for Windows on x86-64, of a build of the preset "windows" and what foreign_libraries.sh built.

tokamak.exe, the DLLs that it needs and Windows lacks, models, licenses. The folder may be moved.
"""

import os
import pathlib
import re
import shutil
import time
import zipfile

import elf
import sbom
import stage

TOOLS = "x86_64-w64-mingw32-"
# DLLs that every Windows 10 has.
OF_THE_SYSTEM = {"advapi32.dll", "bcrypt.dll", "crypt32.dll", "kernel32.dll", "msvcrt.dll", "mswsock.dll", "psapi.dll", "shell32.dll",
                 "shlwapi.dll", "user32.dll", "ws2_32.dll"}
# Compiled in: headers and the libraries of C++, C and threads, of these packages of Debian.
INSIDE = ("libboost-dev", "gcc-mingw-w64-x86-64-posix-runtime", "mingw-w64-x86-64-dev")


def imports(path):
    """-> the names of the DLLs that a program or DLL needs, in small letters."""
    return {name.lower() for name in re.findall(r"DLL Name: (\S+)", elf.run(TOOLS + "objdump", "-p", str(path)))}


def lay_out(folder, build, libraries, target, version):
    """Makes the folder anew."""
    shutil.rmtree(folder, ignore_errors=True)
    installed = folder.with_name(folder.name + "-installed")
    shutil.rmtree(installed, ignore_errors=True)
    elf.run("cmake", "--install", str(build), "--prefix", str(installed), "--component", "runtime")
    folder.mkdir(parents=True)
    shutil.move(installed / "bin" / "tokamak.exe", folder)
    shutil.move(installed / "share" / "tokamak" / "models", folder)
    for name in ("LICENSE", "README.md"):
        shutil.copy(target.root / name, folder)
    shutil.rmtree(installed)
    bring_libraries(folder, libraries)
    for path in [*folder.glob("*.exe"), *folder.glob("*.dll")]:
        elf.run(TOOLS + "strip", "--strip-unneeded", str(path))
    write_licences(folder, libraries, target, version)
    check(folder, [target.root, build.resolve(), libraries.resolve(), pathlib.Path.home()])


def bring_libraries(folder, libraries):
    """Copies the DLLs that the program needs, and those that they need."""
    waiting = [folder / "tokamak.exe"]
    while waiting:
        for name in imports(waiting.pop()) - OF_THE_SYSTEM:
            source, copy = libraries / "bin" / name, folder / name
            if copy.exists():
                continue
            if not source.exists():
                raise stage.Problem(f"{name} is neither of Windows nor among what tools/release/foreign_libraries.sh builds.")
            shutil.copy(source, copy)
            waiting.append(copy)


def write_licences(folder, libraries, target, version):
    """Names the version of everything inside and copies its licence."""
    licences = folder / "licenses"
    licences.mkdir()
    lines = [tuple(line.split()) for line in (libraries / "versions.txt").read_text(encoding="utf-8").splitlines()]
    for _, source, _ in lines:
        shutil.copy(libraries / "licenses" / f"{source}.txt", licences)
    for package in INSIDE:
        name, package_version = target.installed(package)
        lines.append(("tokamak.exe", name, package_version))
        shutil.copy(target.copyright_of(package), licences / f"{name}.txt")
    sbom.write(folder, folder.name, version, lines)


def check(folder, own_paths):
    """Raises Problem unless the folder has all that it needs and nothing of the machine that built it."""
    binaries = [*folder.glob("*.exe"), *folder.glob("*.dll")]
    there = {path.name.lower() for path in binaries} | OF_THE_SYSTEM
    for path in binaries:
        missing = imports(path) - there
        if missing:
            raise stage.Problem(f"{path.name} needs {', '.join(sorted(missing))}, which neither the folder nor Windows has.")
        if "pei-x86-64" not in elf.run(TOOLS + "objdump", "-f", str(path)):
            raise stage.Problem(f"{path.name} is not for Windows on x86-64.")
    stage.refuse_paths(folder, own_paths)


def pack(folder):
    """NAME.zip, which unpacks to a folder of that name."""
    path = folder.with_name(folder.name + ".zip")
    moment = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]  # a zip's first year is 1980
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in sorted(filter(pathlib.Path.is_file, folder.rglob("*"))):
            entry = zipfile.ZipInfo(str(file.relative_to(folder.parent)), moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, file.read_bytes())
    return path
