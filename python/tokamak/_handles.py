"""Handles of the library: who uses them, who frees them, and what ends them early."""
from __future__ import annotations

import atexit
import contextlib
import functools
import os
import threading
import weakref
from typing import Any, Callable, Iterator, List, Mapping, Optional, Sequence, TypeVar

from . import _declarations as c
from ._errors import Error
from ._library import Library, encoded, library

T = TypeVar("T")

POLL_SECONDS = 0.05  # between looks for Ctrl-C, while a call waits

_callbacks = threading.local()  # how many callbacks of the library this thread is in


def in_callback() -> bool:
    """Whether this thread is the library's, or in a call of it that called back."""
    return getattr(_callbacks, "depth", 0) > 0


def called_back(function: Callable[..., T]) -> Callable[..., T]:
    """A function that the library calls: what is freed meanwhile is freed by another thread."""

    @functools.wraps(function)
    def called(*arguments: Any) -> T:
        _callbacks.depth = getattr(_callbacks, "depth", 0) + 1
        try:
            return function(*arguments)
        finally:
            _callbacks.depth -= 1

    return called


class Caught:
    """What went wrong in callbacks, whose exceptions cannot pass through the library."""

    def __init__(self) -> None:
        self.exception: Optional[BaseException] = None

    def guard(self, function: Callable[..., T], instead: T) -> Callable[..., T]:
        """The function with its exceptions kept, and `instead` as its result from then on."""

        def guarded(*arguments: Any) -> T:
            try:
                return instead if self.exception is not None else function(*arguments)
            except BaseException as exception:  # KeyboardInterrupt among them
                self.exception = exception
                return instead

        return called_back(guarded)

    def reraise(self) -> None:
        if self.exception is not None:
            exception, self.exception = self.exception, None
            raise exception


def _free(free: Callable[[int], None], handle: int, pid: int, kept: Sequence[Any]) -> None:
    """Frees a handle, and then what it kept: by another thread where this one is the library's, which would wait for
    itself; not after a fork, which has neither the handle's thread nor its device."""
    if os.getpid() != pid:
        return
    if in_callback():
        threading.Thread(target=_free_here, args=(free, handle, kept), daemon=True).start()
    else:
        _free_here(free, handle, kept)


def _free_here(free: Callable[[int], None], handle: int, _kept: Sequence[Any]) -> None:
    free(handle)


def owned(owner: Any, free: Callable[[int], None], handle: int, kept: Sequence[Any] = ()) -> Any:
    """Frees the handle when `owner` goes; the finalizer that is returned frees it at once. `kept`: callbacks that the
    library may call until then."""
    finalizer = weakref.finalize(owner, _free, free, handle, os.getpid(), kept)
    finalizer.atexit = False  # the process frees it
    return finalizer


class Owned:
    """A handle that is freed with the object: what views its memory keeps that."""

    def __init__(self, free: Callable[[int], None], handle: int) -> None:
        self.handle = handle
        owned(self, free, handle)


class ModelHandle:
    """A model of the library, with the calls that use it: it is freed when the last of them has returned."""

    def __init__(self, handle: int, kept: Sequence[Any] = ()) -> None:
        self._handle = handle
        self._pid = os.getpid()
        self._users = 0
        self._is_closed = False
        self._changed = threading.Condition(threading.Lock())
        self._finalizer = owned(self, library().model_free, handle, kept)
        _open_models.add(self)

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def check_process(self) -> None:
        if os.getpid() != self._pid:
            raise Error(f"The model was opened by process {self._pid}, of which this one, {os.getpid()}, is a fork: a fork "
                        f"has neither the model's thread nor its device. Open the model after the fork, or start processes "
                        f"by \"spawn\".", c.ErrorCode.USAGE)

    @contextlib.contextmanager
    def use(self) -> Iterator[int]:
        """The handle, which stays as long as the block runs."""
        self.check_process()
        with self._changed:
            if self._is_closed:
                raise Error("The model is closed.", c.ErrorCode.USAGE)
            self._users += 1
        try:
            yield self._handle
        finally:
            with self._changed:
                self._users -= 1
                self._changed.notify_all()

    def end(self) -> None:
        """Ends what runs as cancelled; the thread of the model is gone then. It is not freed."""
        if os.getpid() == self._pid and self._finalizer.alive:
            library().model_close(self._handle)

    def close(self) -> None:
        self.check_process()
        if in_callback():
            raise Error("A model cannot be closed by its own callback; cancel the call, and close the model where it "
                        "returns.", c.ErrorCode.USAGE)
        with self._changed:
            if self._is_closed:
                return
            self._is_closed = True
        self.end()
        with self._changed:
            self._changed.wait_for(lambda: self._users == 0)
        self._finalizer()


_open_models: "weakref.WeakSet[ModelHandle]" = weakref.WeakSet()


@atexit.register
def _end_models() -> None:
    """No thread of a model may call Python when that ends."""
    for model in list(_open_models):
        model.end()


def set_options(set_one: Any, handle: int, options: Mapping[str, Any]) -> None:
    """Sets options by their names; None leaves one as it is, and of a list each member is set."""
    own = library()
    for name, value in options.items():
        for text in _texts(name, value):
            own.checked(set_one, handle, name.encode(), encoded(text, name))


def _texts(name: str, value: Any) -> List[str]:
    if value is None:
        return []
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, (str, int, float)):
        return [str(value)]
    if isinstance(value, os.PathLike):
        return [os.fspath(value)]
    if isinstance(value, Mapping):
        return [f"{key}:{one}" for key, one in value.items()]
    if name == "end_ids":
        return [",".join(str(one) for one in value)]
    return [str(one) for one in value]


class Options:
    """A handle of options that lives as long as a block."""

    def __init__(self, kind: str, options: Mapping[str, Any]) -> None:
        own = library()
        self._free = getattr(own, f"{kind}_free")
        self.handle: int = getattr(own, f"{kind}_new")()
        try:
            set_options(getattr(own, f"{kind}_set"), self.handle, options)
        except BaseException:
            self._free(self.handle)
            raise

    def __enter__(self) -> int:
        return self.handle

    def __exit__(self, *_: object) -> None:
        self._free(self.handle)


def interruptible(cancel: Callable[[], None], call: Callable[[], T]) -> T:
    """The result of a call that blocks. Ctrl-C cancels it: only the main thread receives that, and only between two
    steps of Python, so that another thread makes the call for it."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    results: List[T] = []
    problems: List[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=run, name="tokamak-call", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(POLL_SECONDS)
    except BaseException:
        cancel()
        thread.join()
        raise
    if problems:
        raise problems[0]
    return results[0]


class Step:
    """A callback between the steps of a call, which cancels it when that is asked for, or where another callback has
    failed."""

    def __init__(self, caught: Optional[Caught] = None) -> None:
        self.is_cancelled = False

        def is_over(_: Any) -> bool:
            return self.is_cancelled or (caught is not None and caught.exception is not None)

        self.function = c.Cancelled(called_back(is_over))

    def cancel(self) -> None:
        self.is_cancelled = True


def blocking(kind: str, options: Mapping[str, Any], call: Callable[[Library, int], T]) -> T:
    """The result of `call` with options of that kind, whose steps can be cancelled."""
    own = library()
    step = Step()
    with Options(kind, options) as handle:
        getattr(own, f"{kind}_on_step")(handle, step.function, None)
        return interruptible(step.cancel, lambda: call(own, handle))
