"""A model on a device."""
from __future__ import annotations

import ctypes
import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from . import _declarations as c
from ._arrays import Array, ids_of, memory_at, room_for, row_of, rows_of
from ._errors import Error
from ._handles import Caught, ModelHandle, Options, Owned, blocking, called_back
from ._library import encoded, library
from ._openai import OpenAI
from ._run import RequestOptions, Run, is_plain, start
from ._sound import Segment, Speech, Transcript, speak, transcribe

if TYPE_CHECKING:
    from typing_extensions import Unpack

    PathLike = os.PathLike[str]

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?(:[\w./-]+)?")


@dataclass(frozen=True)
class Progress:
    """How far opening a model or fetching one is; as text a line for a person."""

    #: look up, wait, fetch, check; files, weights, kernels.
    phase: str
    #: Of a fetch: the file, or why it waits.
    text: str = ""
    #: Bytes, of `total`; 0 where they do not count.
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        part = f"{self.done / 1e6:.1f} of {self.total / 1e6:.1f} MB" if self.total else ""
        return " ".join(word for word in (self.phase, self.text, part) if word)


#: False cancels; anything else, and so what print() gives, goes on.
OnProgress = Callable[[Progress], object]


@dataclass(frozen=True)
class Details:
    """A description of a model that was opened."""

    name: str
    architecture: str
    device: str
    context: int
    sequences: int
    #: Tokens that there are.
    vocabulary: int
    #: Numbers of an embedding; 0: the model generates text.
    dimensions: int
    #: Names for the `prompt` of Model.embed().
    embed_prompts: List[str]
    device_bytes: int


def _texts_of(texts: Sequence[str], name: str) -> Any:
    return (ctypes.c_char_p * len(texts))(*(encoded(text, name) for text in texts))


