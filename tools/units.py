#!/usr/bin/env python3
"""units.py ROOT: which sources are compiled together, as lines of CMake.

Most of a compile is reading headers, so that up to sixteen sources of a folder are one unit, or of it and the small ones in it. The sources of a unit share
what an unnamed namespace hides from other files; two of them stay apart where that could change the meaning of either:
where both give something one name, or one calls or names what the other has hidden. CMake reads the result
(cmake/TokamakUnits.cmake); docs/decisions/0080-units.md has the measurements.
"""
import collections
import pathlib
import re
import sys

MOST_FILES = 16
FOLDER_FILES = 30  # a folder of fewer shares units with the one above
MOST_LINES = 4800
FOLDERS = ("src", "tests", "node")

COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
TEMPLATE = re.compile(r"^template <[^\n]*>\s*(?:requires[^\n]*\n)?", re.M)
TYPE = re.compile(r"^(?:struct|class|union|enum class|enum) (\w+)")
ALIAS = re.compile(r"^(?:using|namespace) (\w+) =")
DECLARATOR = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$")
TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+), *(\w+)")
NO_NAME = re.compile(r"^(?:static_assert|INSTANTIATE_|GTEST_|using namespace)")
ENUMERATORS = re.compile(r"^enum(?! class)[^;{]*\{([^}]*)\}", re.M)
FURTHER = re.compile(r", (\w+)(?= = |\{|\[|;|, |$)")
OPENING = re.compile(r"^namespace(?: [\w:]+)? \{")
LEAKING = re.compile(r"^using namespace [^;]+;|^#define (\w+)", re.M)


def hidden_names(code):
    """What a source's unnamed namespaces hold, its static functions, and aliases: {name: an alias's text, or None}."""
    names, spaces, depth = {}, [], 0  # spaces: for each open namespace, whether it is or is in an unnamed one
    for line in code.splitlines():
        if depth == len(spaces) and OPENING.match(line):
            spaces.append(line.startswith("namespace {") or any(spaces))
        elif depth == len(spaces) and (match := ALIAS.match(line)):
            names[match[1]] = line
        elif depth == len(spaces) and line[:1].isalpha() and (any(spaces) or line.startswith("static ")):
            names.update(dict.fromkeys(declared(line)))
        depth += line.count("{") - line.count("}")
        del spaces[max(depth, 0):]
    return names


def declared(line):
    """The names that a line at the left edge declares."""
    if match := TEST.match(line):
        return [f"{match[1]}_{match[2]}_Test"]
    if NO_NAME.match(line):
        return []
    if match := TYPE.match(line):
        return [match[1]]
    head = re.split(r"[=;{]", line, maxsplit=1)[0].rstrip()
    further, depth = FURTHER.findall(line), 0
    for at, letter in enumerate(head):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "(" and depth <= 0:
            head, further = head[:at], []  # a function
            break
    match = DECLARATOR.search(head)
    return [match[1], *further] if match else further


class Source:
    def __init__(self, path):
        text = path.read_text()
        self.lines = text.count("\n")
        code = COMMENT_OR_TEXT.sub(lambda match: '""' if match[0][0] in "\"'R" else "", text)
        undone = set(re.findall(r"^#undef (\w+)", code, re.M))
        self.leaks = tuple(sorted(m[0] for m in LEAKING.finditer(code) if m[1] is None or m[1] not in undone))
        self.hidden = hidden_names(TEMPLATE.sub("", code))
        for enumerators in ENUMERATORS.findall(code):
            self.hidden.update(dict.fromkeys(re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", enumerators.strip())))
        self.used = set(re.findall(r"(?<![\w.:>])\w+", code))

    def takes_from(self, other):
        """Whether a name that the other one hides is also defined or used here, but for the same alias in both."""
        return any((name in self.hidden or name in self.used) and (alias is None or self.hidden.get(name) != alias)
                   for name, alias in other.hidden.items())


def units_of(sources):
    """The units of one folder, the first fitting one for each source: lists of (name, Source)."""
    units = []
    for name, source in sources:
        for unit in units:
            if (len(unit) < MOST_FILES and sum(s.lines for _, s in unit) + source.lines <= MOST_LINES
                    and not any(source.takes_from(s) or s.takes_from(source) for _, s in unit)):
                unit.append((name, source))
                break
        else:
            units.append([(name, source)])
    return units


def home_of(path, files):
    """The folder whose units hold a source: its own, or one above with those of other small folders of the layer."""
    home = path.parent
    while len(home.parts) > 2 and files[home] < FOLDER_FILES:
        home = home.parent
    return home


def all_units(root):
    """Each source of a tree with the name of its unit, which is one of its kind below the folder."""
    paths = sorted(path.relative_to(root) for folder in FOLDERS for path in (root / folder).rglob("*.cpp"))
    files = collections.Counter(path.parent for path in paths)
    groups = collections.defaultdict(list)
    for path in paths:
        source = Source(root / path)
        groups[home_of(path, files), path.stem.endswith("_test"), source.leaks].append((path, source))
    count = collections.Counter()
    for (home, test, _), sources in sorted(groups.items()):
        for unit in units_of(sources):
            count[home, test] += 1
            for path, _ in unit:
                yield path, f"{home.name}{'_test' if test else ''}_{count[home, test]}"


def main():
    for path, unit in all_units(pathlib.Path(sys.argv[1])):
        print(f"set(unit_of_{path} {unit})")


if __name__ == "__main__":
    main()
