"""`tokamak serve` as a child of this process."""
from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import weakref
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, List, Optional, Sequence, Type, Union

from . import _declarations as c
from ._errors import Error
from ._library import program

if TYPE_CHECKING:
    PathLike = os.PathLike[str]

_LISTENING = re.compile(r"Listening on (\S+)")
_STOP_SECONDS = 10


def _stop(process: "subprocess.Popen[str]", log: IO[str], pid: int) -> None:
    """Ends the server: kindly, and where it does not go, at once."""
    if os.getpid() != pid:
        return
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    log.close()
    if process.stdout is not None:
        process.stdout.close()


class Server:
    """A server, which ends with its `with` block, by close(), or with this process."""

    def __init__(self, command: Sequence[str]) -> None:
        self._log: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._log,
                                         text=True)
        self._finalizer = weakref.finalize(self, _stop, self._process, self._log, os.getpid())
        try:
            #: The address, such as http://127.0.0.1:8080.
            self.url: str = self._address()
        except BaseException:
            self.close()
            raise

    def _address(self) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = _LISTENING.search(line)
            if found:
                return found[1]
        status = self._process.wait()
        raise Error(f"The server ended with {status} before it listened: {self.log().strip()}", c.ErrorCode.INVALID_INPUT)

    def log(self) -> str:
        """What the server has written on its standard error so far; "" once it is closed."""
        if self._log.closed:
            return ""
        self._log.seek(0)
        return self._log.read()

    def close(self) -> None:
        """Ends the server."""
        self._finalizer()

    def __enter__(self) -> str:
        return self.url

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


def _flags(options: Any) -> List[str]:
    """Options as flags: max_sequences=4 is --max-sequences 4, and of a list each member has one."""
    flags: List[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            flags.append(flag)
        elif value is not None and value is not False:
            each = value if isinstance(value, (list, tuple)) else [value]
            flags += [text for one in each for text in (flag, os.fspath(one) if isinstance(one, os.PathLike) else str(one))]
    return flags


def serve(model: Union[str, PathLike, Sequence[Union[str, PathLike]]] = (), *, port: int = 0, host: str = "127.0.0.1",
          drain: float = 1, **options: Any) -> Server:
    """Starts `tokamak serve` for a model or several, and returns when it listens.

    Other options are those of the program with underscores: max_sequences=4, api_key_file="keys", backend="cpu". Port 0
    is one that is free. The server is a process of its own, with a copy of the model of its own.
    """
    one_model = isinstance(model, (str, os.PathLike))
    models: List[Any] = [model] if one_model and model else [] if one_model else list(model)  # type: ignore[arg-type]
    given = {"host": host, "port": port, "drain": drain, **options}
    return Server([program(), "serve", *map(os.fspath, models), *_flags(given)])