class Model:
    """A model on a device; open() makes one. Any number of threads may use it at once.

    It closes at the end of a `with` block, by close(), and when nothing refers to it any more.
    """

    def __init__(self, handle: int, kept: Sequence[Any] = ()) -> None:
        self._handle = ModelHandle(handle, kept)
        found = json.loads(library().model_details(handle))
        #: What the model is and how it was opened.
        self.details = Details(**{name: found[name] for name in Details.__dataclass_fields__})
        #: OpenAI's client without a server.
        self.openai = OpenAI(self._handle)

    def __repr__(self) -> str:
        state = "closed" if self._handle.is_closed else f"on {self.details.device}"
        return f"<tokamak.Model {self.details.name} {state}>"

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends everything that runs as cancelled, and frees the model; later calls are errors."""
        self._handle.close()

    def generate(self, prompt: Union[str, Sequence[int]], **options: "Unpack[RequestOptions]") -> Run:
        """Continues a text, or tokens as they are. Returns at once."""
        asked: Dict[str, Any] = dict(options)
        if isinstance(prompt, str):
            return start(self._handle, _request({**asked, "prompt": prompt}))
        return start(self._handle, _request(asked), ids=prompt)

    def chat(self, messages: Sequence[Mapping[str, Any]], *, tools: Optional[Sequence[Mapping[str, Any]]] = None,
             template: Optional[Mapping[str, Any]] = None, **options: "Unpack[RequestOptions]") -> Run:
        """Answers a chat. Messages have a role and a content, and may have images: paths of files, or their bytes.
        `template`: further variables of the model's chat template, such as enable_thinking. Returns at once."""
        asked: Dict[str, Any] = dict(options)
        variables: Dict[str, Any] = dict(template or {})
        if tools is not None:
            variables["tools"] = list(tools)
        are_plain = all(is_plain(message) for message in messages)
        if not are_plain:
            if any("images" in message for message in messages):
                raise Error("A message has images, and one has more than a role and a text; images go with plain messages "
                            "only. Model.openai takes both.", c.ErrorCode.USAGE)
            variables["messages"] = list(messages)
        if variables:
            asked["chat_variables"] = json.dumps(variables)
        return start(self._handle, _request(asked), messages=messages if are_plain else ())

    def tokenize(self, text: str, *, add_special: bool = True) -> List[int]:
        """The tokens of a text; `add_special`: with what the tokenizer puts around it, <bos> for example."""
        own, count = library(), ctypes.c_size_t()
        with self._handle.use() as handle:
            ids = own.checked(own.model_tokenize, handle, encoded(text, "text"), add_special, ctypes.byref(count))
        try:
            return list(ids[:count.value])
        finally:
            own.ids_free(ids)

    def detokenize(self, ids: Sequence[int]) -> str:
        """The text of tokens."""
        own, tokens = library(), ids_of(ids)
        with self._handle.use() as handle:
            return own.text(own.model_detokenize, handle, tokens, len(tokens))

    def render(self, messages: Sequence[Mapping[str, Any]], *, tools: Optional[Sequence[Mapping[str, Any]]] = None,
               add_generation_prompt: bool = True, **variables: Any) -> str:
        """The text that the model's chat template makes of a chat."""
        own = library()
        given = {**variables, "messages": list(messages), "add_generation_prompt": add_generation_prompt}
        if tools is not None:
            given["tools"] = list(tools)
        with self._handle.use() as handle:
            return own.text(own.model_render_chat, handle, encoded(json.dumps(given), "messages"))

    def embed(self, texts: Union[str, Sequence[str]], *, prompt: Optional[str] = None, dimensions: int = 0,
              normalize: Optional[bool] = None, truncate: bool = False) -> Array:
        """A vector for a text, or a row for each of several. `prompt`: the name of one of details.embed_prompts, "": none;
        `dimensions`: only the first of the numbers; `truncate`: cut what does not fit, instead of an error."""
        given = [texts] if isinstance(texts, str) else list(texts)
        options = {"prompt": prompt, "dimensions": dimensions, "normalize": normalize, "truncate": truncate}
        asked = _texts_of(given, "text")
        with self._handle.use() as handle:
            made: int = blocking("embed_options", options, lambda own, how: own.checked(
                own.model_embed, handle, asked, len(given), how))
        own, rows, columns = library(), ctypes.c_size_t(), ctypes.c_size_t()
        vectors = Owned(own.vectors_free, made)
        pointer = own.vectors_data(made, ctypes.byref(rows), ctypes.byref(columns))
        memory = memory_at(pointer, rows.value * columns.value, vectors)
        if isinstance(texts, str):
            return row_of(memory)
        return rows_of(memory, rows.value, columns.value)

    def embed_sparse(self, texts: Union[str, Sequence[str]], *, prompt: Optional[str] = None,
                     truncate: bool = False) -> Union[Dict[int, float], List[Dict[int, float]]]:
        """The weights of a text's tokens by their ids, or those of each of several, of models that make sparse vectors,
        as BGE-M3 does."""
        given = [texts] if isinstance(texts, str) else list(texts)
        asked = _texts_of(given, "text")
        with self._handle.use() as handle:
            made: int = blocking("embed_options", {"prompt": prompt, "truncate": truncate}, lambda own, how: own.checked(
                own.model_embed_sparse, handle, asked, len(given), how))
        own, count = library(), ctypes.c_size_t()
        owned, vectors = Owned(own.sparse_vectors_free, made), []
        for i in range(len(given)):
            tokens = own.sparse_vectors_at(made, i, ctypes.byref(count))
            vectors.append({tokens[k].id: tokens[k].weight for k in range(count.value)})
        del owned
        return vectors[0] if isinstance(texts, str) else vectors

    def rerank(self, query: str, documents: Sequence[str], *, instruction: Optional[str] = None,
               truncate: bool = False) -> Array:
        """How well each document answers the query: more is better."""
        asked, scores = _texts_of(documents, "document"), room_for(len(documents))
        question = encoded(query, "query")
        with self._handle.use() as handle:
            blocking("rerank_options", {"instruction": instruction, "truncate": truncate}, lambda own, how: own.checked(
                own.model_rerank, handle, question, asked, len(documents), how, scores))
        return row_of(scores)

    def logits(self, ids: Sequence[int], *, last: bool = True, adapter: str = "") -> Array:
        """The logits after the last of some tokens, before any rule of sampling; with last=False a row for each."""
        tokens, columns = ids_of(ids), self.details.vocabulary
        numbers = room_for(columns if last else columns * len(tokens))
        with self._handle.use() as handle:
            blocking("logits_options", {"all": not last, "adapter": adapter}, lambda own, how: own.checked(
                own.model_logits, handle, tokens, len(tokens), how, numbers, len(numbers)))
        return row_of(numbers) if last else rows_of(numbers, len(tokens), columns)

    def transcribe(self, recording: Union[str, PathLike, bytes, Sequence[float]], *, language: str = "",
                   translate: bool = False, prompt: str = "", temperature: float = 0, fallback: bool = True,
                   timestamps: bool = True, seed: int = 0,
                   on_segment: Optional[Callable[[Segment], object]] = None) -> Transcript:
        """Writes down what is said in a file of sound, in its bytes, or in samples of one channel at 16 kHz.
        `on_segment` receives each part as soon as it is there, by another thread."""
        return transcribe(self._handle, recording, on_segment, {
            "language": language, "translate": translate, "prompt": prompt, "temperature": temperature,
            "fallback": fallback, "timestamps": timestamps, "seed": seed})

    def speak(self, text: str, *, codec: str = "", speaker: Optional[Sequence[float]] = None, language: str = "",
              max_tokens: Optional[int] = None, temperature: Optional[float] = None, top_k: Optional[int] = None,
              top_p: Optional[float] = None, repetition_penalty: Optional[float] = None, seed: Optional[int] = None,
              on_samples: Optional[Callable[[Array, int], object]] = None) -> Speech:
        """Speaks a text. `on_samples` receives samples and their rate while they are made, by another thread."""
        return speak(self._handle, text, speaker, on_samples, {
            "codec": codec, "language": language, "max_tokens": max_tokens, "temperature": temperature, "top_k": top_k,
            "top_p": top_p, "repetition_penalty": repetition_penalty, "seed": seed})


