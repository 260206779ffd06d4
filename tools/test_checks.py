#!/usr/bin/env python3
"""Tests of the checks: each rule finds its offence in a small tree and leaves a clean one alone."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parent / "dev"))
import check_layers
import check_size
import check_style
import count_tests
import units

LAYERS = "base :\nformats : base\nbackend : base  # devices\nmodel : base formats\n"


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("src/LAYERS", LAYERS)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Layers(Tree):
    def test_accepts_what_the_table_allows(self):
        self.write("src/model/a.cpp", '#include "formats/b.h"\n#include <vector>\n')
        self.write("src/backend/webgpu/a.cpp", '#include <webgpu/webgpu.h>\n')
        self.assertEqual(check_layers.check(self.root), [])

    def test_finds_an_include_upwards(self):
        self.write("src/formats/a.h", '\n#include "model/b.h"\n')
        self.assertEqual(check_layers.check(self.root),
                         ["src/formats/a.h:2: formats may not include model"])

    def test_holds_a_divided_folder_to_the_lines_of_its_parts(self):
        self.write("src/LAYERS", "base :\nparts/low : base\nparts : parts/low\nparts/high : parts\ntop : parts\n")
        self.write("src/parts/a.cpp", '#include "parts/low/b.h"\n')
        self.write("src/parts/high/a.cpp", '#include "parts/b.h"\n')
        self.write("src/parts/low/a_test.cpp", '#include "parts/high/b.h"\n')
        self.write("src/top/a.cpp", '#include "parts/low/b.h"\n#include "parts/high/b.h"\n')
        self.assertEqual(check_layers.check(self.root), [])
        self.write("src/parts/low/a.cpp", '#include "parts/high/b.h"\n')
        self.write("src/parts/high/b.cpp", '#include "base/b.h"\n#include "parts/low/b.h"\n')
        self.write("src/parts/b.cpp", '#include "parts/high/b.h"\n')
        self.write("src/parts/new/a.cpp", "")
        self.assertEqual(check_layers.check(self.root), [
            "src/parts/b.cpp:1: parts may not include parts/high",
            "src/parts/high/b.cpp:1: parts/high may not include base",
            "src/parts/high/b.cpp:2: parts/high may not include parts/low",
            "src/parts/low/a.cpp:1: parts/low may not include parts/high",
            'src/parts/new/a.cpp: folder "parts/new" is not in src/LAYERS'])

    def test_finds_a_line_that_names_what_is_below(self):
        self.write("src/LAYERS", "base : text\ntext : base\n")
        self.assertEqual(check_layers.check(self.root), ["src/LAYERS: base names text, which is not above it"])

    def test_finds_one_backend_including_another(self):
        self.write("src/backend/cuda/a.cpp", '#include "backend/webgpu/b.h"\n')
        self.assertIn("backend/cuda may not include backend/webgpu",
                      check_layers.check(self.root)[0])

    def test_finds_a_device_header_outside_its_folder(self):
        self.write("src/backend/a.cpp", "#include <webgpu/webgpu.h>\n")
        self.assertIn("only backend/webgpu and apps/web", check_layers.check(self.root)[0])

    def test_finds_a_folder_that_is_not_listed(self):
        self.write("src/extra/a.cpp", "")
        self.assertIn("is not in src/LAYERS", check_layers.check(self.root)[0])

    def test_finds_a_relative_include(self):
        self.write("src/base/a.cpp", '#include "../formats/b.h"\n')
        self.assertIn("is relative", check_layers.check(self.root)[0])

    def test_finds_headers_of_a_system_outside_their_folder(self):
        text = "#include <vector>\n#include <dlfcn.h>\n"
        self.write("src/base/system/a_posix.cpp", text)
        self.write("src/formats/a_test.cpp", text)
        self.assertEqual(check_layers.check(self.root), [])
        self.write("src/formats/a.cpp", text)
        self.assertEqual(check_layers.check(self.root), [
            "src/formats/a.cpp:2: dlfcn.h is of one operating system; base/system/dynamic_library.h is for all"])

    def test_names_the_header_that_is_for_all_systems(self):
        for line, home in (("#include <sys/mman.h>", "mapped_file.h"), ("#include <sys/file.h>", "file_lock.h"),
                           ("#include <sys/stat.h>", "file.h"), ("#include <unistd.h>", "file.h"),
                           ("#include <termios.h>", "terminal.h"), ("#include <signal.h>", "signals.h"),
                           ("struct sigaction action;", "signals.h"), ("#include <sys/resource.h>", "machine.h"),
                           ("#include <pwd.h>", "folders.h"), ("  gmtime_r(&now, &parts);", "calendar.h"),
                           ("#include <windows.h>", "file.h"), ("if (isatty(1)) f();", "terminal.h")):
            self.write("src/model/a.h", line)
            errors = check_layers.check(self.root)
            self.assertEqual(len(errors), 1, line)
            self.assertIn(f"src/model/a.h:1: ", errors[0])
            self.assertIn(f"base/system/{home}", errors[0])
        self.write("src/model/a.h", "#include <ctime>\n#include <csignal>\n#include <linux.h>\nx.isatty_(1);\n")
        self.assertEqual(check_layers.check(self.root), [])

    def test_leaves_out_what_is_of_one_system_by_nature(self):
        self.write("src/model/a.cpp", "#include <elf.h>\n")
        self.write("tools/system_sources.txt", "# the list\nsrc/model/a.cpp: reads ELF\n")
        self.assertEqual(check_layers.check(self.root), [])
        self.write("tools/system_sources.txt", "src/model/a.cpp:\n")
        self.assertIn("has no reason", check_layers.check(self.root)[0])
        self.write("tools/system_sources.txt", "src/model/a.cpp: reads ELF\nsrc/model/b.cpp: is gone\n")
        self.assertIn("src/model/b.cpp includes no header of a system", check_layers.check(self.root)[0])

    def test_two_types_of_one_name_are_found(self):
        one = "namespace tokamak {\nstruct Codec {\n};\n}  // namespace tokamak\n"
        self.write("src/base/codec.h", one)
        self.write("src/model/codec.h", one.replace("tokamak", "tokamak::cli"))
        self.assertEqual(check_layers.check(self.root), [])
        self.write("src/model/codec.h", one)
        self.assertIn("src/model/codec.h: tokamak::Codec is the name of another type, of src/base/codec.h",
                      check_layers.check(self.root)[0])


class Size(Tree):
    def test_accepts_files_at_their_ceilings(self):
        self.write("src/base/a.cpp", "\n" * 500)
        self.write("src/base/a.h", "\n" * 250)
        self.write("src/model/arch/a.cpp", "\n" * 150)
        self.assertEqual(check_size.check(self.root), [])

    def test_finds_one_line_too_many(self):
        self.write("src/base/a.cpp", "\n" * 501)
        self.write("src/base/a.h", "\n" * 251)
        self.write("src/model/arch/a.cpp", "\n" * 151)
        self.assertEqual(len(check_size.check(self.root)), 3)

    def test_leaves_out_what_npm_and_vite_have_made(self):
        for name in ("web/node_modules/a/b.js", "web/package/dist/b.js"):
            self.write(name, "\n" * 301)
        self.write("web/package/src/b.ts", "\n" * 301)
        self.assertEqual(check_size.check(self.root), ["web/package/src/b.ts: 301 lines, at most 300 are allowed"])

    def test_accepts_an_exception_with_a_reason_only(self):
        self.write("src/base/a.cpp", "\n" * 501)
        self.write("tools/size_exceptions.txt", "src/base/a.cpp: a table\n")
        self.assertEqual(check_size.check(self.root), [])
        self.write("tools/size_exceptions.txt", "src/base/a.cpp\n")
        self.assertIn("has no reason", check_size.check(self.root)[0])

    def test_finds_a_stale_exception(self):
        self.write("tools/size_exceptions.txt", "src/base/gone.cpp: was long\n")
        self.assertIn("remove the line", check_size.check(self.root)[0])


class Style(Tree):
    def one(self, name, text):
        self.write(name, text)
        errors = check_style.check(self.root)
        self.assertEqual(len(errors), 1, errors)
        return errors[0]

    def test_accepts_words_in_comments_and_strings(self):
        self.write("src/text/a.cpp",
                   '// we try and throw\nauto a = "try";\nauto b = R"(throw "x")";\nTOK_TRY(f());\n')
        self.assertEqual(check_style.check(self.root), [])

    def test_finds_throw_with_its_line(self):
        self.assertIn("src/text/a.cpp:2:", self.one("src/text/a.cpp", "\nvoid f() { throw 1; }\n"))

    def test_allows_try_where_the_json_library_throws(self):
        self.write("src/base/guarded.cpp", "void f() { try { g(); } catch (...) {} }\n")
        self.assertEqual(check_style.check(self.root), [])

    def test_finds_getenv_outside_base(self):
        self.write("src/base/a.cpp", 'auto a = getenv("A");\n')
        self.assertIn("src/apps/b.cpp", self.one("src/apps/b.cpp", 'auto a = getenv("A");\n'))

    def test_finds_conditional_compilation_outside_base(self):
        self.write("src/base/a.cpp", "#ifdef X\n#endif\n")
        self.assertIn("#ifdef", self.one("src/plan/a.cpp", "#ifdef X\n#endif\n"))

    def test_finds_a_header_without_pragma_once(self):
        self.write("src/base/good.h", "// The good one.\n#pragma once\n#include <vector>\n")
        self.assertIn("bad.h", self.one("src/base/bad.h", "#include <vector>\n#pragma once\n"))

    def test_finds_native_headers_in_the_core(self):
        self.write("src/apps/a.cpp", "#include <fstream>\n")
        self.write("src/text/a_test.cpp", "#include <fstream>\n")
        self.assertIn("<mutex>", self.one("src/text/a.cpp", "#include <mutex>\n"))

    def test_accepts_native_sources_that_exist_and_have_a_reason(self):
        self.write("src/text/a.cpp", "#include <mutex>\n")
        self.write("tools/native_sources.txt", "src/text/a.cpp: the host's\n")
        self.assertEqual(check_style.check(self.root), [])
        (self.root / "src/text/a.cpp").unlink()
        self.assertIn("does not exist", check_style.check(self.root)[0])

    def test_finds_paths_of_one_machine_everywhere(self):
        self.assertIn("docs/a.md:2", self.one("docs/a.md", "\nsee /" + "root/x.txt\n"))

    def test_leaves_out_what_npm_and_vite_have_made(self):
        for name in ("web/node_modules/a/b.js", "web/package/dist/b.js"):
            self.write(name, "// in /wo" "rk/a\n")
        self.assertEqual(check_style.check(self.root), [])

    def test_leaves_other_paths_alone(self):
        self.write("docs/a.md", "build/work/x, ~/work/y and https://a.b/work/z\n")
        self.assertEqual(check_style.check(self.root), [])

    def test_finds_old_names_in_code_comments_and_shaders(self):
        for name, text in (("src/kernels/a.cpp", "constexpr int kMostRows = 1;\n"),
                           ("src/kernels/b.wgsl", "const TURNS = 4u;\n"),
                           ("src/kernels/c.wgsl", "// see before\nlet rows = DOWN_TEAM;\n"),
                           ("tests/d_test.cpp", "TEST(A, RowsBehindTheLast) {}\n"),
                           ("tools/e.py", 'name = "gated_down.wgsl"\n'),
                           ("docs/f.md", "`decode_far`\n"),
                           ("src/fuse/g.cpp", "op.behind = Behind::kAdd;\n")):
            self.write(name, text)
            self.assertIn("docs/words.md", "".join(check_style.check(self.root)), name)
            (self.root / name).unlink()

    def test_finds_phrases_and_sentences_without_a_subject(self):
        for text, line in (("one\n/// The token behind it.\n", 2), ("// Waits for so many tokens.\n", 1),
                           ("// Adds to exact sums.\n", 1), ("int a;\n/// Of an H200: more.\n", 2),
                           ("// Of the largest.\n", 1)):
            self.assertIn(f"src/base/a.cpp:{line}:", self.one("src/base/a.cpp", text))

    def test_finds_comments_that_open_without_a_subject(self):
        for name, text, line in (("src/base/a.cpp", "int a;\n/// What it has.\nint b;\n", 2),
                                 ("src/base/a.cpp", "int a;  // As in b.\n", 1),
                                 ("src/base/a.cpp", "/// A first sentence.\n///\n/// Where it ends.\n", 3),
                                 ("src/kernels/a.wgsl", "// Of q8: a byte.\n", 1),
                                 ("web/a.ts", "/**\n * What it gives.\n */\n", 2),
                                 ("tools/a.py", "a = 1  # Where it is.\n", 1)):
            errors = self.one(name, text)
            self.assertIn(f"{name}:{line}:", errors)
            (self.root / name).unlink()

    def test_leaves_such_words_within_comments_and_strings(self):
        self.write("src/base/a.cpp", "// The place\n// Where it ends is\n// What it has.\nauto a = \"What\";\n")
        self.write("tools/a.py", 'print("# What")  # the place\n')
        self.write("docs/a.md", "# What it is\n")
        self.assertEqual(check_style.check(self.root), [])

    def test_finds_subjects_of_commits_that_are_no_imperatives(self):
        for subject in ("Let it be", "base: Say so", "base: say so", "base: hold it", "no area", "base:  two blanks"):
            self.assertFalse(check_style.SUBJECT.match(subject), subject)
        for subject in ("base: add a word", "kernels, web/site: open lists", ".ci: holder of locks"):
            self.assertTrue(check_style.SUBJECT.match(subject), subject)

    def test_takes_a_history_that_lacks_the_first_commit(self):
        subprocess.run(["git", "init", "--quiet", str(self.root)], check=True)
        self.assertEqual(check_style.check_subjects(self.root), [])

    def test_leaves_other_words_and_the_history_alone(self):
        self.write("src/kernels/a.cpp", "// A part of the sum, one of many; a turn of a chat.\nint after, kMaxRows, folded;\n")
        self.write("docs/history/performance.md", "Of the best, so many behind it: kMostRows.\n")
        self.write("docs/b.md", "The offset of an op, and what is left of the rows.\n")
        self.assertEqual(check_style.check(self.root), [])

    def test_finds_names_that_say_nothing(self):
        self.assertIn("\"util\"", self.one("src/text/string_util.cpp", ""))


class CountTests(Tree):
    def counted(self, junit, **reports):
        self.write("ctest.junit", f"<testsuite>{junit}</testsuite>")
        for name, report in reports.items():
            self.write(name + ".xml", f"<testsuites><testsuite>{report}</testsuite></testsuites>")
        return count_tests.count(self.root)

    def test_counts_cases_and_plain_entries(self):
        self.assertEqual(
            self.counted('<testcase name="a" status="fail"/><testcase name="b" status="run"/>',
                         a='<testcase status="run"/><testcase status="run"><failure/></testcase>'
                           '<testcase status="run" result="skipped"/>'), (2, 1))

    def test_counts_a_crash_after_the_last_case(self):
        self.assertEqual(self.counted('<testcase name="a" status="fail"/>',
                                      a='<testcase status="run"/>'), (1, 1))

    def test_counts_a_crash_without_a_report(self):
        self.assertEqual(self.counted('<testcase name="a" status="fail"/>'), (0, 1))


class Units(Tree):
    def together(self, first, second):
        """Whether two sources of a folder become one unit."""
        for name, text in (("a", first), ("b", second)):
            self.write(f"src/base/{name}.cpp", f"namespace tokamak {{\n{text}\n}}  // namespace tokamak\n")
        sources = [(name, units.Source(self.root / f"src/base/{name}.cpp")) for name in ("a", "b")]
        return len(units.units_of(sources)) == 1

    @staticmethod
    def hidden(text):
        return f"namespace {{\n{text}\n}}  // namespace"

    def test_sources_of_a_folder_become_one(self):
        self.assertTrue(self.together(self.hidden("int one() {\n  return 1;\n}"), self.hidden("int two() {\n  return 2;\n}")))
        self.assertTrue(self.together("int one() {\n  return 1;\n}", "int two() { return one(); }"))

    def test_one_hidden_name_keeps_them_apart(self):
        for first, second in (("int f(int x) {\n  return x;\n}", "double f(double x) {\n  return x;\n}"),
                              ("struct S {\n  int x;\n};", "class S {};"),
                              ("constexpr int kMost = 3;", "constexpr int kMost = 3;"),
                              ("const std::vector<std::pair<int, int>> table{{1, 2}};", "int table() { return 0; }"),
                              ("template <typename T>\nT f(T x) {\n  return x;\n}", "int f();"),
                              ("TEST(A, b) {\n}", "TEST(A, b) {\n}"),
                              ("constexpr int kLeast = 1, kMost = 3;", "constexpr int kMost = 3;"),
                              ("enum : int { x, y };", "enum : int { y, z };"),
                              ("using T = int;", "using T = long;")):
            with self.subTest(first):
                self.assertFalse(self.together(self.hidden(first), self.hidden(second)))

    def test_a_name_that_another_file_uses_keeps_them_apart(self):
        """Before they were one, it was something else's: a header's."""
        own = self.hidden("int f(int x) {\n  return x;\n}\nconstexpr int kMost = 3;")
        self.assertFalse(self.together(own, "int g() {\n  return f(2.5);\n}"))
        self.assertFalse(self.together(own, "const auto g = f;"))
        self.assertFalse(self.together(own, "int g(int kMost) {\n  return kMost;\n}"))
        for harmless in ("int g(X x) {\n  return x.f(1) + x->f(1) + X::f(1);\n}", "// f(1)\n", 'const char* g = "f(1)";'):
            with self.subTest(harmless):
                self.assertTrue(self.together(own, harmless))

    def test_the_same_alias_may_stand_in_both(self):
        self.assertTrue(self.together("namespace fs = std::filesystem;", "namespace fs = std::filesystem;"))
        self.assertFalse(self.together("namespace fs = std::filesystem;", "namespace fs = other;"))

    def test_a_unit_has_sixteen_files_at_most_and_no_test(self):
        names = [f"{number:02}.cpp" for number in range(17)]
        for name in [*names, "16_test.cpp", "small/a.cpp"]:
            self.write(f"src/base/{name}", "\n")
        self.write("src/base/using.cpp", "using namespace tokamak;\n")
        found = {}
        for path, unit in units.all_units(self.root):
            found.setdefault(unit, []).append(path.as_posix().removeprefix("src/base/"))
        self.assertEqual(sorted(found.values()), [names[:16], ["16.cpp", "small/a.cpp"], ["16_test.cpp"], ["using.cpp"]])



if __name__ == "__main__":
    unittest.main()
