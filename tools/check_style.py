#!/usr/bin/env python3
"""check_style.py [ROOT]: fails on what the house rules forbid and a compiler accepts.

Comments and string literals do not count, except for paths of somebody's machine and words that
docs/words.md replaces, which may stand nowhere. A comment begins with a verb in the third person or a
noun phrase with an article; of that the openings that used to stand in its place are refused. Subjects of
commits read "area: imperative", where the history is there.
"""
import pathlib
import re
import subprocess
import sys

CODE = {".h", ".cpp", ".cu", ".cuh"}
TEXT = CODE | {".py", ".sh", ".md", ".txt", ".cmake", ".json", ".wgsl", ".js", ".mjs", ".ts", ".html", ""}
FOLDERS = ("include", "src", "tests", "fuzz", "bench", "examples", "tools", "docs", "cmake", "python", "web", "node", ".ci")
GENERATED = {"node_modules", "dist"}
CORE = ("base", "formats", "image", "audio", "text", "graph", "model", "fuse", "kernels", "plan", "generate")

# The files around the libraries that throw, and those that make errors of what the standard library throws.
THROWERS = ("src/apps/cli/main.cpp", "src/base/guarded.h", "src/base/guarded.cpp",
            "src/base/guarded_test.cpp", "src/api/c_memory_test.cpp",
            # A worker's exception goes to the thread that waits for it.
            "src/kernels/cpu/thread_pool.cpp", "src/kernels/cpu/thread_pool_test.cpp")
NATIVE_HEADERS = re.compile(r"#\s*include\s*<(filesystem|fstream|iostream|mutex|thread|future)>")
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(" + "|".join(["work", "root", "home/[a-z]+"]) + r")/")
# Words of the project's own in place of the field's: see docs/words.md.
OLD_NAMES = re.compile(
    r"\b(?:with_loops_written_out|written_out|WRITTEN_TURNS|kBeforeNames|kBehindNames|Deal|dealt|(?:\w+_)?deal(?=\()"
    r"|(?:\w+_)?deal\.(?:h|cpp)|fold_(?:all|rows|each|four|narrow|shuffle|subgroup)|folds_four|kFold|Fold(?=::)"
    r"|TEAMS?|\w+_TEAMS?|has_teams|team_\w+|kCores|core_deal|take_turns|turn_rows|\w*_?TURNS"
    r"|Beside(?=[ ]\w+[({;]|::)|ask_until_true|Patience|kHurried|kAtLeisure|Drawing|Choosing|Chooser|DrawRule|DrawStart"
    r"|DrawToken|draw_token\w*|BestBlocks|best_blocks\w*|BlockPeaks|block_peaks\w*|TopTokens|top_tokens\w*|kTopTokens"
    r"|GatedDown|gated_down\w*|ExactSums?|exact_sums|add_exactly|\w*far_positions\w*|(?:decode|greedy|sampled)_far"
    r"|kFar(?:Position|Splits)|kFewTokens|few_(?:refuses|plain|subgroup)\w*|is_spoilt_?|spoilt|DeviceNotes|device_notes\w*"
    r"|device_knowledge\w*|k(?:Most|Fewest|Largest|Least)(?:[A-Z]\w*)?|EARLY|MADE|TOGETHER|(?:[A-Z]+_)?SHARES"
    r"|(?:Before|Behind)::k[A-Z]\w*|\w+_behind|behind_\w+|\w*[a-z]Behind[A-Z]\w*"
    r"|compile_rightly|held_in_windows|attention_to_heard|\w*UnderWay\w*|tell_(?:loading|event|piece|progress|segment)|say_more)\b")
OLD_PHRASES = re.compile(r"\b(?:behind|so many|exact sums?|written out, at most|around and around|come again later)\b", re.IGNORECASE)
WITHOUT_SUBJECT = re.compile(r"(?:///?|#|\*|^)[ ]*(Of (?:an?|the|this|these|those|what|which|all|each|one)\b)", re.MULTILINE)
# The mark that a comment begins with, on a line of its own or after code; of a block comment each line has one.
SLASH_MARK = re.compile(r"(?:^|(?<=\s))(?://[/!]?<?|/\*\*?)(?= |$)|^\s*\*(?= |$)")
HASH_MARK = re.compile(r"(?:^|(?<=\s))#(?= |$)")
HASHED = {".py", ".sh", ".cmake", ".txt", ""}
SLASHED = CODE | {".wgsl", ".ts", ".js", ".mjs"}
OPENING = re.compile(r" *(What|As|Where|Of)\b")
# Files whose comments still have such openings. The next change to one of them mends them and takes it off.
OPENINGS_LEFT = ("src/kernels/cuda/device.cuh", "src/kernels/cuda/wgsl.cuh", "tests/emulator/device.cuh")
SUBJECT = re.compile(r"[a-z0-9_, /.-]+: (?!(?:say|tell|let|hold)\b)[a-z]")
# The last commit before subjects were checked.
UNCHECKED_HISTORY = "b70f527ec69d4f4ee9aefc2d555492623bdaa99a"
# Texts that record what was, or are not about the project.
OWN_WORDS = ("CHANGELOG.md", "docs/history/performance.md", "tools/check_style.py", "tools/test_checks.py",
             "tools/storyteller/", "fuzz/corpus/")
