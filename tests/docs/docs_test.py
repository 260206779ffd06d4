#!/usr/bin/env python3
"""docs_test.py ROOT: the documents say what the sources say.

What a document repeats of the sources is compared with them, and every path and link is followed.
"""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from load_tool import load_tool  # noqa: E402

ROOT = pathlib.Path(".")
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
SOURCE_PATH = re.compile(r"`((?:src|tests|tools|cmake|docs|examples|models|fuzz|bench)/[\w./-]+)`")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def documents():
    names = [p.relative_to(ROOT).as_posix() for p in (ROOT / "docs").rglob("*.md")]
    return sorted(names) + ["README.md", "CONTRIBUTING.md", "models/storyteller/README.md"]


def blocks(name, language=""):
    return re.findall(rf"^```{language}\n(.*?)^```$", read(name), re.MULTILINE | re.DOTALL)


def without_space(text):
    return re.sub(r"\s+", " ", text).strip()


class Documents(unittest.TestCase):
    def test_architecture_includes_the_layers_as_they_are(self):
        self.assertIn(read("src/LAYERS"), blocks("docs/architecture.md"))

    def test_readme_lists_the_registered_architectures(self):
        registered = load_tool("models_table").registered()
        self.assertTrue(registered)
        self.assertEqual(re.findall(r"^\| `(\w+)` \|", read("README.md"), re.MULTILINE), registered)

    def test_every_damaged_file_has_its_error(self):
        """That the program says so is for tests/malformed, which has it."""
        table, text = load_tool("errors_table"), read("tests/malformed/errors.md")
        found = table.documented(text)
        self.assertEqual(list(found), table.case_names())
        self.assertEqual(text, table.document(found))
        counted = re.search(r"(\d+) damaged models, (\d+) damaged GGUF files, (\d+) damaged tokenizers and (\d+) dam",
                            read("docs/reliability-and-testing.md"))
        kinds = ("35-", "32-tokenizer-", "36-")
        numbers = [sum(name.startswith(kind) for name in found) for kind in kinds]
        self.assertEqual([int(n) for n in counted.groups()],
                         [len(found) - sum(numbers), *numbers])
        statuses = re.search(r"^Exit status:.*?\.$", text, re.MULTILINE | re.DOTALL)[0]
        self.assertIn(without_space(statuses), without_space(read("src/apps/cli/main.cpp")))
        groups = {int(name[:2]) for name in found}
        self.assertEqual(groups, set(range(1, 38)))

    def test_the_table_of_models_has_every_recorded_one(self):
        """One row per architecture and format; what the errors are is for tools/models_table."""
        table = load_tool("models_table")
        text = read("docs/tables/models.md")
        self.assertTrue(text.startswith(table.HEAD))
        found = re.findall(r"^\| `(\w+)` \| ([^|]+) \|((?: [^|]* ?\|)+)$", text, re.MULTILINE)
        measured = {(name, kind) for name, kind, _ in found if kind != "no recorded model"}
        self.assertEqual(measured, {table.described(name) for name in table.recorded()})
        self.assertEqual({name for name, _, _ in found}, set(table.registered()))
        limits = {float(x) for x in re.findall(r"^constexpr double k\w+ = ([\de.-]+);",
                                               read("tests/golden/reference.cpp"), re.MULTILINE)}
        for name, kind, cells in found:
            for error in re.findall(r"[\d.]+e-\d+", cells):
                self.assertLess(float(error), max(limits), f"{name} {kind}")

    def test_the_lines_of_each_architecture_are_those_of_the_sources(self):
        table = load_tool("family_lines")
        self.assertEqual([row[0] for row in table.rows()], load_tool("models_table").registered())
        self.assertEqual(read("docs/tables/family_lines.md"), table.document(), "tools/family_lines writes it again")

    def test_launches_stay_within_what_is_asked_for(self):
        """That the numbers are the program's is for tests/cli, which runs it."""
        table, models = load_tool("dispatches_table"), load_tool("models_table")
        text = read("tests/cli/launches.md")
        self.assertTrue(text.startswith(table.HEAD))
        shapes = dict(re.findall(r"^\| ([\w.-]+) \| \d+ \| \d+ \| (\d+) \|", text, re.MULTILINE))
        self.assertEqual(list(shapes), table.SHAPES)
        for shape, most in table.MOST.items():
            self.assertLessEqual(int(shapes[shape]), most, shape)
        found = set(re.findall(r"^\| `(\w+)` \| ([A-Za-z][^|]*) \| \d+ \| \d+ \|", text, re.MULTILINE))
        self.assertEqual(found, {models.described(name) for name in models.recorded()
                                 if table.recorded_path(name).exists()})
        self.assertEqual(re.findall(r"^\| `(\w+)` \| (?:\d* \| ){%d}\d* \|$" % (len(shapes) - 1),
                                    text, re.MULTILINE), table.pass_names())

    def test_readme_lists_the_commands(self):
        commands = set(re.findall(r"\badd_(\w+)\(app, action\)", read("src/apps/cli/main.cpp")))
        self.assertTrue(commands)
        named = set(re.findall(r"^tokamak (\w+)", read("README.md"), re.MULTILINE))
        named |= set(re.findall(r"`(\w+)`", read("README.md"))) & commands
        self.assertEqual(named, commands)

    def test_code_in_the_worked_examples_is_in_the_sources(self):
        """A block that starts with "// path" quotes that file; "..." leaves lines out."""
        quoted = 0
        for name in documents():
            for block in blocks(name, r"(?:cpp|wgsl)"):
                first, _, rest = block.partition("\n")
                if not re.fullmatch(r"// (src|tests|examples)/[\w/.]+", first):
                    continue
                source = without_space(read(first[3:]))
                for part in re.split(r"^\s*\.\.\.\s*$", rest, flags=re.MULTILINE):
                    with self.subTest(document=name, source=first[3:]):
                        self.assertIn(without_space(part), source)
                quoted += 1
        self.assertGreater(quoted, 0)

    def test_users_are_shown_public_headers_only(self):
        """Internal classes stand below the words "for contributors", or on pages that are for them."""
        inside = re.compile(r"\b(?:Engine|Codec|Service|Scheduler|Grammar|OpenOptions)\b")
        for path in sorted((ROOT / "docs").glob("*.md")):
            if path.stem in ("architecture", "browser") or path.stem.startswith("adding-"):
                continue
            users, _, _ = path.read_text(encoding="utf-8").partition("is for contributors")
            for block in re.findall(r"^```c(?:pp|\+\+)\n(.*?)^```$", users, re.MULTILINE | re.DOTALL):
                with self.subTest(document=path.stem):
                    self.assertNotRegex(block, inside)

    def test_the_faults_of_the_front_door_are_held_by_tests_that_exist(self):
        shapes = {".py": r"def {}\(", ".cpp": r"TEST(?:_F|_P)?\(\s*{}\s*\)", ".ts": r'test\("{}"', ".cmake": r'run\("{}"'}
        rows = [row for row in read("docs/history/front-door.md").splitlines() if row.startswith("| ")]
        rows = [row for row in rows if not row.endswith("| test |") and not row.startswith("| ---")]
        self.assertGreater(len(rows), 130)
        for row in rows:
            fault, held = row.strip("| ").rsplit(" | ", 1)
            tests = re.findall(r"`((?:src|tests|web)/[^`:]+): ([^`]+)`", held)
            with self.subTest(fault):
                self.assertTrue(tests or held.startswith("no test: "), held)
            for path, name in tests:
                with self.subTest(fault, test=name):
                    name = re.escape(name).replace(r"\.", r",\s*") if path.endswith(".cpp") else re.escape(name)
                    self.assertTrue(re.search(shapes[pathlib.Path(path).suffix].format(name), read(path)), "there is no such test")

    def test_every_package_has_the_version_of_the_program(self):
        version = re.search(r"project\(tokamak VERSION ([\d.]+)", read("CMakeLists.txt"))[1]
        self.assertIn(f'version = "{version}"', read("python/pyproject.toml"))
        self.assertIn(f'The version of the library, "{version}".', read("include/tokamak/c.h"))
        self.assertIn(f"libtokamak.so.{version}", read("tests/node/package.test.mjs"))
        self.assertEqual(set(re.findall(r"tokamak\D*[-_](\d+\.\d+\.\d+)", read("docs/install.md"))),
                         {version})
        for example in ROOT.glob("examples/*/CMakeLists.txt"):
            for found in re.findall(r"find_package\(tokamak ([\d.]+)", example.read_text(encoding="utf-8")):
                self.assertEqual(found, version.rpartition(".")[0], example)
        packages = ["node", "web/tokamak-web", "web/site"]
        packages += [p.parent.relative_to(ROOT) for p in ROOT.glob("examples/web/*/package.json")]
        for name in packages:
            package = read(f"{name}/package.json")
            named = re.findall(r'"(?:version|tokamak-[\w-]+)": "\^?(\d+\.\d+\.\d+)"', package)
            self.assertEqual(set(named), {version}, name)
        release = re.search(r"^## Unreleased \((.*)\)$|^## ([\d.]+)", read("CHANGELOG.md"), re.MULTILINE)
        self.assertTrue(version.startswith(release[1] or release[2]), release[0])

    def test_links_and_paths_lead_somewhere(self):
        for name in documents():
            folder = (ROOT / name).parent
            text = FENCED.sub("", read(name))
            targets = [folder / link for link in LINK.findall(text)]
            targets += [ROOT / path for path in SOURCE_PATH.findall(text)]
            for target in targets:
                path = target.resolve().relative_to(ROOT).as_posix()
                with self.subTest(document=name, target=path):
                    # A unit may be named without its suffix: x for x.h and x.cpp.
                    self.assertTrue(target.exists() or (ROOT / f"{path}.h").exists())

    def test_worked_examples_stay_short(self):
        for name in ("adding-a-model", "adding-a-pass", "adding-a-kernel", "adding-a-format"):
            self.assertLessEqual(len(read(f"docs/{name}.md").splitlines()), 100, name)

    def test_the_example_program_is_as_short_as_the_readme_says(self):
        lines = len(read("examples/stream/main.cpp").splitlines())
        self.assertLessEqual(lines, 40)
        self.assertIn(f"{lines} lines", read("README.md"))


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
