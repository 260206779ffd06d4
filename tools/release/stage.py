"""Lays the portable folder out: what `cmake --install` gives, and the libraries that a bare system lacks.

bin/tokamak, lib/libtokamak.so.0, lib/tokamak (Dawn, libraries, the addon of Node.js), include, share. Libraries get names of their own, so
that a program which has other versions of them loaded, such as Python, keeps its own and ours keeps ours.
"""

import os
import pathlib
import re
import shutil
import subprocess

import elf
import sbom

# The libraries that every Linux system with this C library has.
OF_THE_SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1",
                 "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
NEWEST_GLIBC = (2, 34)  # Dawn's own
DAWN = "dawn.node"  # is found by its symbol table: neither stripped nor changed
ADDON = "tokamak.node"  # of Node.js
FALLBACK = "fallback/libstdc++.so.6"
HEADERS = ("libboost-dev", "libfmt-dev", "libhwy-dev", "libstdc++-12-dev")  # compiled in


class Problem(Exception):
    """A fault of the folder, for the person who builds it."""


def own_name(soname):
    """libcurl.so.4 -> libcurl-tokamak.so.4"""
    return soname.replace(".so", "-tokamak.so", 1)


def refuse_paths(folder, own_paths):
    """Raises Problem where a file holds a path of the machine that built it."""
    for path in filter(pathlib.Path.is_file, folder.rglob("*")):
        data = path.read_bytes()
        for own in (str(own).encode() + b"/" for own in own_paths if len(str(own)) > 4):
            if own in data:
                at = data.index(own)
                raise Problem(f"{path.relative_to(folder)} holds a path of the machine that built it: {data[at:at + 80]!r}")


