"""The programs of tools/ as modules, for tests."""
import importlib.machinery
import importlib.util
import pathlib
import sys

TOOLS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools"
sys.path.insert(1, str(TOOLS))  # they import what lies beside them


def load_tool(name):
    loader = importlib.machinery.SourceFileLoader(name, str(TOOLS / name))
    tool = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(tool)
    return tool
