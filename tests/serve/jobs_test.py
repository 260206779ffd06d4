#!/usr/bin/env python3
"""Long work: recordings while others come, leave and stop the server; requests of many answers. Run by CTest; by hand:
  TOKAMAK_PROGRAM=$PWD/build/release/bin/tokamak TOKAMAK_SOURCE_DIR=$PWD python3 tests/serve/jobs_test.py
"""
import io
import json
import os
import shutil
import unittest
import wave

from running_server import Reader, SLOW, Server, main, request_bytes, wait_until  # noqa: I001  it finds the others
import transcribe_test
from speak_test import SPEECH
from speech_test import form


def recording(times):
    """-> the bytes of a recording of that many seconds of sound, a pause after each."""
    with wave.open(os.path.join(SPEECH, "moonshine", "audio0.wav"), "rb") as file:
        settings, sound = file.getparams(), file.readframes(file.getnframes())
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams(settings)
        file.writeframes((sound + bytes(len(sound))) * times)
    return out.getvalue()


class LongRecordings(unittest.TestCase):
    LONG = 400  # seconds of sound, as many of pauses

    @classmethod
    def setUpClass(cls):
        cls.ears = transcribe_test.make_model("moonshine", 512)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.ears)

    def serve(self, *arguments):
        server = Server(self.ears, "--log", "off", *arguments, is_tiny=False, backend=SLOW)
        self.addCleanup(server.kill)
        return server

    def begin_long(self, server):
        """-> a socket on which a long recording has been sent, which is being written down."""
        body, headers = form(file=recording(self.LONG))
        sock = server.connect()
        self.addCleanup(sock.close)
        sock.sendall(request_bytes(path="/v1/audio/transcriptions", body=body,
                                   fields=[f"{name}: {value}" for name, value in headers.items()]))
        wait_until(lambda: server.metric("num_requests_running") == 1, what="a transcription in flight")
        return sock

    def test_a_short_one_does_not_wait_for_a_long_one(self):
        server = self.serve()
        self.begin_long(server)
        status, _, text = server.ask("POST", "/v1/audio/transcriptions", *form(file=recording(1)))
        self.assertEqual(status, 200, text)
        self.assertEqual(server.metric("num_requests_running"), 1, "the long one is in flight")

    def test_nothing_is_written_down_for_who_has_left(self):
        server = self.serve()
        self.begin_long(server).close()
        server.wait_idle()

    def test_one_under_way_ends_with_the_server(self):
        server = self.serve("--drain", 0)
        sock = self.begin_long(server)
        server.stop()
        status, _, body = Reader(sock).answer()
        self.assertEqual(status, 503)
        self.assertIn(b"cancelled by the server", body)
        self.assertEqual(server.process.wait(20), 0)


class ManyAnswers(unittest.TestCase):
    def refused(self, server, headers=None, **fields):
        """-> the message and the headers of a 429."""
        status, answered, body = server.ask("POST", "/v1/completions", {"prompt": "x", "max_tokens": 1} | fields, headers)
        self.assertEqual(status, 429, body)
        return json.loads(body)["error"]["message"], answered

    def test_a_queue_counts_answers(self):
        with Server("--log", "off", "--max-sequences", 1, "--max-queue", 4, "--context", 512, backend=SLOW) as server:
            message, headers = self.refused(server, n=6)
            self.assertIn("ask for fewer", message)
            self.assertNotIn("Retry-After", headers)
            with server.connect() as sock:
                sock.sendall(request_bytes(n=4, max_tokens=400, ignore_eos=True))
                wait_until(lambda: server.metric("num_requests_waiting") == 3, what="three that wait")
                message, headers = self.refused(server, prompt=["x", "y"])
                self.assertIn("retry later", message)
                self.assertGreaterEqual(int(headers["Retry-After"]), 1)
            server.wait_idle()
            self.assertEqual(len(server.complete(n=5, max_tokens=1)["choices"]), 5)

    def test_a_key_counts_answers(self):
        key = {"Authorization": "Bearer secret"}
        with Server("--log", "off", "--api-key", "secret", "--max-key-requests", 3, "--context", 512,
                    backend=SLOW) as server:
            self.assertIn("this key may have 3 at once", self.refused(server, key, n=4)[0])
            self.assertEqual(len(server.complete(key, n=3, max_tokens=1)["choices"]), 3)

    def test_the_prompt_of_several_answers_counts_once(self):
        with Server("--log", "off", "--context", 512) as server:
            usage = server.complete(n=3, max_tokens=1)["usage"]
            self.assertEqual(server.metric("prompt_tokens_total"), usage["prompt_tokens"])

    def test_long_bodies_are_read_elsewhere(self):
        pad = "x" * 200_000
        with Server("--log", "off", "--context", 512) as server:
            self.assertEqual(server.complete(user=pad)["choices"][0]["finish_reason"], "length")
            status, _, body = server.ask("POST", "/v1/completions", {"prompt": "x", "user": pad, "model": "none"})
            self.assertEqual((status, json.loads(body)["error"]["code"]), (404, "model_not_found"))
            status, _, body = server.ask("POST", "/api/show", {"model": "tiny", "pad": pad})
            self.assertEqual(status, 413)
            self.assertIn("at most 65536", json.loads(body)["error"])


if __name__ == "__main__":
    main(unittest)
