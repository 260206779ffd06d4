#!/usr/bin/env python3
"""stream.py LIBRARY [MODEL [PROMPT [BACKEND]]]: examples/stream through ctypes.

LIBRARY is libtokamak.so, MODEL a folder, or "" for the model that is installed with Tokamak.
"""
import ctypes
import sys
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_float, c_size_t, c_uint32, c_void_p


class Piece(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("text", c_void_p), ("text_bytes", c_size_t), ("ids", POINTER(c_uint32)),
                ("logprobs", POINTER(c_float)), ("count", c_size_t)]


# The types of each function's arguments and result; without them ctypes cuts handles to 32 bits.
FUNCTIONS = {
    "error_message": (c_char_p, c_void_p),
    "error_free": (None, c_void_p),
    "options_new": (c_void_p,),
    "options_set": (c_bool, c_void_p, c_char_p, c_char_p, c_void_p),
    "options_free": (None, c_void_p),
    "model_open": (c_void_p, c_void_p, c_void_p),
    "model_start": (c_void_p, c_void_p, c_void_p, c_void_p),
    "model_free": (None, c_void_p),
    "request_new": (c_void_p,),
    "request_set": (c_bool, c_void_p, c_char_p, c_char_p, c_void_p),
    "request_free": (None, c_void_p),
    "stream_next": (ctypes.c_int, c_void_p, c_double, POINTER(Piece)),
    "stream_free": (None, c_void_p),
}


class Library:
    def __init__(self, path):
        library = ctypes.CDLL(path)
        for name, (result, *arguments) in FUNCTIONS.items():
            function = getattr(library, f"tokamak_{name}")
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def checked(self, function, *arguments):
        """Calls a function that has an error as its last parameter."""
        error = c_void_p()
        result = function(*arguments, byref(error))
        if error:
            message = self.error_message(error).decode()
            self.error_free(error)
            raise RuntimeError(message)
        return result

    def filled(self, handle, set_one, values):
        for name, value in values.items():
            self.checked(set_one, handle, name.encode(), value.encode())
        return handle

    def stream(self, model, request):
        stream = self.checked(self.model_start, model, request)
        piece = Piece(size=ctypes.sizeof(Piece))
        while self.stream_next(stream, -1, byref(piece)) == 1:
            yield ctypes.string_at(piece.text, piece.text_bytes).decode()
        self.stream_free(stream)


def main(path, model="", prompt="Once upon a time", backend="auto"):
    library = Library(path)
    options = library.filled(library.options_new(), library.options_set,
                             {"model": model, "backend": backend})
    opened = library.checked(library.model_open, options)
    request = library.filled(library.request_new(), library.request_set,
                             {"prompt": prompt, "max_tokens": "32", "temperature": "0"})
    for text in library.stream(opened, request):
        print(text, end="", flush=True)
    print()
    library.request_free(request)
    library.model_free(opened)
    library.options_free(options)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except RuntimeError as problem:
        sys.exit(f"error: {problem}")
