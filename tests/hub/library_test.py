#!/usr/bin/env python3
"""tokamak/c_hub.h against a hub on this machine: what was pulled is listed and located, a pull can be cancelled.

Run by CTest; by hand:
  TOKAMAK_LIBRARY=$PWD/build/release/lib/libtokamak.so TOKAMAK_SOURCE_DIR=$PWD python3 tests/hub/library_test.py
"""
import ctypes
import json
import os
import pathlib
import tempfile
import unittest

from hub_server import COMMIT, Hub, Repo

CANCELLED, LOOK_UP = 6, 0  # of tokamak_error_code, of tokamak_pull_stage
PROGRESS = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64)


class Library:
    """The functions of c_hub.h, whose texts come back as str and whose errors are raised."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.tokamak_error_message.restype = ctypes.c_char_p
        for name in ("error_message", "error_get_code", "error_free", "text_free"):
            getattr(self.library, f"tokamak_{name}").argtypes = [ctypes.c_void_p]

    def text(self, name, *arguments):
        function = getattr(self.library, f"tokamak_{name}")
        function.restype = ctypes.c_void_p
        error = ctypes.c_void_p()
        found = function(*arguments, ctypes.byref(error))
        if error:
            code = self.library.tokamak_error_get_code(error)
            message = self.library.tokamak_error_message(error).decode()
            self.library.tokamak_error_free(error)
            raise OSError(code, message)
        text = ctypes.string_at(found).decode()
        self.library.tokamak_text_free(found)
        return text

    def pull(self, name, progress=None):
        return self.text("pull_model", name.encode(), PROGRESS(progress) if progress else None, None)


class Pull(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = Library(os.environ["TOKAMAK_LIBRARY"])

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        source = pathlib.Path(os.environ["TOKAMAK_SOURCE_DIR"], "tests", "data", "models", "llama_untied")
        files = {p.name: p.read_bytes() for p in source.iterdir() if not p.name.startswith("golden")}
        hub = Hub(org__name=Repo(files, large=["model.safetensors"]))
        self.addCleanup(hub.close)
        for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_TOKEN", "HF_HUB_OFFLINE", "http_proxy", "HTTP_PROXY"):
            os.environ.pop(name, None)
        os.environ.update(HF_HOME=folder.name, HOME=folder.name, HF_ENDPOINT=hub.endpoint)

    def test_brings_a_model_that_is_listed_and_located(self):
        self.assertEqual(json.loads(self.library.text("list_models")), [])
        seen = []
        path = self.library.pull("org/name", lambda _, stage, text, done, total: seen.append((stage, done, total)) or True)
        self.assertTrue(os.path.exists(os.path.join(path, "config.json")), path)
        self.assertEqual(seen[0][0], LOOK_UP, seen)
        self.assertTrue(all(done <= total for _, done, total in seen), seen)
        [stored] = json.loads(self.library.text("list_models"))
        self.assertEqual((stored["name"], stored["commit"], stored["revisions"]), ("org/name", COMMIT, ["main"]))
        self.assertEqual((stored["folder"], stored["missing"]), (path, ""))
        self.assertIn("model.safetensors", stored["files"])
        self.assertEqual(self.library.text("locate_model", b"org/name"), path)

    def test_can_be_cancelled(self):
        with self.assertRaises(OSError) as raised:
            self.library.pull("org/name", lambda *_: False)
        self.assertEqual(raised.exception.errno, CANCELLED, raised.exception)

    def test_names_what_is_not_there(self):
        with self.assertRaisesRegex(OSError, "org/absent"):
            self.library.pull("org/absent")
        with self.assertRaisesRegex(OSError, "tokamak pull org/absent"):
            self.library.text("locate_model", b"org/absent")

    def test_devices_end_with_the_cpu(self):
        devices = json.loads(self.library.text("list_devices"))
        self.assertEqual(devices[-1]["backend"], "cpu")
        self.assertEqual(devices[-1]["is_software"], False)


if __name__ == "__main__":
    unittest.main()
