"""The headers of programs and libraries: read by binutils, changed by patchelf."""

import re
import subprocess


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def machine(path):
    """-> as readelf names it, such as "Advanced Micro Devices X86-64"."""
    return re.search(r"Machine:\s+(.*)", run("readelf", "-hW", path)).group(1).strip()


def dynamic(path, tag):
    """-> the names of a tag of the dynamic section: NEEDED, SONAME, RUNPATH, RPATH."""
    return re.findall(rf"\({tag}\)[^\[]*\[(.*)\]", run("readelf", "-dW", path))


def newest_version(path, family):
    """-> the newest version of a family, such as "GLIBC", that the file asks for, as a tuple; () for none."""
    found = re.findall(rf"Name: {family}_([0-9.]+)", run("readelf", "-VW", path).partition("version needs")[2])
    return max((tuple(map(int, version.split("."))) for version in found), default=())


def patch(path, *, soname=None, needed=(), runpath=None):
    """Changes the file in place; `needed` are pairs of old and new names. patchelf 0.14 confuses two changes at once."""
    changes = [("--replace-needed", old, new) for old, new in needed]
    if soname:
        changes.append(("--set-soname", soname))
    if runpath is not None:
        changes.append(("--set-rpath", runpath))
    for change in changes:
        run("patchelf", *change, str(path))
