#!/usr/bin/env python3
"""web_test.py MODULE [TESTS...]: the package in a tab of a headless Chromium, with its software driver of WebGPU.

Run by CTest in the browser build. Without a Chromium or the built package (./dev check web) it ends with status 77,
which CTest shows as skipped.
"""
import http.server
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MODULE = pathlib.Path(sys.argv[1])
MODEL = SOURCE / "models" / "storyteller"
PACKAGE = SOURCE / "web" / "tokamak-web" / "dist"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ("--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--enable-unsafe-webgpu")
TYPES = {".html": "text/html", ".js": "text/javascript", ".json": "application/json", ".wasm": "application/wasm"}
SKIPPED = 77
TIMEOUT_S = 500  # the driver compiles the kernels; on busy cores that takes minutes instead of 20 s


class Pages(http.server.BaseHTTPRequestHandler):
    """web/, the model, the module and the page of the test; what the page posts goes to `results`."""
    results = queue.Queue()

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        place = {"/tokamak_web.wasm": MODULE, "/no-weights/config.json": MODEL / "config.json"}.get(path)
        if path.startswith(("/web/", "/models/", "/tests/web/")) and ".." not in path:
            place = SOURCE / path[1:]
        if place is None or not place.is_file():
            self.send_error(404)
            return
        body = place.read_bytes()
        size = len(body)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked:
            first, last = int(asked[1]), min(int(asked[2] or size - 1), size - 1)
            body = body[first:last + 1]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        else:
            self.send_response(200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Type", TYPES.get(place.suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET

    def do_POST(self):
        self.results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Tab(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()

        golden = json.loads((SOURCE / "tests" / "data" / "storyteller" / "golden.json").read_text(encoding="utf-8"))
        cls.case = golden["cases"][0]

    def in_a_tab(self, source, texts, **options):
        """What the page posts about opening that model and continuing those texts."""
        # The self-test would compile as many kernels again, and a long chunk has kernels of its own.
        options = {"wasm": "/tokamak_web.wasm", "cache": "none", "selfTest": False, "chunk": 8, **options}
        task = {"source": source, "options": options, "texts": texts}
        address = "http://127.0.0.1:{}/tests/web/page.html?{}".format(
            self.server.server_port, urllib.parse.urlencode({"task": json.dumps(task)}))
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            with open(f"{folder}/errors", "w+", encoding="utf-8") as errors, subprocess.Popen(
                    [CHROMIUM, *FLAGS, f"--user-data-dir={folder}/profile", "--remote-debugging-port=0",
                     "--enable-logging=stderr", address],
                    stdout=subprocess.DEVNULL, stderr=errors) as browser:
                try:
                    return Pages.results.get(timeout=TIMEOUT_S)
                except queue.Empty:
                    errors.seek(0)
                    self.fail(f"The page has not answered in {TIMEOUT_S} s.\n{errors.read()[-5000:]}")
                finally:
                    browser.terminate()


class Web(Tab):
    def test_a_tab_gives_the_recorded_tokens(self):
        case = self.case
        ask = {"prompt": case["prompt"], "maxTokens": 20, "temperature": 0}
        found = self.in_a_tab("/models/storyteller/", [ask, {**ask, "maxTokens": 64, "cancel": True}])
        self.assertNotIn("failed", found, found.get("failed"))
        self.assertTrue(found["adapter"]["name"])
        self.assertEqual(found["adapter"]["waiting"], "jspi")
        self.assertEqual(found["overall"], sorted(found["overall"]))
        self.assertEqual(found["overall"][-1], 1)
        whole, cancelled = found["results"]
        self.assertEqual(whole["ids"], case["greedy_ids"][:20])
        self.assertEqual(whole["finish"], "length")
        self.assertEqual("".join(whole["pieces"]), whole["text"])
        self.assertGreater(len(whole["pieces"]), 1, "the text streams")
        self.assertTrue(case["greedy_text"].startswith(whole["text"].rstrip()), whole["text"])
        count = len(cancelled["ids"])
        self.assertLess(count, 64, "the second text ends where it is cancelled")
        self.assertEqual(cancelled["finish"], "cancelled")
        self.assertEqual(cancelled["ids"], case["greedy_ids"][:count])

    def test_a_tab_computes_without_a_gpu(self):
        case = self.case
        found = self.in_a_tab("/models/storyteller/", [{"prompt": case["prompt"], "maxTokens": 5, "temperature": 0}],
                              backend="cpu")
        self.assertNotIn("failed", found, found.get("failed"))
        self.assertEqual(found["results"][0]["ids"], case["greedy_ids"][:5])

    def test_a_tab_says_what_is_wrong_with_a_model(self):
        found = self.in_a_tab("/no-weights/", [])
        self.assertIn("has neither model.safetensors nor model.safetensors.index.json.", found["failed"]["message"])
        self.assertEqual(found["failed"]["code"], "invalid-input")


class Loss(Tab):
    def test_a_lost_device_is_opened_again_and_nobody_notices(self):
        ask = {"prompt": self.case["prompt"], "maxTokens": 40, "temperature": 0, "lose": True}
        found = self.in_a_tab("/models/storyteller/", [ask], worker="/tests/web/losing_worker.js")
        self.assertNotIn("failed", found, found.get("failed"))
        self.assertEqual(len([text for text in found["notices"] if "is lost" in text]), 1, found["notices"])
        self.assertEqual(found["events"], ["lost", "restored"])
        self.assertEqual(found["results"][0]["ids"], self.case["greedy_ids"][:40])


if __name__ == "__main__":
    if CHROMIUM is None and "TOKAMAK_REQUIRE_BROWSER" not in os.environ:
        print("There is no Chromium; `./dev setup check` installs one.")
        sys.exit(SKIPPED)
    assert CHROMIUM, "TOKAMAK_REQUIRE_BROWSER is set, and there is no Chromium"
    if not (PACKAGE / "worker.js").is_file():
        print("The package is not built; `./dev check web` builds it.")
        sys.exit(1 if "TOKAMAK_REQUIRE_BROWSER" in os.environ else SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
