"""Streams of the library for loops: `for` waits in slices, `async for` is woken by the model's thread."""
from __future__ import annotations

import asyncio
import threading
from typing import Any, AsyncIterator, Generic, Iterator, List, Optional, Tuple, TypeVar

from . import _declarations as c
from ._errors import Error
from ._handles import POLL_SECONDS, ModelHandle, called_back, in_callback, owned
from ._library import library

T = TypeVar("T")
Own = TypeVar("Own", bound="Waiting[Any]")


class Waiting(Generic[T]):
    """An iterator and an asynchronous iterator over a handle of kind "stream" or "call".

    Leaving a `with` block, close(), cancelling the task that iterates, Ctrl-C and dropping the object cancel it.
    """

    def __init__(self, model: ModelHandle, kind: str, handle: int) -> None:
        own = library()
        self._model = model
        self._handle = handle
        self._next = getattr(own, f"{kind}_next")
        self._cancel = getattr(own, f"{kind}_cancel")
        self._on_ready = getattr(own, f"{kind}_on_ready")
        self._lock = threading.Lock()  # a handle is for one thread at a time
        self._has_ended = False
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._ready: Any = None  # made by the loop that waits
        self._callbacks: List[Any] = []  # which outlive the handle and must not keep it
        self._finalizer = owned(self, getattr(own, f"{kind}_free"), handle, self._callbacks)

    def _room(self) -> Any:
        """The struct that the next piece is written to."""
        raise NotImplementedError

    def _made(self, room: Any) -> T:
        """The piece in that struct."""
        raise NotImplementedError

    def _finished(self) -> None:
        """Called once, when there is no more; raises the error that ended it."""

    def cancel(self) -> None:
        """Asks the model to stop after the step in flight. What has come by then stays. Any thread may call it."""
        self._model.check_process()
        self._cancel(self._handle)

    def close(self) -> None:
        """Cancels; a stream that has ended stays as it is."""
        if not self._has_ended:
            self.cancel()

    def __enter__(self: Own) -> Own:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[T]:
        return self

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    def __next__(self) -> T:
        try:
            while True:
                found, piece = self._take(POLL_SECONDS)
                if found == c.Next.PIECE:
                    return piece
                if found == c.Next.END:
                    raise StopIteration
        except KeyboardInterrupt:
            self.cancel()
            raise

    async def __anext__(self) -> T:
        self._listen()
        try:
            while True:
                self._ready.clear()
                found, piece = self._take(0)
                if found == c.Next.PIECE:
                    return piece
                if found == c.Next.END:
                    raise StopAsyncIteration
                await self._ready.wait()
        except (asyncio.CancelledError, KeyboardInterrupt):
            self.cancel()
            raise

    def _take(self, timeout: float) -> Tuple[int, Any]:
        """The kind of what has come, and the piece."""
        self._model.check_process()
        if in_callback() and timeout > 0:
            raise Error("A callback of a model cannot wait for its answer.", c.ErrorCode.USAGE)
        with self._lock:
            if self._has_ended:
                return c.Next.END, None
            room = self._room()
            found = self._next(self._handle, timeout, room)
            if found == c.Next.PIECE:
                return found, self._made(room)
            if found == c.Next.END:
                self._has_ended = True
                self._finished()
        return found, None

    def _listen(self) -> None:
        """Has the running loop woken."""
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        ready = asyncio.Event()

        def ring(_: Any) -> None:
            try:
                loop.call_soon_threadsafe(ready.set)
            except RuntimeError:
                pass  # the loop is closed: nobody waits there

        self._loop, self._ready = loop, ready
        self._callbacks.append(c.Ready(called_back(ring)))
        self._on_ready(self._handle, self._callbacks[-1], None)
