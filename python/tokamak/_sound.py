"""Recordings to transcripts, and texts to speech."""
from __future__ import annotations

import ctypes
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, List, Mapping, Optional, Union

from . import _declarations as c
from ._arrays import Array, floats_of, memory_at, row_of
from ._handles import Caught, ModelHandle, Options, Owned, Step, interruptible
from ._library import encoded, library, text_at

if TYPE_CHECKING:
    PathLike = os.PathLike[str]


@dataclass(frozen=True)
class Segment:
    """A part of a transcript, usually a sentence or a breath; seconds from the beginning."""

    start: float
    end: float
    text: str


class Transcript:
    """What was said in a recording."""

    def __init__(self, handle: int) -> None:
        self._owned = Owned(library().transcript_free, handle)
        found = json.loads(self.format("json"))
        self.text: str = found["text"]
        #: As "en"; "" where it is not known.
        self.language: str = found.get("language", "")
        self.segments: List[Segment] = [Segment(one["start"], one["end"], one["text"]) for one in found.get("segments", [])]

    def format(self, format: str) -> str:
        """The transcript as text, json, srt or vtt."""
        own = library()
        text: bytes = own.checked(own.transcript_format, self._owned.handle, encoded(format, "format"))
        return text.decode()

    def __str__(self) -> str:
        return self.text


def transcribe(model: ModelHandle, recording: Any, on_segment: Optional[Callable[[Segment], object]],
               options: Mapping[str, Any]) -> Transcript:
    own = library()
    caught = Caught()
    step = Step(caught)

    def take(_: Any, start: float, end: float, text: bytes) -> None:
        if on_segment is not None:
            on_segment(Segment(start, end, text.decode(errors="replace")))

    segment = c.Segment(caught.guard(take, None))
    if isinstance(recording, (str, os.PathLike)):
        with open(recording, "rb") as file:
            recording = file.read()
    is_file = isinstance(recording, (bytes, bytearray))
    sound: Any = bytes(recording) if is_file else floats_of(recording)
    call = own.model_transcribe if is_file else own.model_transcribe_samples
    with Options("transcribe_options", options) as how, model.use() as handle:
        own.transcribe_options_on_step(how, step.function, None)
        own.transcribe_options_on_segment(how, segment, None)
        try:
            made: int = interruptible(step.cancel, lambda: own.checked(call, handle, sound, len(sound), how))
        finally:
            caught.reraise()
    return Transcript(made)


class Speech:
    """A text as sound."""

    def __init__(self, handle: int) -> None:
        self._owned = Owned(library().speech_free, handle)
        own, count, rate = library(), ctypes.c_size_t(), ctypes.c_uint32()
        pointer = own.speech_samples(handle, ctypes.byref(count), ctypes.byref(rate))
        #: Samples a second.
        self.rate: int = rate.value
        #: Samples of one channel, mostly from -1 to 1.
        self.samples: Array = row_of(memory_at(pointer, count.value, self._owned))

    def encode(self, format: str = "wav") -> bytes:
        """The bytes of a file: wav, flac, opus, mp3 or pcm."""
        own, count = library(), ctypes.c_size_t()
        pointer = own.checked(own.speech_encode, self._owned.handle, encoded(format, "format"), ctypes.byref(count))
        return ctypes.string_at(pointer, count.value)

    def save(self, path: Union[str, PathLike]) -> None:
        """Writes a file of sound, in the format that its name ends with."""
        sound = self.encode(os.path.splitext(os.fspath(path))[1][1:].lower() or "wav")
        with open(path, "wb") as file:
            file.write(sound)


def speak(model: ModelHandle, text: str, speaker: Any, on_samples: Optional[Callable[[Array, int], object]],
          options: Mapping[str, Any]) -> Speech:
    own = library()
    caught = Caught()
    step = Step(caught)

    def take(_: Any, samples: Any, count: int, rate: int) -> None:
        if on_samples is not None:
            # The library's memory ends with the call.
            on_samples(row_of((ctypes.c_float * count)(*samples[:count])), rate)

    receiver = c.Samples(caught.guard(take, None))
    with Options("speak_options", options) as how, model.use() as handle:
        if speaker is not None:
            numbers = floats_of(speaker)
            own.checked(own.speak_options_set_speaker, how, numbers, len(numbers))
        own.speak_options_on_step(how, step.function, None)
        own.speak_options_on_samples(how, receiver, None)
        said = encoded(text, "text")
        try:
            made: int = interruptible(step.cancel, lambda: own.checked(own.model_speak, handle, said, how))
        finally:
            caught.reraise()
    return Speech(made)
