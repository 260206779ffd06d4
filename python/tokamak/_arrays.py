"""Numbers of the library as numpy's arrays, or as lists where there is no numpy."""
from __future__ import annotations

import array
import ctypes
from typing import TYPE_CHECKING, Any, Sequence

from . import _declarations as c
from ._errors import Error

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

if TYPE_CHECKING:
    import numpy.typing

    #: A numpy array of float32, or lists of float of the same shape where numpy is not installed.
    Array = numpy.typing.NDArray[numpy.float32]
else:
    Array = Any


def ids_of(tokens: Sequence[int]) -> Any:
    """Token ids as the library takes them."""
    try:
        return (ctypes.c_uint32 * len(tokens)).from_buffer(array.array("I", [int(token) for token in tokens]))
    except OverflowError as problem:
        raise Error(f"A token id is no number from 0 to 4294967295: {problem}.", c.ErrorCode.INVALID_INPUT) from None


def floats_of(samples: Any) -> Any:
    """Numbers as the library takes them, without a copy where they are an array of float32."""
    if numpy is not None:
        made: Any = numpy.require(samples, dtype=numpy.float32, requirements=["C", "W"])
        if made.ndim != 1:
            raise Error(f"The samples have {made.ndim} dimensions, expected one: a single channel.", c.ErrorCode.USAGE)
        return (ctypes.c_float * len(made)).from_buffer(memoryview(made))
    numbers = array.array("f", samples)
    return (ctypes.c_float * len(numbers)).from_buffer(numbers)


def room_for(count: int) -> Any:
    """Memory for that many numbers, which the library writes."""
    return (ctypes.c_float * count)()


def rows_of(numbers: Any, rows: int, columns: int) -> Any:
    """The memory of `rows` rows: an array that keeps it, or lists."""
    if numpy is not None:
        return numpy.frombuffer(numbers, dtype=numpy.float32).reshape(rows, columns)
    return [list(numbers[row * columns:(row + 1) * columns]) for row in range(rows)]


def row_of(numbers: Any) -> Any:
    """The memory as one row."""
    return numpy.frombuffer(numbers, dtype=numpy.float32) if numpy is not None else list(numbers)


def memory_at(pointer: Any, count: int, owner: Any) -> Any:
    """The library's numbers at a pointer, which `owner` keeps."""
    if count == 0:
        return room_for(0)
    numbers: Any = (ctypes.c_float * count).from_address(ctypes.addressof(pointer.contents))
    numbers._owner = owner
    return numbers
