#!/usr/bin/env python3
"""Several models in one server: which are in memory, and who waits for whom. Run by CTest; by hand:
  TOKAMAK_PROGRAM=$PWD/build/release/bin/tokamak TOKAMAK_SOURCE_DIR=$PWD python3 tests/serve/models_test.py
"""
import json
import os
import subprocess
import tempfile
import threading
import unittest

import tiny_model
from running_server import PROGRAM, Reader, SLOW, Server, completion, events, main, request_bytes, wait_until


def folders(root, names):
    """A tiny model in a folder for each name."""
    for name in names:
        os.mkdir(os.path.join(root, name))
        tiny_model.write(os.path.join(root, name))
    return [os.path.join(root, name) for name in names]


class Models(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.paths = folders(self.folder.name, "abc")

    def tearDown(self):
        self.folder.cleanup()

    def serve(self, *arguments, names="abc", context=512):
        server = Server(*self.paths[:len(names)], "--log", "off", "--context", context, *arguments, is_tiny=False,
                        backend=SLOW)
        self.addCleanup(server.kill)
        return server

    @staticmethod
    def loaded(server):
        return {one["name"]: one for one in json.loads(server.get("/api/ps")[2])["models"]}

    def error_of(self, server, status, path, body):
        found, headers, text = server.ask("POST", path, body)
        self.assertEqual(found, status, text)
        return json.loads(text)["error"], headers

    def ollama(self, server, **fields):
        status, _, body = server.ask("POST", "/api/generate", {"model": "a", "stream": False} | fields)
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def hold_busy(self, server, model, tokens=480):
        """A connection with a long answer of the model in flight, which ends with the connection."""
        sock = server.connect()
        self.addCleanup(sock.close)
        sock.sendall(request_bytes(model=model, stream=True, max_tokens=tokens, ignore_eos=True))
        reader = Reader(sock)
        self.assertEqual(reader.head()[0], 200)
        return sock, reader

    def test_a_context_is_a_limit_of_each_model(self):
        config = os.path.join(self.paths[0], "config.json")
        with open(config, encoding="utf-8") as file:
            small = json.load(file) | {"max_position_embeddings": 1024}
        with open(config, "w", encoding="utf-8") as file:
            json.dump(small, file)
        server = self.serve(names="ab", context=1 << 20)
        for name, context in (("a", 1024), ("b", 2048)):
            self.assertEqual(server.complete(model=name, max_tokens=1)["model"], name)
            models = {one["id"]: one for one in json.loads(server.get("/v1/models")[2])["data"]}
            self.assertEqual(models[name]["max_model_len"], context)
        alone = subprocess.run([PROGRAM, "serve", self.paths[0], "--backend", "cpu", "--context", str(1 << 20), "--port", "0"],
                               capture_output=True, timeout=60)
        self.assertEqual(alone.returncode, 2)

    def test_all_are_listed_and_loaded_when_they_are_asked_for(self):
        server = self.serve("--alias", f"small={self.paths[1]}", "--alias", f"other={self.paths[1]}")
        names = ["a", "small", "other", "c"]
        listed = json.loads(server.get("/v1/models")[2])["data"]
        self.assertEqual([one["id"] for one in listed], names)
        self.assertEqual([one["max_model_len"] for one in listed], [512] * 4, "known before they are loaded")
        tags = json.loads(server.get("/api/tags")[2])["models"]
        self.assertEqual([one["name"] for one in tags], names)
        self.assertGreater(tags[3]["size"], 0)
        self.assertEqual(list(self.loaded(server)), ["a"])
        self.assertEqual(server.complete()["model"], "a")
        self.assertEqual(server.complete(model="other")["model"], "small")
        self.assertEqual(list(self.loaded(server)), ["a", "small"])
        shown = json.loads(server.ask("POST", "/api/show", {"model": "c"})[2])
        self.assertIn("completion", shown["capabilities"])
        self.assertEqual(list(self.loaded(server)), ["a", "small"], "nothing is loaded to be shown")
        for path, body in (("/v1/completions", completion(model="x")), ("/tokenize", {"content": "x", "model": "x"})):
            error, _ = self.error_of(server, 404, path, body)
            self.assertEqual(error["message"], 'There is no model "x", but "a", "small", "other", "c".')
        self.assertEqual(server.get("/v1/models/x")[0], 404)
        self.assertEqual(json.loads(server.get("/v1/models/small")[2])["id"], "small")
        self.assertEqual(server.metric("generation_tokens_total", 'model_name="small"'), 8)
        self.assertEqual(server.metric("model_loaded", 'model_name="c"'), 0)
        self.assertEqual(server.metric("model_loaded"), 2)

    def test_the_least_recently_used_one_leaves(self):
        server = self.serve("--max-loaded", 2, "--slots")
        for model in "ab":
            server.complete(model=model)
        server.complete(model="a")
        server.complete(model="c")
        self.assertEqual(sorted(self.loaded(server)), ["a", "c"])
        self.assertEqual(server.complete(model="b")["choices"][0]["text"], server.complete(model="c")["choices"][0]["text"])
        self.assertEqual(server.metric("model_loads_total", 'model_name="b"'), 2)
        server.wait_logged("Unloading b.")

    def test_what_is_pinned_stays(self):
        server = self.serve("--max-loaded", 1, "--pin", "a", names="ab")
        error, headers = self.error_of(server, 503, "/v1/completions", completion(model="b"))
        self.assertIn("pinned", error["message"])
        self.assertGreaterEqual(int(headers["Retry-After"]), 1)
        self.assertEqual(list(self.loaded(server)), ["a"])
        self.assertEqual(server.complete()["model"], "a")

    def test_memory_is_a_limit_as_the_number_is(self):
        alone = self.serve("--max-sequences", 1, names="a")
        size = self.loaded(alone)["a"]["size"]
        server = self.serve("--max-memory", 2 * size + size // 4, "--max-sequences", 1)
        for model in "abca":
            self.assertEqual(server.complete(model=model)["model"], model)
        self.assertEqual(sorted(self.loaded(server)), ["a", "c"])
        self.assertEqual(server.metric("model_loads_total"), 4)

    def test_requests_wait_for_a_busy_model_to_end_and_others_go_on(self):
        server = self.serve("--max-loaded", 2, "--pin", "a", "--slots")
        sock, reader = self.hold_busy(server, "b")
        answers = []

        def ask():
            answers.append(server.complete(model="c", max_tokens=2))
        thread = threading.Thread(target=ask)
        thread.start()
        wait_until(lambda: server.metric("num_requests_waiting", 'model_name="c"') == 1, what="a request that waits")
        self.assertEqual(server.complete(model="a")["model"], "a")
        states = {one["model"]: one["state"] for one in json.loads(server.get("/slots")[2])["slots"]}
        self.assertEqual(states, {"b": "answering", "c": "waiting"})
        self.assertEqual(self.loaded(server)["b"]["state"], "leaving")
        self.assertEqual(answers, [])
        sock.close()
        thread.join(30)
        self.assertEqual(answers[0]["model"], "c")
        self.assertEqual(sorted(self.loaded(server)), ["a", "c"])

    def test_models_that_take_turns_answer_all(self):
        server = self.serve("--max-loaded", 1)
        answers = []
        threads = [threading.Thread(target=lambda model=model: answers.append(
            server.complete(model=model, max_tokens=3)["model"])) for model in "abcabcabcabc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(sorted(answers), sorted("abcabcabcabc"))
        self.assertLess(server.metric("model_loads_total"), 12)

    def test_a_client_that_leaves_while_it_waits_changes_nothing(self):
        server = self.serve("--max-loaded", 1, names="ab")
        sock, reader = self.hold_busy(server, "a")
        waits = server.connect()
        waits.sendall(request_bytes(model="b"))
        wait_until(lambda: server.metric("num_requests_waiting", 'model_name="b"') == 1, what="a request that waits")
        waits.close()
        wait_until(lambda: server.metric("num_requests_waiting", 'model_name="b"') == 0, what="nobody who waits")
        self.assertEqual(self.loaded(server)["a"]["state"], "loaded")
        self.assertEqual(server.complete(model="a", max_tokens=2)["model"], "a")
        sock.close()

    def test_a_queue_for_a_model_has_its_limit(self):
        server = self.serve("--max-loaded", 1, "--max-sequences", 1, "--max-queue", 1, names="ab")
        self.hold_busy(server, "a")
        socks = [server.connect() for _ in range(2)]
        for sock in socks:
            sock.sendall(request_bytes(model="b"))
        wait_until(lambda: server.metric("num_requests_waiting", 'model_name="b"') == 2, what="a queue")
        error, headers = self.error_of(server, 503, "/v1/completions", completion(model="b"))
        self.assertEqual(error["code"], "queue_full")
        self.assertIn("Retry-After", headers)
        for sock in socks:
            sock.close()

    def test_a_load_that_fails_is_an_error_of_its_requests_alone(self):
        weights = os.path.join(self.paths[1], "model.safetensors")
        with open(weights, "r+b") as file:
            right = file.read()
            file.truncate(1000)
        server = self.serve(names="ab")
        server.wait_logged("note: b cannot be loaded as it is")
        for _ in range(2):
            error, _ = self.error_of(server, 500, "/v1/completions", completion(model="b"))
            self.assertIn('The model "b" cannot be loaded: b/model.safetensors', error["message"])
            self.assertNotIn(self.folder.name, error["message"])
        self.assertEqual(server.complete()["model"], "a")
        with open(weights, "wb") as file:
            file.write(right)
        self.assertEqual(server.complete(model="b")["model"], "b", "every request tries anew")

    def test_keep_alive_of_ollama(self):
        server = self.serve(names="ab")
        self.ollama(server, prompt="x", keep_alive=0, options={"num_predict": 2})
        wait_until(lambda: not self.loaded(server), what="an empty memory")
        self.assertEqual(self.ollama(server, keep_alive="1h")["done_reason"], "load")
        found = self.loaded(server)["a"]
        self.assertTrue(3500 < found["expires_seconds"] <= 3600, found)
        self.assertEqual(self.ollama(server, keep_alive="0s")["done_reason"], "unload")
        wait_until(lambda: not self.loaded(server), what="an empty memory")
        self.assertEqual(self.ollama(server, keep_alive=0)["done_reason"], "unload")
        self.assertEqual(server.metric("model_loads_total"), 2, "nothing is loaded to be unloaded")
        self.ollama(server, keep_alive=-1)
        self.assertTrue(self.loaded(server)["a"]["pinned"])
        self.ollama(server, keep_alive=0.3)
        wait_until(lambda: not self.loaded(server), 5, "the end of its time")
        error, _ = self.error_of(server, 400, "/api/generate", {"model": "a", "keep_alive": "soon"})
        self.assertIn("keep_alive", error)

    def test_one_model_alone_stays_unless_it_need_not(self):
        server = self.serve(names="a")
        self.ollama(server, prompt="x", keep_alive=0, options={"num_predict": 2})
        self.assertEqual(self.ollama(server, keep_alive=0)["done_reason"], "load")
        self.assertEqual(list(self.loaded(server)), ["a"])
        server = self.serve("--keep-alive", "0.2", names="a")
        wait_until(lambda: not self.loaded(server), 5, "the end of its time")
        self.assertEqual(server.get("/health")[0], 200)
        self.assertEqual(server.complete()["model"], "a")

    def test_stopping_ends_requests_of_all_models(self):
        server = self.serve("--max-loaded", 2, "--drain", "0.3", context=2000)
        readers = [self.hold_busy(server, model, 1900)[1] for model in "ab"]
        waits = server.connect()
        self.addCleanup(waits.close)
        waits.sendall(request_bytes(model="c"))
        wait_until(lambda: server.metric("num_requests_waiting", 'model_name="c"') == 1, what="a request that waits")
        server.stop()
        for reader in readers:
            last = events(b"".join(iter(reader.chunk, b"")))[-1]
            self.assertIn("cancelled by the server", json.loads(last)["error"]["message"])
        status, _, body = Reader(waits).answer()
        self.assertEqual((status, json.loads(body)["error"]["message"]),
                         (503, "The request was cancelled by the server."))
        self.assertEqual(server.process.wait(10), 0)

    def test_ps_shows_what_is_in_memory(self):
        server = self.serve("--pin", "a", "--keep-alive", "1h", names="ab")
        server.complete(model="b")
        url = f"http://127.0.0.1:{server.port}/"

        def ps(*arguments, status=0):
            ran = subprocess.run([PROGRAM, "ps", *arguments], capture_output=True, timeout=60,
                                 env=os.environ | {"http_proxy": "http://127.0.0.1:1"})
            self.assertEqual(ran.returncode, status, ran.stderr)
            return (ran.stderr if status else ran.stdout).decode()
        lines = ps("--url", url).splitlines()
        self.assertEqual(lines[0].split()[:4], ["model", "size", "device", "context"])
        self.assertRegex(lines[1], r"^a .* 512 +loaded +0 +0 +\d+ s +pinned$")
        self.assertRegex(lines[2], r"^b .* 512 +loaded +0 +0 +\d+ s +in 60 min$")
        self.assertEqual([one["name"] for one in json.loads(ps("--url", url, "--json"))], ["a", "b"])
        server.kill()
        self.assertIn(f"No server listens at {url[:-1]}", ps("--url", url, status=3))
        server = self.serve(names="ab")
        self.assertRegex(ps("--url", f"http://127.0.0.1:{server.port}").splitlines()[1], " when room is needed$")

    def test_names_that_make_no_sense(self):
        def refused(*arguments):
            ran = subprocess.run([PROGRAM, "serve", "--backend", "cpu", "--port", "0", *arguments],
                                 capture_output=True, timeout=60)
            self.assertEqual(ran.returncode, 2, ran.stderr)
            return ran.stderr.decode()
        a, b, _ = self.paths
        self.assertIn('Two models are called "a"', refused(a, b, "--alias", f"a={b}"))
        self.assertIn("--pin", refused(a, "--pin", "b"))
        self.assertIn("--preload", refused(a, b, "--preload", "--max-loaded", "1"))
        self.assertIn("--keep-alive", refused(a, "--keep-alive", "soon"))
        self.assertIn("--alias", refused(a, "--alias", "=x"))


if __name__ == "__main__":
    main(unittest)
