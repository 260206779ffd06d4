#!/usr/bin/env python3
"""check_size.py [ROOT]: fails when a source file is longer than its ceiling.

Exceptions stand in tools/size_exceptions.txt, one "path: reason" per line; an exception that is no
longer needed is an error too.
"""
import pathlib
import sys

FOLDERS = ("include", "src", "tests", "fuzz", "bench", "examples", "web", "node")
GENERATED = {"node_modules", "dist"}


def ceiling(path):
    if path.parts[:3] == ("src", "model", "arch") and path.suffix == ".cpp":
        return 150
    return {".cpp": 500, ".h": 250, ".js": 300, ".ts": 300}.get(path.suffix)


def read_exceptions(path):
    exceptions = {}
    if path.exists():
        for line in path.read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                name, _, reason = line.partition(":")
                exceptions[name.strip()] = reason.strip()
    return exceptions


def check(root):
    exceptions = read_exceptions(root / "tools" / "size_exceptions.txt")
    errors = [f"tools/size_exceptions.txt: {name} has no reason"
              for name, reason in exceptions.items() if not reason]
    too_long = set()
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root)
            limit = ceiling(name)
            if limit is None or not path.is_file() or GENERATED & set(name.parts):
                continue
            lines = len(path.read_bytes().splitlines())
            if lines <= limit:
                continue
            too_long.add(name.as_posix())
            if name.as_posix() not in exceptions:
                errors.append(f"{name}: {lines} lines, at most {limit} are allowed")
    errors += [f"tools/size_exceptions.txt: {name} is within its ceiling or gone; remove the line"
               for name in exceptions if name not in too_long]
    return errors


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(found) or "size: ok")
    sys.exit(bool(found))
