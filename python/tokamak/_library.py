"""Finds and loads libtokamak, and calls its functions.

It is looked for in TOKAMAK_LIBRARY, in the package's own folder, in the build folders of a source tree that the
package lies in, and where the system has its libraries.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import os
import pathlib
import shutil
import sys
import threading
from typing import Any, Iterator, List, Optional, Tuple

from . import _declarations as c
from ._errors import Error

PACKAGE = pathlib.Path(__file__).resolve().parent
NAMES = {"darwin": ("libtokamak.dylib",), "win32": ("tokamak.dll", "libtokamak.dll")}.get(
    sys.platform, ("libtokamak.so", "libtokamak.so.0"))
PROGRAM = "tokamak.exe" if sys.platform == "win32" else "tokamak"


def _builds() -> List[pathlib.Path]:
    """The build folders of the source tree, that of the preset "release" first."""
    root = PACKAGE.parent.parent
    if not (root / "include" / "tokamak" / "c.h").exists():
        return []
    return sorted((root / "build").glob("*"), key=lambda folder: (folder.name != "release", folder.name))


def _library_places() -> Iterator[str]:
    given = os.environ.get("TOKAMAK_LIBRARY")
    if given:
        yield given
        return
    for folder in [PACKAGE / "lib", *(build / "lib" for build in _builds())]:
        for name in NAMES:
            yield str(folder / name)
    found = ctypes.util.find_library("tokamak")
    if found:
        yield found
    yield from NAMES


def _load() -> Tuple[ctypes.CDLL, str]:
    tried: List[str] = []
    for place in _library_places():
        is_path = os.path.dirname(place) != ""
        if is_path and not os.path.exists(place):
            tried.append(f"{place} (no such file)")
            continue
        try:
            return ctypes.CDLL(place), place
        except OSError as problem:
            tried.append(f"{place} ({problem})")
    places = "".join(f"\n  {place}" for place in tried)
    raise Error(f"The library of Tokamak was not found. Build it (./dev build) or install it, or name its file in "
                f"TOKAMAK_LIBRARY. Tried:{places}", c.ErrorCode.USAGE)


class Library:
    """The functions of the C interface, without the prefix of their names."""

    def __init__(self) -> None:
        loaded, self.path = _load()
        for name, (result, *arguments) in c.FUNCTIONS.items():
            function = getattr(loaded, name, None)
            if function is None:
                raise Error(f"{self.path} has no function {name}: the library is older than this package. Build or "
                            f"install the one that belongs to it.", c.ErrorCode.UNSUPPORTED)
            function.restype, function.argtypes = result, arguments
            setattr(self, name[len("tokamak_"):], function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"There is no function tokamak_{name}.")

    def checked(self, function: Any, *arguments: Any) -> Any:
        """Calls a function that has an error as its last parameter."""
        error = ctypes.c_void_p()
        result = function(*arguments, ctypes.byref(error))
        if error:
            message = self.error_message(error).decode(errors="replace")
            code = c.ErrorCode(self.error_get_code(error))
            self.error_free(error)
            raise Error(message, code)
        return result

    def text(self, function: Any, *arguments: Any) -> str:
        """The text of a function that leaves it to be freed."""
        pointer = self.checked(function, *arguments)
        try:
            return text_at(pointer)
        finally:
            self.text_free(pointer)


def text_at(pointer: Optional[int], count: int = -1) -> str:
    """The text at an address: `count` bytes of it, or up to its zero."""
    return ctypes.string_at(pointer, count).decode(errors="replace") if pointer else ""


def encoded(text: str, name: str) -> bytes:
    """A text for the library, where it ends with a zero; `name` says in an error what it is."""
    made = text.encode()
    if b"\0" in made:
        raise Error(f"{name} has a zero character at byte {made.index(0)}, which no text may have; leave it out.",
                    c.ErrorCode.INVALID_INPUT)
    return made


_lock = threading.Lock()
_loaded: Optional[Library] = None


def library() -> Library:
    """The library, which the first call loads."""
    global _loaded
    with _lock:
        if _loaded is None:
            _loaded = Library()
        return _loaded


def program() -> str:
    """The path of the program `tokamak`: that of TOKAMAK_PROGRAM, of the package, of a build folder or of PATH."""
    given = os.environ.get("TOKAMAK_PROGRAM")
    folders = [PACKAGE / "bin", *(build / "bin" for build in _builds())]
    places = [given] if given else [str(folder / PROGRAM) for folder in folders]
    for place in places:
        if os.path.isfile(place):
            return place
    on_path = None if given else shutil.which("tokamak")
    # The command of this package is no program of its own: it would start itself.
    if on_path and not _is_script(on_path):
        return on_path
    tried = "".join(f"\n  {place} (no such file)" for place in places) + ("" if given else "\n  PATH")
    raise Error(f"The program tokamak was not found. Build it (./dev build) or install it, or name its file in "
                f"TOKAMAK_PROGRAM. Tried:{tried}", c.ErrorCode.USAGE)


def _is_script(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"#!"
