"""What is said twice is the same: headers, options, types, examples."""
import os
import re
import subprocess
import sys

import pytest
import tokamak

from conftest import SOURCE, STORYTELLER

MYPY = [sys.executable, "-m", "mypy", "--cache-dir", str(SOURCE / "build" / "mypy")]


def header(name):
    return (SOURCE / "include" / "tokamak" / name).read_text(encoding="utf-8")


def test_the_declarations_are_those_of_the_headers():
    done = subprocess.run([sys.executable, "-B", str(SOURCE / "tools" / "python_declarations.py"), "--check"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def names_before(text, function):
    """The names that the comment before a function lists."""
    comment = re.sub(r"\([^)]*\)", "", text[:text.index(function)].split("/*")[-1], flags=re.DOTALL)
    return set(re.findall(r"\w+", re.search(r"Names: (.*?);", comment, re.DOTALL)[1]))


def test_every_option_of_a_request_is_typed():
    listed = names_before(header("c.h"), "TOKAMAK_API bool tokamak_request_set(")
    assert listed - {"prompt", "chat_variables"} == set(tokamak.RequestOptions.__annotations__)


def test_the_version_is_that_of_the_library():
    version = re.search(r'^version = "(.*)"', (SOURCE / "python" / "pyproject.toml").read_text(), re.MULTILINE)[1]
    assert version == tokamak.version()


def test_types_check():
    pytest.importorskip("mypy", reason="mypy is not installed; ./dev setup check installs it")
    done = subprocess.run([*MYPY, "tokamak"], cwd=SOURCE / "python", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_know_the_options(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed; ./dev setup check installs it")
    (tmp_path / "program.py").write_text(
        "import tokamak\n"
        "model = tokamak.open('folder', context=64)\n"
        "for piece in model.chat([], max_tokens=3): reveal_type(piece)\n"
        "reveal_type(model.generate('Once').result.ids)\n"
        "model.generate('Once', colour='red')\n"
        "model.generate('Once', max_tokens='three')\n")
    done = subprocess.run([*MYPY, "--enable-incomplete-feature=Unpack", "program.py"], cwd=tmp_path,
                          env={**os.environ, "MYPYPATH": str(SOURCE / "python")}, capture_output=True, text=True)
    assert re.search(r'program.py:3: note: Revealed type is "tokamak._run.Piece"', done.stdout), done.stdout
    assert re.search(r'program.py:4: note: Revealed type is "builtins.list\[builtins.int\]"', done.stdout), done.stdout
    assert re.search(r"program.py:5: error: .*colour", done.stdout), done.stdout
    assert re.search(r"program.py:6: error: .*max_tokens", done.stdout), done.stdout


@pytest.mark.parametrize("name", sorted(path.name for path in (SOURCE / "examples" / "python").glob("*.py")))
def test_examples_run(name):
    arguments = {"stream.py": [tokamak._library.library().path, str(STORYTELLER), "Once upon a time", "cpu"]}
    done = subprocess.run([sys.executable, str(SOURCE / "examples" / "python" / name), *arguments.get(name, ["cpu"])],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.strip(), done.stderr


def test_the_page_names_what_there_is():
    page = (SOURCE / "docs" / "python.md").read_text(encoding="utf-8")
    for name in tokamak.__all__:
        assert re.search(rf"\b{name}\b", page), f"docs/python.md says nothing of {name}"
    for name in tokamak.RequestOptions.__annotations__:
        assert f"`{name}`" in page, f"docs/python.md says nothing of {name}"
