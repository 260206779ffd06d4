#!/usr/bin/env python3
"""check_layers.py [ROOT]: fails when a file in src/ includes what src/LAYERS does not allow.

A folder includes itself and the folders its line names, with all that is in them; a line names folders of
lines above it. Where folders in a folder have lines of their own (protocol/chat), all have, and theirs count, but
for tests, which see what any part of the whole sees. backend/<kind> includes no other backend/<kind>; and the headers
of a device stay in the folders of that device, those of an operating system in src/base/system, but for tests
and the files of tools/system_sources.txt. Headers of two folders do not define types
of one name: the linker would take the functions of one for those of the other, without a word.
"""
import collections
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}
# Header pattern -> the folders (below src/) that may include it.
DEVICE_HEADERS = [
    (re.compile(r"^(dawn/.*|webgpu/.*|webgpu\.h)$"), ("backend/webgpu", "apps/web")),
    (re.compile(r"^(cuda.*|nvrtc|cublas.*)\.h$"), ("backend/cuda",)),
    (re.compile(r"^vulkan/"), ()),
]
# Headers and functions of an operating system -> the header of base/system that has what they are for.
SYSTEM_HEADERS = [
    (re.compile(r"^(dlfcn|link|elf)\.h$"), "dynamic_library.h"),
    (re.compile(r"^sys/(mman)\.h$"), "mapped_file.h"),
    (re.compile(r"^sys/file\.h$"), "file_lock.h"),
    (re.compile(r"^(termios|langinfo)\.h$|^sys/(ioctl|termios)\.h$"), "terminal.h"),
    (re.compile(r"^(signal|sys/signal)\.h$"), "signals.h"),
    (re.compile(r"^(sched|spawn)\.h$|^sys/(resource|sysinfo|times|utsname|wait|syscall)\.h$"), "machine.h"),
    (re.compile(r"^pwd\.h$"), "folders.h"),
    (re.compile(r"^time\.h$|^sys/time\.h$"), "calendar.h"),
    (re.compile(r"^(fcntl|unistd|poll|dirent|ftw|glob|fnmatch|utime|libgen)\.h$|^sys/.*\.h$|^linux/.*|^mach/.*|^mach-o/.*"
                r"|^(windows|winsock2|io|direct|shlobj|psapi)\.h$"), "file.h and its neighbours"),
]
SYSTEM_FUNCTIONS = [
    (re.compile(r"\b(gmtime_r|localtime_r|gmtime_s|localtime_s|timegm)\("), "calendar.h"),
    (re.compile(r"\b(sigaction)\b"), "signals.h"),
    (re.compile(r"\b(isatty|fileno)\("), "terminal.h"),
]


def read_layers(path):
    layers = {}
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            folder, uses = line.split(":")
            layers[folder.strip()] = set(uses.split()) | {folder.strip()}
    return layers


def room_of(layers, folder):
    """The folder of src/LAYERS that `folder` is, or is in; "" where there is none."""
    while folder and folder not in layers:
        folder = folder.rpartition("/")[0]
    return folder


def is_within(folder, other):
    return folder == other or folder.startswith(other + "/")


def is_listed(layers, folder):
    """Whether src/LAYERS has `folder`, or one that it is in and that is not divided."""
    room = room_of(layers, folder)
    return folder == room or bool(room) and not any(other.startswith(room + "/") for other in layers)


def check_lines(layers):
    """Problems of the lines as sentences: what is named must stand above, so that includes go one way."""
    above = []
    for folder, uses in layers.items():
        for use in sorted(uses - {folder}):
            if not any(is_within(other, use) for other in above):
                yield f"src/LAYERS: {folder} names {use}, which is not above it"
        above.append(folder)


def uses_of_tests(layers, folder):
    """What a test in `folder` may include: all that any part of the whole folder of src/ may."""
    whole = folder.split("/")[0]
    return {whole}.union(*(uses for other, uses in layers.items() if is_within(other, whole)))


def may_include(uses, room, other):
    """Whether one of `uses` is `other` or a folder that it is in. Where `room` is in a folder that it names, the folder's
    own files are meant, not those of its parts."""
    found = other
    while found and found not in uses:
        found = found.rpartition("/")[0]
    return bool(found) and (found == other or not is_within(room, found))


