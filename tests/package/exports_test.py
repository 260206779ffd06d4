#!/usr/bin/env python3
"""exports_test.py NM LIBRARY HEADER: the library exports the functions of the header and nothing else."""
import pathlib
import re
import subprocess
import sys
import unittest

NM, LIBRARY, HEADER = sys.argv[1:]


class Exports(unittest.TestCase):
    def test_are_the_functions_of_the_header(self):
        listed = subprocess.run([NM, "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True)
        exported = {line.split()[-1] for line in listed.stdout.splitlines()}
        text = pathlib.Path(HEADER).read_text(encoding="utf-8")
        declared = set(re.findall(r"^TOKAMAK_API[^;(]*?\b(tokamak_\w+)\(", text, re.MULTILINE))
        self.assertGreater(len(declared), 20)
        self.assertEqual(exported, declared)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
