#!/usr/bin/env python3
"""A server with a model that hears and one that speaks: which of them answers, codecs and voices. Run by CTest; by hand:
  TOKAMAK_PROGRAM=$PWD/build/release/bin/tokamak TOKAMAK_SOURCE_DIR=$PWD python3 tests/serve/speech_test.py
"""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from running_server import PROGRAM, Server, main  # noqa: I001  it finds the others
import speak_test
import transcribe_test
from speak_test import RATE, SPEECH

CODEC = os.path.join(SPEECH, "nanocodec")


def form(**fields):
    """-> body and headers of a form."""
    parts = b"".join(b'--line\r\nContent-Disposition: form-data; name="%s"; filename="a"\r\n\r\n%s\r\n' % (name.encode(), value)
                     for name, value in fields.items())
    return parts + b"--line--\r\n", {"Content-Type": "multipart/form-data; boundary=line"}


class Speech(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.parent = tempfile.mkdtemp()
        cls.mouth = speak_test.make_model(cls.parent)
        cls.ears = transcribe_test.make_model("moonshine", 512)
        cls.voice = os.path.join(cls.parent, "anna.json")
        with open(cls.voice, "w", encoding="utf-8") as file:
            json.dump([0.2 if i % 3 else -0.2 for i in range(24)], file)
        cls.server = Server(cls.ears, cls.mouth, "--codec", CODEC, "--voice", f"anna={cls.voice}", "--context", "64",
                            "--log", "off", is_tiny=False)

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()
        shutil.rmtree(cls.parent)
        shutil.rmtree(cls.ears)

    def speak(self, status=200, **fields):
        found, headers, body = self.server.ask("POST", "/v1/audio/speech",
                                               {"input": "Hello.", "response_format": "pcm", "seed": 1} | fields)
        self.assertEqual(found, status, body[:200])
        return headers, body

    def refused(self, mention, *arguments):
        """The server does not start."""
        run = subprocess.run([PROGRAM, "serve", *arguments, "--backend", "cpu", "--port", "0"], capture_output=True,
                             timeout=60, check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn(mention, run.stderr.decode())

    def test_requests_without_a_model_go_to_the_one_that_does_it(self):
        headers, sound = self.speak()
        self.assertEqual(headers["content-type"], "audio/pcm")
        self.assertGreater(len(sound), RATE // 100)
        with open(os.path.join(SPEECH, "moonshine", "audio0.wav"), "rb") as file:
            body, headers = form(file=file.read(), response_format=b"json")
        status, _, text = self.server.ask("POST", "/v1/audio/transcriptions", body, headers)
        self.assertEqual(status, 200, text)
        self.assertRegex(json.loads(text)["text"], r"^<\d+>( <\d+>)+$")

    def test_voices_have_names(self):
        own, hers = self.speak(voice="default")[1], self.speak(voice="anna")[1]
        self.assertNotEqual(own, hers)
        with open(self.voice, encoding="utf-8") as file:
            self.assertEqual(self.speak(voice=json.load(file))[1], hers)
        self.assertIn(b"expected default, anna", self.speak(400, voice="alloy")[1])
        self.assertEqual(json.loads(self.server.get("/v1/audio/voices")[2]), {"voices": ["default", "anna"]})

    def test_sound_comes_in_the_formats_of_its_clients(self):
        for name, kind, mark in (("wav", "audio/wav", b"RIFF"), ("flac", "audio/flac", b"fLaC"), ("opus", "audio/ogg", b"OggS")):
            headers, body = self.speak(response_format=name)
            self.assertEqual((headers["content-type"], body[:4]), (kind, mark))

    def test_what_is_wrong_shows_at_the_start(self):
        self.refused("--codec is for models that speak", self.ears, "--codec", CODEC)
        self.refused("no codec", self.mouth, "--codec", self.ears)
        self.refused("no codec", self.mouth)
        self.refused("No such file", self.mouth, "--codec", CODEC, "--voice", "anna=none.json")
        self.refused('Two voices are called "a"', self.mouth, "--voice", f"a={self.voice}", "--voice", f"a={self.voice}")
        self.refused("expected NAME=FILE", self.mouth, "--voice", "anna")


if __name__ == "__main__":
    main(unittest)
