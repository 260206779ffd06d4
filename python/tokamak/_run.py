"""Text that a model writes."""
from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass, field
from typing import Any, List, Mapping, Optional, Sequence, Tuple, TypedDict, Union

from . import _declarations as c
from ._arrays import ids_of
from ._handles import ModelHandle, Options, interruptible
from ._library import encoded, library, text_at
from ._waiting import Waiting

Top = List[List[Tuple[int, float]]]  # of each place: ids and logarithms of probabilities, best first


class RequestOptions(TypedDict, total=False):
    """Options of Model.generate() and Model.chat(); docs/python.md describes them."""

    suffix: str
    max_tokens: int
    temperature: float
    top_k: int
    top_p: float
    min_p: float
    typical_p: float
    repetition_penalty: float
    presence_penalty: float
    frequency_penalty: float
    logit_bias: Mapping[int, float]
    seed: int
    stop: Union[str, Sequence[str]]
    end_ids: Sequence[int]
    min_tokens: int
    logprobs: bool
    top_logprobs: int
    prompt_logprobs: bool
    grammar: str
    json_schema: Union[str, Mapping[str, Any]]
    regex: str
    choices: Sequence[str]
    separate_reasoning: bool
    priority: int
    deadline: float
    tenant: str
    adapter: str


class Piece(str):
    """The text since the last piece, with its tokens."""

    #: The tokens that the text is made of.
    ids: List[int]
    #: Natural logarithms of their probabilities; None where they were not asked for.
    logprobs: Optional[List[float]]
    #: The most probable tokens in place of each; None where top_logprobs is 0.
    top_logprobs: Optional[Top]
    #: With separate_reasoning: that came before the text.
    reasoning: str


@dataclass(frozen=True)
class Result:
    """A text that has ended."""

    text: str
    ids: List[int]
    #: end, stop, length, context, cancelled or grammar.
    finish: str
    #: The stop string that was met, or "".
    stop: str
    #: With it in the request, the same text again.
    seed: int
    prompt_tokens: int
    #: Tokens of the prompt that did not run again.
    cached_tokens: int
    prefill_seconds: float
    decode_seconds: float
    reasoning: str = ""
    #: With prompt_logprobs: ids and logarithms of the prompt's tokens but the first.
    prompt_logprobs: List[Tuple[int, float]] = field(default_factory=list)
    prompt_top_logprobs: Top = field(default_factory=list)


def _pairs(pointer: Any, count: int) -> List[Tuple[int, float]]:
    return [(pointer[i].id, pointer[i].logprob) for i in range(count)] if pointer else []


def _tops(pointer: Any, places: int, count: int) -> Top:
    all_pairs = _pairs(pointer, places * count)
    # A logarithm of -inf fills a place where fewer tokens can come.
    return [[pair for pair in all_pairs[i * count:(i + 1) * count] if pair[1] != -float("inf")] for i in range(places)]


class Run(Waiting[Piece]):
    """A text on its way, for one thread at a time.

    `for piece in run` and `async for piece in run` give it piece by piece; `run.text` and `run.result` wait for the
    whole. What is not read is kept.
    """

    def __init__(self, model: ModelHandle, handle: int) -> None:
        super().__init__(model, "stream", handle)
        self._result: Optional[Result] = None

    @property
    def text(self) -> str:
        """The whole text, for which it waits."""
        return self.result.text

    @property
    def result(self) -> Result:
        """The text with what is known of it, for which it waits. Being cancelled is no error."""
        if self._result is None:
            self._model.check_process()
            with self._lock:
                self._result = interruptible(self.cancel, self._read_result)
        return self._result

    def __str__(self) -> str:
        return self.text

    def _room(self) -> Any:
        return c.Piece(size=ctypes.sizeof(c.Piece))

    def _made(self, room: Any) -> Piece:
        piece = Piece(text_at(room.text, room.text_bytes))
        piece.ids = room.ids[:room.count] if room.count else []
        piece.logprobs = room.logprobs[:room.count] if room.logprobs else None
        piece.top_logprobs = _tops(room.top, room.count, room.top_count) if room.top else None
        piece.reasoning = text_at(room.reasoning, room.reasoning_bytes)
        return piece

    def _finished(self) -> None:
        self._result = self._result or self._read_result()

    def _read_result(self) -> Result:
        own = c.Result(size=ctypes.sizeof(c.Result))
        library().checked(library().stream_result, self._handle, own)
        return Result(text=text_at(own.text, own.text_bytes), ids=own.ids[:own.count] if own.count else [],
                      finish=text_at(own.finish), stop=text_at(own.stop), seed=own.seed, prompt_tokens=own.prompt_tokens,
                      cached_tokens=own.cached_tokens, prefill_seconds=own.prefill_seconds,
                      decode_seconds=own.decode_seconds, reasoning=text_at(own.reasoning, own.reasoning_bytes),
                      prompt_logprobs=_pairs(own.prompt_logprobs, own.prompt_logprob_count),
                      prompt_top_logprobs=_tops(own.prompt_top, own.prompt_logprob_count, own.prompt_top_count))


def start(model: ModelHandle, options: Mapping[str, Any], ids: Optional[Sequence[int]] = None,
          messages: Sequence[Mapping[str, Any]] = ()) -> Run:
    """Begins a request. `messages` are plain: a role, a text, and images that stand before it."""
    own = library()
    with Options("request", options) as request:
        if ids is not None:
            tokens = ids_of(ids)
            own.checked(own.request_set_ids, request, tokens, len(tokens))
        for message in messages:
            own.checked(own.request_add_message, request, encoded(message["role"], "role"),
                        encoded(message["content"], "content"))
            for image in message.get("images", ()):
                if isinstance(image, (str, os.PathLike)):
                    own.checked(own.request_add_image_file, request, encoded(os.fspath(image), "image"))
                else:
                    own.checked(own.request_add_image, request, bytes(image), len(image))
        with model.use() as handle:
            return Run(model, own.checked(own.model_start, handle, request))


def is_plain(message: Mapping[str, Any]) -> bool:
    """Whether a message has no more than a role, a text and images."""
    return set(message) <= {"role", "content", "images"} and all(isinstance(message.get(key), str) for key in ("role", "content"))
