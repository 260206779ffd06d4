"""The recipes of package managers (packaging/recipes) as tools/release/recipes.py fills them: syntax, and one set of facts in all.

What reads a language and is not installed here is named as skipped. TOKAMAK_SOURCE_DIR has the sources.
"""

import ast
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["TOKAMAK_SOURCE_DIR"]).resolve()
sys.path.insert(0, str(SOURCE / "tools" / "release"))
import recipes  # noqa: E402  pylint: disable=wrong-import-position

# The archives that each recipe installs.
USES = {"aur/PKGBUILD": ("LINUX_X86_64", "LINUX_AARCH64"), "conan/conandata.yml": ("SOURCE",),
        "homebrew/tokamak.rb": ("MACOS_ARM64", "LINUX_X86_64", "LINUX_AARCH64"),
        "nix/flake.nix": ("MACOS_ARM64", "LINUX_X86_64", "LINUX_AARCH64"), "vcpkg/portfile.cmake": ("SOURCE",)}


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.packages = pathlib.Path(cls.scratch.name)
        cls.facts = recipes.project()
        for name, pattern in recipes.ARCHIVES.items():
            (cls.packages / pattern.format(cls.facts["VERSION"])).write_text(name)
        cls.out = cls.packages / "recipes"
        recipes.fill(cls.packages, cls.out)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def text(self, name):
        return (self.out / name).read_text(encoding="utf-8")

    def read_by(self, name, *command):
        if not shutil.which(command[0]):
            self.skipTest(f"{command[0]} is not installed: {name} was not read")
        done = subprocess.run([*command, str(self.out / name)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_conan_is_python(self):
        ast.parse(self.text("conan/conanfile.py"))

    def test_vcpkg_is_json_and_cmake(self):
        json.loads(self.text("vcpkg/vcpkg.json"))
        called = sorted(set(re.findall(r"^(vcpkg_\w+)\(", self.text("vcpkg/portfile.cmake"), re.MULTILINE)))
        script = self.out / "port.cmake"
        script.write_text("".join(f"macro({name})\nendmacro()\n" for name in called) + "set(CURRENT_PACKAGES_DIR /nowhere)\nset(source /nowhere)\n"
                          + self.text("vcpkg/portfile.cmake"))
        self.read_by("port.cmake", "cmake", "-P")

    def test_homebrew_is_ruby(self):
        self.read_by("homebrew/tokamak.rb", "ruby", "-c")

    def test_nix_is_nix(self):
        self.read_by("nix/flake.nix", "nix-instantiate", "--parse")

    def test_aur_is_bash(self):
        self.read_by("aur/PKGBUILD", "bash", "-n")

    def test_each_has_the_archives_and_their_sums(self):
        for name, archives in USES.items():
            for archive in archives:
                with self.subTest(recipe=name, archive=archive):
                    algorithm = hashlib.sha512 if name.startswith("vcpkg") else hashlib.sha256
                    text = self.text(name).replace("$pkgver", self.facts["VERSION"])
                    self.assertIn(recipes.ARCHIVES[archive].format(self.facts["VERSION"]), text)
                    self.assertIn(algorithm(archive.encode()).hexdigest(), text)

    def test_all_have_the_same_facts(self):
        downloads = recipes.facts_of(self.packages)["DOWNLOADS"]
        for name in USES:
            self.assertIn(downloads, self.text(name), name)
        for name in ("aur/PKGBUILD", "conan/conanfile.py", "homebrew/tokamak.rb", "vcpkg/vcpkg.json"):
            for fact in ("VERSION", "DESCRIPTION", "LICENSE"):
                self.assertIn(self.facts[fact], self.text(name), name)
        self.assertEqual({path.relative_to(self.out).parts[0] for path in self.out.rglob("*") if path.is_file() and path.parent != self.out},
                         {"aur", "conan", "homebrew", "nix", "vcpkg"})

    def test_the_libraries_are_those_of_cmake(self):
        self.assertEqual(sorted(recipes.LIBRARIES), sorted(recipes.asked_for()))
        ports = json.loads(self.text("vcpkg/vcpkg.json"))["dependencies"]
        for vcpkg, conan in recipes.LIBRARIES.values():
            self.assertIn(vcpkg, ports)
            self.assertIn(f'"{conan}"', self.text("conan/conanfile.py"))

    def test_options_are_those_of_cmake(self):
        known = set(re.findall(r"^option\((\w+)", (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE))
        used = set(re.findall(r"-D(TOKAMAK_\w+)=", self.text("vcpkg/portfile.cmake")))
        listed = re.search(r"for option in \((.*?)\)", self.text("conan/conanfile.py")).group(1)
        used |= {f"TOKAMAK_{name}" for name in re.findall(r'"(\w+)"', listed)}
        self.assertGreater(len(used), 3)
        self.assertLessEqual(used, known)

    def test_a_missing_archive_is_named(self):
        done = subprocess.run([sys.executable, "-B", str(SOURCE / "tools" / "release" / "recipes.py"), "/nowhere"],
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("-source.tar.xz is missing; ./dev release makes it.", done.stderr)


if __name__ == "__main__":
    unittest.main()
