"""Tokamak in Python: language, embedding and speech models on the GPU at hand, or on the processor.

    import tokamak
    with tokamak.open("Qwen/Qwen3-0.6B") as model:
        for piece in model.chat([{"role": "user", "content": "Why is the sky blue?"}], max_tokens=200):
            print(piece, end="", flush=True)

docs/python.md describes it.
"""
from ._declarations import ErrorCode
from ._errors import AnswerError, Error
from ._model import Details, Model, Progress, list_devices, list_models, open, pull, version
from ._openai import Answer, Object, OpenAI
from ._run import Piece, RequestOptions, Result, Run
from ._server import Server, serve
from ._sound import Segment, Speech, Transcript

__all__ = ["Answer", "AnswerError", "Details", "Error", "ErrorCode", "Model", "Object", "OpenAI", "Piece", "Progress",
           "RequestOptions", "Result", "Run", "Segment", "Server", "Speech", "Transcript", "list_devices", "list_models",
           "open", "pull", "serve", "version"]
