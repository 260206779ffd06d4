"""The errors that the package raises."""
from __future__ import annotations

from ._declarations import ErrorCode


class Error(RuntimeError):
    """A failure of the library; its text names the thing, what was found and what was expected.

    `code` says what kind of failure it is.
    """

    def __init__(self, message: str, code: ErrorCode = ErrorCode.USAGE) -> None:
        super().__init__(message)
        self.code = code


class AnswerError(Error):
    """An answer of the OpenAI service that is an error, with its HTTP status."""

    def __init__(self, message: str, code: ErrorCode, status: int) -> None:
        super().__init__(message, code)
        self.status = status
