#!/usr/bin/env python3
"""docs/dispatches.md says how many kernels the program launches. Run by CTest; by hand as
cli_test.py.
"""
import importlib.machinery
import importlib.util
import os
import pathlib
import unittest

import program


class Dispatches(unittest.TestCase):
    def test_the_document_is_what_the_program_says(self):
        path = os.path.join(program.SOURCE, "tools", "dispatches_table")
        loader = importlib.machinery.SourceFileLoader("dispatches_table", path)
        tool = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(tool)
        text = pathlib.Path(program.SOURCE, "docs/dispatches.md").read_text(encoding="utf-8")
        self.maxDiff = None
        self.assertEqual(tool.document(tool.Program(program.PROGRAM)), text)


if __name__ == "__main__":
    program.main(unittest)
