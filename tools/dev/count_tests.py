#!/usr/bin/env python3
"""count_tests.py FOLDER: prints "PASSED FAILED" for a CTest run.

FOLDER holds ctest.junit and one XML file per GoogleTest program. A program with such a file counts
with its single cases; any other CTest entry counts as one.
"""
import pathlib
import sys
import xml.etree.ElementTree as xml


def count(folder):
    passed = failed = 0
    for entry in xml.parse(folder / "ctest.junit").getroot().iter("testcase"):
        if entry.get("status") in ("notrun", "disabled"):
            continue
        ok = entry.get("status") == "run"
        report = folder / (entry.get("name") + ".xml")
        if not report.exists():
            passed += ok
            failed += not ok
            continue
        cases = list(xml.parse(report).getroot().iter("testcase"))
        wrong = sum(case.find("failure") is not None for case in cases)
        skipped = sum(case.get("result") == "skipped" or case.get("status") == "notrun"
                      for case in cases)
        passed += len(cases) - wrong - skipped
        # A program that fails although no case did has crashed or timed out.
        failed += wrong if wrong or ok else 1
    return passed, failed


if __name__ == "__main__":
    print(*count(pathlib.Path(sys.argv[1])))