class Stage:
    def __init__(self, folder, build, libraries, target, version):
        self.folder, self.build, self.libraries = map(pathlib.Path, (folder, build, libraries))
        self.target, self.version = target, version
        self.own = self.folder / "lib" / "tokamak"
        self.packages = {}  # file -> package of Debian and its version

    def make(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        elf.run("cmake", "--install", str(self.build), "--prefix", str(self.folder), "--component", "runtime")
        programs = [self.folder / "bin" / "tokamak", *(self.folder / "lib").glob("libtokamak.so.*.*"), self.own / ADDON]
        if len(programs) != 3 or not all(path.exists() for path in programs):
            raise Problem(f"{self.build} did not install the program, the library and the addon: {programs}")
        for path in [*programs, self.own / "node_stubs.so"]:
            elf.run(self.target.strip, "--strip-unneeded", str(path))
        self.bring_libraries(programs)
        (self.own / "fallback").mkdir()
        shutil.copy2(self.libraries / "libstdc++.so.6", self.own / FALLBACK)
        elf.run(self.target.strip, "--strip-unneeded", str(self.own / FALLBACK))
        self.write_licences()
        self.check()

    def bring_libraries(self, programs):
        """Copies what the programs need and the system may lack, and what that needs, each under a name of its own."""
        waiting, brought = list(programs), {}
        while waiting:
            for soname in elf.dynamic(waiting.pop(), "NEEDED"):
                if soname in OF_THE_SYSTEM or soname in brought or (self.folder / "lib" / soname).exists():
                    continue
                source = self.find(soname)
                brought[soname] = self.own / own_name(soname)
                shutil.copy(source, brought[soname])
                brought[soname].chmod(0o644)
                elf.run(self.target.strip, "--strip-unneeded", str(brought[soname]))
                waiting.append(brought[soname])
        for path in [*programs, *brought.values()]:
            needed = [(soname, own_name(soname)) for soname in elf.dynamic(path, "NEEDED") if soname in brought]
            to_own = os.path.relpath(self.own, path.parent)
            runpath = "$ORIGIN" if to_own == "." else f"$ORIGIN/{to_own}"
            elf.patch(path, needed=needed, runpath=runpath + ":$ORIGIN/.." if path.name == ADDON else runpath,
                      soname=path.name if path in brought.values() else None)

    def find(self, soname):
        """-> the file of a library: one that we built, or Debian's, whose package is noted."""
        built = self.libraries / soname
        if built.exists():
            return built
        for place in self.target.library_folders:
            path = pathlib.Path(place) / soname
            if path.exists():
                self.packages[soname] = self.target.package_of(path)
                return path
        raise Problem(f"{soname} was not found in {', '.join(map(str, self.target.library_folders))}.")

    def write_licences(self):
        """Names the version of everything inside and copies its licence."""
        docs = self.folder / "share" / "doc" / "tokamak"
        licences = docs / "licenses"
        licences.mkdir(parents=True, exist_ok=True)
        lines = []
        for line in (self.libraries / "versions.txt").read_text(encoding="utf-8").splitlines():
            file, source, version = line.split()
            lines.append((file, source, version))
            shutil.copy(self.libraries / "licenses" / f"{source}.txt", licences)
        packages = {**self.packages, **{f"headers of {name}": self.target.installed(name) for name in HEADERS}}
        for file, (package, version) in packages.items():
            lines.append((file, package, version))
            shutil.copy(self.target.copyright_of(package), licences / f"{package}.txt")
        revision = re.search(r"set\(TOKAMAK_DAWN_VERSION (\w+)\)",
                             (self.target.root / "cmake" / "Dawn.cmake").read_text(encoding="utf-8")).group(1)
        lines.append((DAWN, "dawn", revision))
        sbom.write(docs, self.folder.name, self.version, lines)

    def check(self):
        """Raises Problem unless the folder runs on any system with that C library, wherever it lies."""
        files = [path for path in sorted(self.folder.rglob("*")) if path.is_file() and not path.is_symlink()]
        binaries = [path for path in files if elf.is_elf(path)]
        names = {path.name for path in binaries} | {path.name for path in (self.folder / "lib").iterdir()} | OF_THE_SYSTEM
        for path in binaries:
            where = path.relative_to(self.folder)
            missing = set(elf.dynamic(path, "NEEDED")) - names
            if missing:
                raise Problem(f"{where} needs {', '.join(sorted(missing))}, which neither the folder nor a bare system has.")
            newest = elf.newest_version(path, "GLIBC")
            if newest > NEWEST_GLIBC:
                raise Problem(f"{where} needs glibc {'.'.join(map(str, newest))}; at most "
                              f"{'.'.join(map(str, NEWEST_GLIBC))} is wanted.")
            if elf.machine(path) != self.target.machine:
                raise Problem(f"{where} is for {elf.machine(path)}, not {self.target.machine}.")
            for runpath in elf.dynamic(path, "RUNPATH") + elf.dynamic(path, "RPATH"):
                if path.name != DAWN and not runpath.startswith("$ORIGIN"):
                    raise Problem(f"{where} looks for libraries in {runpath}.")
        refuse_paths(self.folder, [self.target.root, self.build.resolve(), self.libraries.resolve(), pathlib.Path.home()])


class Target:
    """The system that a package is for: where its libraries and the records of its packages are."""

    def __init__(self, root, architecture, sysroot="/"):
        self.root = pathlib.Path(root).resolve()
        self.architecture = architecture
        self.sysroot = pathlib.Path(sysroot).resolve()
        self.is_foreign = self.sysroot != pathlib.Path("/")
        triple = f"{architecture}-linux-gnu"
        self.machine = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}[architecture]
        self.debian = {"x86_64": "amd64", "aarch64": "arm64"}[architecture]
        self.strip = f"{triple}-strip" if self.is_foreign else "strip"
        self.library_folders = [self.sysroot / "usr" / "lib" / triple, self.sysroot / "lib" / triple]

    def package_of(self, path):
        """-> the package that a library is from, and its version."""
        if self.is_foreign:
            owners = dict(line.split() for line in self.record("libraries"))
            for place in (path, path.resolve()):
                if package := owners.get(str(place.relative_to(self.sysroot.resolve()))):
                    return self.installed(package)
        else:
            for place in (path, path.resolve(), pathlib.Path("/" + str(path.resolve()).removeprefix("/usr/"))):
                found = subprocess.run(["dpkg-query", "-S", str(place)], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True, check=False).stdout
                if found:
                    return self.installed(found.partition(":")[0])
        raise Problem(f"No package of Debian has {path}: its licence is unknown.")

    def record(self, name):
        """-> the lines of what tools/dev/fetch_sysroot.sh wrote about the packages that it unpacked."""
        return (self.sysroot / name).read_text(encoding="utf-8").splitlines()

    def installed(self, package):
        if self.is_foreign:
            return package, dict(line.split() for line in self.record("versions"))[package]
        return package, elf.run("dpkg-query", "-W", "-f", "${Version}\n", package).splitlines()[0]

    def copyright_of(self, package):
        return self.sysroot / "usr" / "share" / "doc" / package / "copyright"