def _request(options: Dict[str, Any]) -> Dict[str, Any]:
    if isinstance(options.get("json_schema"), Mapping):
        options["json_schema"] = json.dumps(options["json_schema"])
    return options


def _progress(caught: Caught, on_progress: Optional[OnProgress]) -> Callable[[Progress], bool]:
    return caught.guard(lambda progress: on_progress is None or on_progress(progress) is not False, False)


def pull(name: str, *, on_progress: Optional[OnProgress] = None) -> str:
    """Fetches what is missing of a model, org/name[@revision][:file or quantization], and gives its path."""
    own, caught = library(), Caught()
    report = _progress(caught, on_progress)

    def take(_: Any, stage: int, text: bytes, done: int, total: int) -> bool:
        phase = c.PullStage(stage).name.lower().replace("_", " ")
        return report(Progress(phase, text.decode(errors="replace"), done, total))

    try:
        return own.text(own.pull_model, encoded(name, "name"), c.PullProgress(take), None)
    finally:
        caught.reraise()


def _is_missing(model: str) -> bool:
    """Whether it names a model of the hub that is not in the cache."""
    if os.path.exists(model) or not _REPOSITORY.fullmatch(model):
        return False
    own = library()
    try:
        own.text(own.locate_model, encoded(model, "model"))
    except Error:
        return True
    return False


def open(model: Union[str, PathLike] = "", *, pull_missing: bool = True, backend: str = "auto", device: Optional[int] = None,
         gpus: Sequence[int] = (), split: str = "auto", threads: Optional[int] = None, context: Optional[int] = None,
         sequences: Optional[int] = None, cache_tokens: Optional[int] = None, memory: str = "", kv: str = "auto", precision: str = "auto",
         quantize: str = "", image_pixels: int = 0, projector: Union[str, PathLike] = "", batch_invariant: bool = False, speculate: str = "",
         draft: str = "", adapters: Sequence[str] = (), pooling: str = "", on_progress: Optional[OnProgress] = None,
         on_notice: Optional[Callable[[str], object]] = None) -> Model:
    """Opens a model: a folder, a .gguf file or org/name in the Hugging Face cache; "": the built-in one.

    `pull_missing`: fetches org/name where it is not in the cache. `on_progress` is called now and then; False cancels.
    `on_notice` receives what a person should know, a sentence at a time, as long as the model lives, also by its thread.
    The other options are those of the C interface; docs/python.md has them.
    """
    name = os.fspath(model)
    if pull_missing and _is_missing(name):
        try:
            pull(name, on_progress=on_progress)
        except Error as problem:
            raise Error(f"{name} is not in the cache and cannot be fetched: {problem}", problem.code) from None
    own, caught = library(), Caught()
    report = _progress(caught, on_progress)

    def progress(_: Any, phase: int, done: int, total: int) -> bool:
        return report(Progress(c.LoadPhase(phase).name.lower(), "", done, total))

    def tell(_: Any, text: bytes) -> None:
        if on_notice is not None:
            on_notice(text.decode(errors="replace"))

    notice = c.Notice(called_back(tell))
    on_load = c.Progress(progress)
    options = {"model": name, "backend": backend, "device": device, "gpus": [str(gpu) for gpu in gpus], "split": split,
               "threads": threads, "context": context, "sequences": sequences, "cache_tokens": cache_tokens, "memory": memory, "kv": kv, "precision": precision, "quantize": quantize,
               "image_pixels": image_pixels, "projector": os.fspath(projector), "batch_invariant": batch_invariant,
               "speculate": speculate, "draft": draft, "adapter": adapters, "pooling": pooling}
    with Options("options", options) as handle:
        own.options_on_progress(handle, on_load, None)
        if on_notice is not None:
            own.options_on_notice(handle, notice, None)
        try:
            made = Model(own.checked(own.model_open, handle), kept=[notice])
        finally:
            caught.reraise()
    return made


def list_devices() -> List[Dict[str, Any]]:
    """The devices that there are: backend, number (the option `device`), name, driver, is_software."""
    own = library()
    found: List[Dict[str, Any]] = json.loads(own.text(own.list_devices))
    return found


def list_models() -> List[Dict[str, Any]]:
    """The models in the Hugging Face cache: name, commit, revisions, folder, files, bytes, partial_bytes, missing."""
    own = library()
    found: List[Dict[str, Any]] = json.loads(own.text(own.list_models))
    return found


def version() -> str:
    """The version of the library."""
    text: bytes = library().version()
    return text.decode()
