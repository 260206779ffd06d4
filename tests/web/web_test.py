#!/usr/bin/env python3
"""web_test.py FOLDER BROWSER [TESTS...]: the package in a tab of a headless browser, on a software driver of WebGPU.

FOLDER has the modules that tools/web/optimize.py makes; BROWSER is chromium, whose own driver it is, or firefox, which
takes Vulkan's: VK_DRIVER_FILES says which. Run by CTest in the browser build. Where the browser or the built package
(./dev check web) is missing it ends with status 77, which CTest shows as skipped.
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
MODULES = pathlib.Path(sys.argv[1])
MODEL = SOURCE / "models" / "storyteller"
MODELS = SOURCE / "tests" / "data" / "models"
GGUF = SOURCE / "tests" / "data" / "gguf"
PACKAGE = SOURCE / "web" / "tokamak-web" / "dist"
TYPES = {".html": "text/html", ".js": "text/javascript", ".json": "application/json", ".wasm": "application/wasm"}
SKIPPED = 77
# Compiling is what takes the time: a long chunk has kernels of its own, and the self-test would compile as many again.
FEW_KERNELS = {"backend": "webgpu", "chunk": 8, "context": 128, "sequences": 1, "selfTest": False, "megapixels": 0}
MODELS_OF_A_PAGE = 3  # one on busy cores takes minutes
TIMEOUT_S = 500  # the driver compiles the kernels; on busy cores that takes minutes instead of 20 s


def chromium(folder, address):
    return [PROGRAM, "--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--enable-unsafe-webgpu", "--remote-debugging-port=0",
            "--enable-logging=stderr", f"--user-data-dir={folder}", address]


# Software drivers are on the blocklist of WebGPU; the rest keeps Firefox from calling home.
PREFERENCES = {
    "dom.webgpu.enabled": True, "dom.webgpu.workers.enabled": True, "gfx.webgpu.ignore-blocklist": True,
    "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.enabled": False, "app.normandy.enabled": False, "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False, "browser.safebrowsing.update.enabled": False,
}


def firefox(folder, address):
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
    (folder / "user.js").write_text("".join(lines), encoding="utf-8")
    return [PROGRAM, "--headless", "--no-remote", "--profile", folder, address]


BROWSER = sys.argv[2]
COMMAND, NAMES = {"chromium": (chromium, ("chromium", "chromium-browser", "google-chrome")),
                  "firefox": (firefox, ("firefox-esr", "firefox"))}[BROWSER]
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)
# Mesa keeps the kernels it has compiled there, though the browser's home is another one.
os.environ.setdefault("MESA_SHADER_CACHE_DIR", os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))


class Pages(http.server.BaseHTTPRequestHandler):
    """web/, models, the modules and the page of the test; what the page posts goes to `results`."""
    results = queue.Queue()
    tasks = []

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        place = MODEL / "config.json" if path == "/no-weights/config.json" else None
        if path.startswith("/modules/") and ".." not in path:
            place = MODULES / path.removeprefix("/modules/")
        if path.startswith(("/web/", "/models/", "/tests/")) and ".." not in path:
            place = SOURCE / path[1:]
        if path != "/tasks" and (place is None or not place.is_file()):
            self.send_error(404)
            return
        body = json.dumps(self.tasks).encode() if place is None else place.read_bytes()
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
        self.send_header("Content-Type", TYPES.get(pathlib.PurePath(path).suffix, "application/octet-stream"))
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


def task(source, texts, **options):
    """A model for the page to open, and what to have it continue."""
    return {"source": source, "options": {"wasm": "/modules/tokamak_web.wasm", "cache": "none", **FEW_KERNELS, **options},
            "texts": texts}


def source_of(name):
    return f"/tests/data/gguf/{name}" if name.endswith(".gguf") else f"/tests/data/models/{name}/"


def golden_of(name):
    """What to ask a small model for, and the tokens it gives: prompts that fit in FEW_KERNELS."""
    file = GGUF / name.replace(".gguf", ".golden.json") if name.endswith(".gguf") else MODELS / name / "golden.json"
    prompts = json.loads(file.read_text(encoding="utf-8"))["prompts"]
    fitting = [one for one in prompts if len(one["ids"]) + len(one["greedy"]["ids"]) < FEW_KERNELS["context"]]
    ids = [one["greedy"]["ids"] for one in fitting]
    return {"ids": ids, "texts": [{"prompt": one["ids"], "maxTokens": len(wanted), "temperature": 0}
                                  for one, wanted in zip(fitting, ids, strict=True)]}


class Tab(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()

        golden = json.loads((SOURCE / "tests" / "data" / "storyteller" / "golden.json").read_text(encoding="utf-8"))
        cls.case = golden["cases"][0]

    def in_a_tab(self, *tasks):
        """What the page posts about opening those models and continuing those texts: one outcome for each."""
        Pages.tasks = tasks
        address = f"http://127.0.0.1:{self.server.server_port}/tests/web/page.html?tasks=/tasks"
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            profile = pathlib.Path(folder) / "profile"
            profile.mkdir()
            with open(f"{folder}/errors", "w+", encoding="utf-8") as errors, subprocess.Popen(
                    COMMAND(profile, address), stdout=subprocess.DEVNULL, stderr=errors,
                    env={**os.environ, "HOME": folder}) as browser:
                try:
                    return Pages.results.get(timeout=TIMEOUT_S)
                except queue.Empty:
                    errors.seek(0)
                    self.fail(f"The page has not answered in {TIMEOUT_S} s.\n{errors.read()[-5000:]}")
                finally:
                    browser.terminate()

    def expect_recorded_tokens(self, waiting, **options):
        case = self.case
        ask = {"prompt": case["prompt"], "maxTokens": 20, "temperature": 0}
        [found] = self.in_a_tab(task("/models/storyteller/", [ask, {**ask, "maxTokens": 64, "cancel": True}], **options))
        self.assertNotIn("failed", found, found.get("failed"))
        self.assertTrue(found["adapter"]["name"])
        self.assertEqual(found["adapter"]["waiting"], waiting)
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

    def expect_goldens(self, names, **options):
        """Each of these small models gives the tokens that transformers did, some of them one after the other in one page."""
        wanted = {name: golden_of(name) for name in names}
        found = []
        for at in range(0, len(names), MODELS_OF_A_PAGE):
            some = names[at:at + MODELS_OF_A_PAGE]
            found += self.in_a_tab(*(task(source_of(name), wanted[name]["texts"], **options) for name in some))
        for name, outcome in zip(names, found, strict=True):
            with self.subTest(name):
                self.assertNotIn("failed", outcome, outcome.get("failed"))
                self.assertTrue(wanted[name]["ids"])
                for result, ids in zip(outcome["results"], wanted[name]["ids"], strict=True):
                    # The recorded ones go on after a token that ends a text.
                    count = len(ids) if result["finish"] == "length" else len(result["ids"])
                    self.assertEqual(result["ids"], ids[:count])


class Web(Tab):
    def test_a_tab_gives_the_recorded_tokens(self):
        self.expect_recorded_tokens("jspi")

    def test_a_tab_computes_without_a_gpu(self):
        case = self.case
        ask = {"prompt": case["prompt"], "maxTokens": 60, "temperature": 0}
        # The driver is a software one, which is not taken for a GPU.
        [found] = self.in_a_tab(task("/models/storyteller/", [ask], backend="auto"))
        self.assertNotIn("failed", found, found.get("failed"))
        self.assertEqual((found["adapter"]["backend"], found["adapter"]["driver"]), ("cpu", "WebAssembly SIMD, 1 thread"))
        self.assertEqual([text for text in found["notices"] if text.startswith("No GPU found: running on the processor")],
                         found["notices"])
        self.assertEqual(len(found["notices"]), 1)
        self.assertEqual(found["results"][0]["ids"], case["greedy_ids"][:60])

    def test_a_tab_says_what_is_wrong_with_a_model(self):
        [found] = self.in_a_tab(task("/no-weights/", []))
        self.assertIn("has neither model.safetensors nor model.safetensors.index.json.", found["failed"]["message"])
        self.assertEqual(found["failed"]["code"], "invalid-input")


class Asyncify(Tab):
    def test_a_tab_gives_the_recorded_tokens(self):
        self.expect_recorded_tokens("asyncify", wait="asyncify")


class SenseTab(Tab):
    def expect_recorded_senses(self, waiting):
        """A model that sees and one that hears, on the GPU: what transformers recorded."""
        data = SOURCE / "tests" / "data"
        chat = json.loads((data / "vision/qwen3_5_vl_images/golden.json").read_text(encoding="utf-8"))["chats"][2]
        placeholder = 316
        ids = [id for at, id in enumerate(chat["ids"]) if id != placeholder or chat["ids"][at - 1] != placeholder]
        ask = {"prompt": ids, "maxTokens": 16, "temperature": 0,
               "images": [f"/tests/data/images/{name}" for name in chat["images"]]}
        case = json.loads((data / "speech/moonshine/golden.json").read_text(encoding="utf-8"))["cases"][1]
        seen, heard = self.in_a_tab(
            task("/tests/data/vision/qwen3_5_vl_images/", [ask], wait=waiting, megapixels=1 / 16, chunk=32),
            task("/tests/data/speech/moonshine/", [{"sound": f"/tests/data/speech/moonshine/{case['wav']}"}],
                 wait=waiting, context=None, chunk=None))
        for found in (seen, heard):
            self.assertNotIn("failed", found, found.get("failed"))
            self.assertEqual(found["adapter"]["waiting"], waiting)
        self.assertEqual(seen["results"][0]["ids"], chat["greedy"]["ids"])
        self.assertEqual([part["tokens"] for part in heard["results"][0]["segments"]], [case["greedy"]["ids"]])


class Senses(SenseTab):
    def test_an_image_and_a_recording_give_the_recorded_tokens(self):
        self.expect_recorded_senses("jspi")


class AsyncifySenses(SenseTab):
    def test_an_image_and_a_recording_give_the_recorded_tokens(self):
        self.expect_recorded_senses("asyncify")


# A model of every family, and of every way to store weights.
FAMILIES = ["gemma3_mm", "gemma4_moe", "gemma4_ple", "lfm2", "llama_gptq4_g128", "llama_mlx4_g64", "llama_sharded", "mistral_swa",
            "phi3_longrope", "qwen2_bias", "qwen3_5_text", "qwen3_moe", "qwen3_qknorm", "llama-q4_k_m.gguf"]


class Models(Tab):
    def test_a_small_model_of_every_family_gives_its_recorded_tokens(self):
        self.expect_goldens(FAMILIES)


class AsyncifyModels(Tab):
    def test_a_small_model_of_every_family_gives_its_recorded_tokens(self):
        self.expect_goldens(FAMILIES, wait="asyncify")


class Memory(Tab):
    def test_notes_are_kept_found_and_forgotten(self):
        notes = ["Foxes sleep by day and hunt at night.", "The spare key lies under the third pot."]
        options = {"wasm": "/web/tokamak-web/dist/tokamak_web.wasm", "backend": "cpu", "pooling": "mean"}
        [found] = self.in_a_tab({**task("/models/storyteller/", [], **options), "memory": {"notes": notes, "question": "key pot"}})
        self.assertNotIn("failed", found, found.get("failed"))
        self.assertEqual(found["memory"]["hits"][0]["text"], notes[1])
        self.assertIn("> " + notes[1], found["memory"]["context"])
        self.assertEqual(found["memory"]["forgotten"], 2)


class Loss(Tab):
    def test_a_lost_device_is_opened_again_and_nobody_notices(self):
        ask = {"prompt": self.case["prompt"], "maxTokens": 40, "temperature": 0, "lose": "now"}
        [found] = self.in_a_tab(task("/models/storyteller/", [ask], worker="/tests/web/losing_worker.js"))
        self.assertNotIn("failed", found, found.get("failed"))
        self.assertEqual(len([text for text in found["notices"] if "is lost" in text]), 1, found["notices"])
        self.assertEqual(found["events"], ["lost", "restored"])
        self.assertEqual(found["results"][0]["ids"], self.case["greedy_ids"][:40])

    def test_a_device_that_does_not_stay_is_given_up_with_its_worker_and_the_text_goes_on_in_another(self):
        ask = {"prompt": self.case["prompt"], "maxTokens": 20, "temperature": 0, "lose": "always"}
        [found] = self.in_a_tab(task("/models/storyteller/", [ask], worker="/tests/web/losing_worker.js"))
        self.assertNotIn("failed", found, found.get("failed"))
        self.assertEqual(found["events"][0], "lost")
        self.assertEqual(found["events"][-2:], ["stopped", "reopened"])
        self.assertEqual(found["results"][0]["ids"], self.case["greedy_ids"][:20])


if __name__ == "__main__":
    if PROGRAM is None and "TOKAMAK_REQUIRE_BROWSER" not in os.environ:
        print(f"There is no {BROWSER}; `./dev setup check` installs one.")
        sys.exit(SKIPPED)
    assert PROGRAM, f"TOKAMAK_REQUIRE_BROWSER is set, and there is no {BROWSER}"
    if not (PACKAGE / "worker.js").is_file():
        print("The package is not built; `./dev check web` builds it.")
        sys.exit(1 if "TOKAMAK_REQUIRE_BROWSER" in os.environ else SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
