#!/usr/bin/env python3
"""launches.md has the number of kernels that the program launches. Run by CTest; by hand as cli_test.py."""
import unittest

import program
from load_tool import load_tool


class Dispatches(unittest.TestCase):
    def test_the_document_is_what_the_program_says(self):
        tool = load_tool("dispatches_table")
        text = tool.PAGE.read_text(encoding="utf-8")
        self.maxDiff = None
        self.assertEqual(tool.document(tool.Program(program.PROGRAM)), text)


if __name__ == "__main__":
    program.main(unittest)
