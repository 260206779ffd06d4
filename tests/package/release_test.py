"""What ./dev release adds to packages (tools/release/release.py). TOKAMAK_SOURCE_DIR has the sources."""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["TOKAMAK_SOURCE_DIR"]).resolve()
sys.path.insert(0, str(SOURCE / "tools" / "release"))
import recipes  # noqa: E402  pylint: disable=wrong-import-position
import release  # noqa: E402  pylint: disable=wrong-import-position

VERSION = recipes.project()["VERSION"]


class Release(unittest.TestCase):
    """On packages that are empty files, and a repository of two."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.packages, self.root = pathlib.Path(scratch.name, "packages"), pathlib.Path(scratch.name, "sources")
        self.packages.mkdir()
        self.root.mkdir()
        for end in release.EXPECTED:
            joined = "" if end.startswith("_") else "-"
            (self.packages / f"tokamak-{VERSION}{joined}{end.format(VERSION)}").write_text(end)
        docs = self.packages / f"tokamak-{VERSION}-linux-x86_64" / "share" / "doc" / "tokamak"
        docs.mkdir(parents=True)
        (docs / "sbom.spdx.json").write_text('{"spdxVersion": "SPDX-2.3"}')
        (self.root / "CHANGELOG.md").write_text(f"# Changelog\n\n## Unreleased\n- new\n\n## {VERSION}\n- of the release\n\n## 0.0.1\n- old\n")
        for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "x"]):
            subprocess.run(["git", "-C", str(self.root), *command], check=True)

    def test_is_complete(self):
        release.complete(self.packages, VERSION, self.root)
        self.assertEqual((self.packages / "NOTES.md").read_text(), f"## {VERSION}\n- of the release\n")
        self.assertEqual(json.loads((self.packages / f"tokamak-{VERSION}-linux-x86_64.spdx.json").read_text()),
                         {"spdxVersion": "SPDX-2.3"})
        source = self.packages / f"tokamak-{VERSION}-source.tar.xz"
        with tarfile.open(source) as archive:
            self.assertEqual([name for name in archive.getnames() if "CHANGELOG" in name], [f"tokamak-{VERSION}-source/CHANGELOG.md"])
        sums = dict(reversed(line.split("  ")) for line in (self.packages / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(sums[source.name], hashlib.sha256(source.read_bytes()).hexdigest())
        self.assertEqual(len(sums), len(release.EXPECTED) + 2)  # and the sources, and the bill of materials
        recipe = (self.packages / "recipes" / "conan" / "conandata.yml").read_text()
        self.assertIn(sums[source.name], recipe)

    def test_the_sources_are_the_same_each_time(self):
        sources = self.packages / f"tokamak-{VERSION}-source.tar.xz"
        release.archive_sources(self.packages, VERSION, self.root)
        first = sources.read_bytes()
        release.archive_sources(self.packages, VERSION, self.root)
        self.assertEqual(sources.read_bytes(), first)

    def test_names_a_package_that_is_missing(self):
        next(self.packages.glob("*.zip")).unlink()
        with self.assertRaisesRegex(release.Problem, "no package windows-x86_64.zip"):
            release.complete(self.packages, VERSION, self.root)

    def test_a_version_without_a_section_has_what_is_new(self):
        self.assertEqual(release.notes("## Unreleased (1.1)\n- new\n\n## 1.0\n- old\n", "1.1"), "## Unreleased (1.1)\n- new\n")
        self.assertEqual(release.notes("## 1.0.1\n- later\n\n## 1.0\n- old\n", "1.0"), "## 1.0\n- old\n")
        with self.assertRaisesRegex(release.Problem, "no section"):
            release.notes("## 1.0\n- old\n", "2.0")

    def test_sources_are_those_of_a_commit(self):
        with self.assertRaisesRegex(release.Problem, "no clone"):
            release.archive_sources(self.packages, VERSION, self.packages)


if __name__ == "__main__":
    unittest.main()