def check_include(layers, folder, target, quoted, is_test=False):
    """What is wrong with a file in `folder` (below src/) that includes `target`, or None."""
    here = folder.split("/")
    parts = target.split("/")
    if quoted and ".." in parts:
        return f'"{target}" is relative; includes start at src/'
    for pattern, homes in DEVICE_HEADERS:
        if pattern.match(target) and not any((folder + "/").startswith(h + "/") for h in homes):
            allowed = " and ".join(homes) or "no folder"
            return f"{target} is a device header; only {allowed} may include it"
    if not quoted or len(parts) == 1:
        return None
    room, other = room_of(layers, folder), room_of(layers, target.rpartition("/")[0])
    allowed = may_include(uses_of_tests(layers, folder), "", other) if is_test else may_include(layers[room], room, other)
    if other and not allowed:
        return f"{room} may not include {other}"
    if here[0] == parts[0] == "backend" and len(here) > 1 and len(parts) > 2 and here[1] != parts[1]:
        return f"backend/{here[1]} may not include backend/{parts[1]}"
    return None


def check_system(folder, name, line, target, exempt):
    """The fault of a line of a file in `folder` that includes `target` or calls the system, or None."""
    if folder == "base/system" or name.endswith(("_test.cpp", "_test.h")) or exempt:
        return None
    for pattern, home in SYSTEM_HEADERS:
        if target and pattern.match(target):
            return f"{target} is of one operating system; base/system/{home} is for all"
    for pattern, home in SYSTEM_FUNCTIONS:
        if match := pattern.search(line):
            return f"{match[1]}() is of one operating system; base/system/{home} is for all"
    return None


def read_exempt(path):
    """The files that tools/system_sources.txt names, with their reasons."""
    lines = path.read_text().splitlines() if path.exists() else []
    pairs = [line.partition(":") for line in lines if line.strip() and line[0] != "#"]
    return {name.strip(): reason.strip() for name, _, reason in pairs}


def check_exempt(root, exempt):
    """Problems of the list itself as sentences."""
    for name, reason in exempt.items():
        path = root / name
        text = path.read_text() if path.exists() else ""
        includes = [match[2] for line in text.splitlines() if (match := INCLUDE.match(line)) and match[2]]
        if not any(check_system("", "", "", target, False) for target in includes):
            yield f"tools/system_sources.txt: {name} includes no header of a system; remove the line"
        if not reason:
            yield f"tools/system_sources.txt: {name} has no reason"


NAMESPACE = re.compile(r"^namespace ([\w:]+) \{|^\}  // namespace")
TYPE = re.compile(r"^(?:class|struct) ([A-Z]\w*)(?: final)?(?: : .*)? \{")


def types_of(text):
    """The names of the types that a header defines, with their namespaces."""
    inside, names = [], []
    for line in text.splitlines():
        if match := NAMESPACE.match(line):
            inside = [*inside, match[1]] if match[1] else inside[:-1]
        elif match := TYPE.match(line):
            names.append("::".join([*inside, match[1]]))
    return names


def check_names(root):
    places = collections.defaultdict(list)
    for path in sorted((root / "src").rglob("*.h")):
        for name in types_of(path.read_text()):
            places[name].append(path.relative_to(root).as_posix())
    return [f"{found[1]}: {name} is the name of another type, of {found[0]}; give one of them another"
            for name, found in places.items() if len(found) > 1]


def check(root):
    src = root / "src"
    layers = read_layers(src / "LAYERS")
    exempt = read_exempt(root / "tools" / "system_sources.txt")
    errors = [*check_lines(layers), *check_exempt(root, exempt)]
    for path in sorted(p for p in src.rglob("*") if p.suffix in SUFFIXES):
        where = path.relative_to(root)
        folder = path.parent.relative_to(src).as_posix()
        if not is_listed(layers, folder):
            errors.append(f"{where}: folder \"{folder}\" is not in src/LAYERS")
            continue
        is_test = path.stem.endswith("_test")
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            target = match and (match[1] or match[2])
            for problem in (match and check_include(layers, folder, target, bool(match[1]), is_test),
                            check_system(folder, path.name, line, target, where.as_posix() in exempt)):
                if not problem:
                    continue
                errors.append(f"{where}:{number}: {problem}")
    return errors + check_names(root)


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(found) or "layers: ok")
    sys.exit(bool(found))
