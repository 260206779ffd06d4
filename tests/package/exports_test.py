#!/usr/bin/env python3
"""exports_test.py NM LIBRARY HEADERS: the library exports the functions of the C headers in a folder and nothing else."""
import pathlib
import re
import subprocess
import sys
import unittest

NM, LIBRARY, HEADERS = sys.argv[1:]


class Exports(unittest.TestCase):
    def test_are_the_functions_of_the_headers(self):
        listed = subprocess.run([NM, "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True)
        exported = {line.split()[-1] for line in listed.stdout.splitlines()}
        text = "".join(path.read_text(encoding="utf-8") for path in sorted(pathlib.Path(HEADERS).glob("c*.h")))
        declared = set(re.findall(r"^TOKAMAK_API[^;(]*?\b(tokamak_\w+)\(", text, re.MULTILINE))
        self.assertGreater(len(declared), 20)
        self.assertEqual(exported, declared)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
