"""Calls of OpenAI's protocol without a server: the answers are those of `tokamak serve`."""
from __future__ import annotations

import ctypes
import json
from typing import Any, Dict, Iterator, Optional, Union

from . import _declarations as c
from ._errors import AnswerError
from ._handles import ModelHandle
from ._library import encoded, library
from ._waiting import Waiting

_CODES = {404: c.ErrorCode.USAGE, 405: c.ErrorCode.USAGE, 501: c.ErrorCode.UNSUPPORTED, 503: c.ErrorCode.CANCELLED,
          507: c.ErrorCode.OUT_OF_MEMORY}


class Object(Dict[str, Any]):
    """A JSON object, whose members are attributes, too: answer.choices[0].message.content."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"The answer has no \"{name}\", but {', '.join(self) or 'nothing'}.") from None


def _parsed(text: Union[str, bytes]) -> Any:
    return json.loads(text, object_hook=Object)


def _error(status: int, answer: Any) -> AnswerError:
    found = answer.get("error", answer) if isinstance(answer, dict) else answer
    message = found.get("message", "") if isinstance(found, dict) else str(found)
    code = _CODES.get(status, c.ErrorCode.INVALID_INPUT if status < 500 else c.ErrorCode.DEVICE)
    return AnswerError(message or json.dumps(answer), code, status)


class Answer(Waiting[Any]):
    """The parts of an answer: objects, or bytes of what is no JSON; an error of the service is raised."""

    def __init__(self, model: ModelHandle, handle: int) -> None:
        super().__init__(model, "call", handle)
        self._is_cancelled = False

    def cancel(self) -> None:
        self._is_cancelled = True
        super().cancel()

    def _room(self) -> Any:
        return c.AnswerPart(size=ctypes.sizeof(c.AnswerPart))

    def _made(self, room: Any) -> Any:
        content = ctypes.string_at(room.bytes, room.count)
        kind = ctypes.string_at(room.content_type) if room.content_type else b""
        if not kind.startswith((b"application/json", b"application/x-ndjson", b"text/event-stream")):
            return content
        answer = _parsed(content)
        if room.status >= 400:
            raise _error(room.status, answer)
        if isinstance(answer, dict) and answer.get("error") and set(answer) <= {"error", "type"}:
            raise _error(503 if self._is_cancelled else 500, answer)
        return answer


def call(model: ModelHandle, path: str, body: Optional[Dict[str, Any]]) -> Answer:
    own = library()
    text = None if body is None else encoded(json.dumps(body), "body")
    with model.use() as handle:
        return Answer(model, own.checked(own.model_call, handle, encoded(path, "path"), text))


class _Resource:
    def __init__(self, model: ModelHandle, path: str) -> None:
        self._model = model
        self._path = path

    def create(self, *, stream: bool = False, **fields: Any) -> Any:
        """Asks with the fields of the request that docs/openai.md lists. `stream`: an iterator of events, for `for` and
        `async for`; else the answer, with its members as attributes."""
        # The name of the model is what clients of a server have to give: here there is one.
        body = {name: value for name, value in fields.items() if name != "model" or value is not None}
        if stream:
            body["stream"] = True
        answer = call(self._model, self._path, body)
        if stream:
            return answer
        with answer:
            parts = list(answer)
        return b"".join(parts) if parts and isinstance(parts[0], bytes) else parts[0]


class _Models:
    def __init__(self, model: ModelHandle) -> None:
        self._model = model

    def list(self) -> Any:
        """The model and its adapters."""
        return next(call(self._model, "/v1/models", None))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.list().data)


class _Chat:
    def __init__(self, model: ModelHandle) -> None:
        self.completions = _Resource(model, "/v1/chat/completions")


class _Audio:
    def __init__(self, model: ModelHandle) -> None:
        self.speech = _Resource(model, "/v1/audio/speech")


class OpenAI:
    """The shape of OpenAI's client: chat.completions, completions, responses, embeddings, audio.speech, models."""

    def __init__(self, model: ModelHandle) -> None:
        self._model = model
        self.chat = _Chat(model)
        self.completions = _Resource(model, "/v1/completions")
        self.responses = _Resource(model, "/v1/responses")
        self.embeddings = _Resource(model, "/v1/embeddings")
        self.audio = _Audio(model)
        self.models = _Models(model)

    def call(self, path: str, body: Optional[Dict[str, Any]] = None) -> Answer:
        """The answer to any path that the server has, such as "/v1/messages", part by part."""
        return call(self._model, path, body)