BANNED_PARTS = {"util", "utils", "helper", "helpers", "manager"}
BANNED_STEMS = {"misc", "common", "impl", "data", "info", "stuff"}
LITERAL = re.compile(
    r'R"(?P<end>[^(\s]*)\(.*?\)(?P=end)"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def strip(text):
    """The text without comments and string literals, with the same line numbers. Includes stay."""
    return LITERAL.sub(lambda m: "\n" * m[0].count("\n") if m[0][0] != '"' else '""', text)


def read_native(path):
    if not path.exists():
        return {}
    lines = [line for line in path.read_text().splitlines() if line.strip() and line[0] != "#"]
    return {line.partition(":")[0].strip(): line.partition(":")[2].strip() for line in lines}


def check_code(name, text, native):
    """Problems of one C++ file as (line, sentence)."""
    code = strip(text)
    folder = name.split("/")[1] if name.startswith("src/") else ""
    is_test = name.endswith("_test.cpp")
    rules = []
    if folder and name not in THROWERS:
        rules.append((r"\b(throw|try|catch)\b", "\"{}\" is not used: failures are a Result"))
    if folder and folder != "base":
        rules.append((r"\b(getenv)\b", "\"{}\" is not used outside src/base"))
    if folder and folder != "base":
        # Highway compiles a source once for each instruction set and tells by macros which one it is.
        rules.append((r"^\s*#\s*(if|ifdef|ifndef|elif)\b(?!.*\b(?:HWY_|TOKAMAK_CPU_))",
                      "\"#{}\" is not used outside src/base: CMake chooses files"))
    if folder in CORE and not is_test and name not in native:
        rules.append((NATIVE_HEADERS.pattern,
                      "<{}> is not in the browser; see tools/native_sources.txt"))
    for pattern, sentence in rules:
        for match in re.finditer(pattern, code, re.MULTILINE):
            yield code.count("\n", 0, match.start(1)) + 1, sentence.format(match[1])
    if name.endswith(".h"):
        first = re.search(r"^\s*#.*$", code, re.MULTILINE)
        once_a_set = first and "HWY_TARGET_TOGGLE" in first[0]
        if not once_a_set and (not first or first[0].split() != ["#pragma", "once"]):
            yield 1, "the first directive of a header is #pragma once"


def check_name(name):
    path = pathlib.PurePosixPath(name)
    words = set(path.stem.lower().split("_")) & BANNED_PARTS
    if path.stem.lower() in BANNED_STEMS:
        words.add(path.stem.lower())
    return [f"\"{word}\" says nothing; name the file after what it is" for word in sorted(words)]


def check_words(text):
    """Problems of any text as (line, sentence)."""
    for pattern in (OLD_NAMES, OLD_PHRASES):
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, f"\"{match[0]}\": docs/words.md has the word for it"
    for match in WITHOUT_SUBJECT.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, f"\"{match[1]} ...\": the sentence has no subject"


def check_openings(text, suffix):
    """Problems of comments as (line, sentence)."""
    mark = SLASH_MARK if suffix in SLASHED else HASH_MARK
    goes_on = False
    for number, line in enumerate(text.splitlines(), 1):
        found = mark.search(line)
        opening = found and not goes_on and OPENING.match(line, found.end())
        if opening and not WITHOUT_SUBJECT.search(line):
            yield number, f"\"{opening[1]} ...\": a comment begins with a verb or a noun phrase"
        goes_on = bool(found) and not line[:found.start()].strip() and bool(line[found.end():].strip())


def check_subjects(root):
    """Problems of commits as sentences; none without their history, as in an archive or a shallow clone."""
    command = ["git", "-C", str(root), "log", "--no-merges", "--format=%h %s", f"{UNCHECKED_HISTORY}.."]
    if not (root / ".git").exists():
        return []
    answer = subprocess.run(command, capture_output=True, text=True)
    commits = [line.partition(" ") for line in answer.stdout.splitlines()]
    return [f"commit {name}: \"{subject}\" does not read \"area: imperative\""
            for name, _, subject in commits if not SUBJECT.match(subject)]


def list_files(root):
    """Every file of the project, without asking git: an unpacked archive is checked as well."""
    files = [p for folder in FOLDERS for p in (root / folder).rglob("*")] + list(root.glob("*"))
    names = (p.relative_to(root) for p in files if p.is_file())
    return sorted(name.as_posix() for name in names if not GENERATED & set(name.parts))


def check(root):
    native = read_native(root / "tools" / "native_sources.txt")
    errors = [f"tools/native_sources.txt: {name} does not exist"
              for name in native if not (root / name).exists()]
    errors += [f"tools/native_sources.txt: {name} has no reason" for name in native if not native[name]]
    for name in list_files(root):
        path = root / name
        if path.suffix not in TEXT or name == ".git" or name.startswith("tests/data/"):
            continue
        text = path.read_text(errors="replace")
        if path.suffix in CODE:
            errors += [f"{name}:{line}: {what}" for line, what in check_code(name, text, native)]
            errors += [f"{name}: {what}" for what in check_name(name)]
        if not name.startswith(OWN_WORDS):
            errors += [f"{name}:{line}: {what}" for line, what in check_words(text)]
            if path.suffix in SLASHED | HASHED and not name.startswith(OPENINGS_LEFT):
                errors += [f"{name}:{line}: {what}" for line, what in check_openings(text, path.suffix)]
        for match in MACHINE_PATH.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            errors.append(f"{name}:{line}: \"{match[0]}\" is a path of one machine")
    return errors + check_subjects(root)


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(found) or "style: ok")
    sys.exit(bool(found))
