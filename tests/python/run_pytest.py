#!/usr/bin/env python3
"""run_pytest.py [--without-numpy] ARGUMENTS: pytest with the package of this source tree; 77 where there is no pytest."""
import importlib.util
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SYSTEM = "/usr/bin/python3"  # has what Debian's packages bring, where another Python comes first

needed = ["pytest"] if "--without-numpy" in sys.argv else ["pytest", "numpy"]
missing = [name for name in needed if importlib.util.find_spec(name) is None]
if missing and os.path.exists(SYSTEM) and "TOKAMAK_SYSTEM_PYTHON" not in os.environ:
    os.environ["TOKAMAK_SYSTEM_PYTHON"] = "1"
    os.execv(SYSTEM, [SYSTEM, "-B", *sys.argv])
if missing:
    print(f"skipped: {' and '.join(missing)} not installed; `./dev setup check` installs it.")
    sys.exit(77)

import pytest  # noqa: E402

os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
os.environ["PYTHONPATH"] = str(ROOT / "python")
sys.path.insert(0, str(ROOT / "python"))
arguments = sys.argv[1:]
if "--without-numpy" in arguments:
    arguments.remove("--without-numpy")
    sys.modules["numpy"] = None  # an import fails
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-W", "error", *arguments]))
