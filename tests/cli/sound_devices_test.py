#!/usr/bin/env python3
"""The microphone and the loudspeaker of `speak`, `transcribe` and `talk`: files, by fake_portaudio.cpp.

Run by CTest; by hand as cli_test.py, with the folder of the fake library in LD_LIBRARY_PATH.
"""
import array
import math
import os
import shutil
import signal
import subprocess
import tempfile
import unittest
import wave

import program
import speak_test
import transcribe_test
from cli_test import CPU, STORYTELLER, Cli
from speak_test import SPEECH

RECORDING = os.path.join(SPEECH, "moonshine", "audio0.wav")


class SoundDevices(Cli):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.mouth = speak_test.make_model(cls.folder)
        cls.ears = transcribe_test.make_model("moonshine", 512, lambda i: chr(97 + i // 26) + chr(97 + i % 26))
        with wave.open(RECORDING) as file:
            samples = array.array("h", file.readframes(file.getnframes()))
        cls.microphone = os.path.join(cls.folder, "microphone")
        with open(cls.microphone, "wb") as file:
            array.array("f", (sample / 32768 for sample in samples)).tofile(file)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)
        shutil.rmtree(cls.ears)

    def setUp(self):
        self.loudspeaker = os.path.join(self.folder, self.id())
        for name, path in (("FAKE_MICROPHONE", self.microphone), ("FAKE_LOUDSPEAKER", self.loudspeaker)):
            os.environ[name] = path
            self.addCleanup(os.environ.pop, name, None)

    def played(self):
        """The samples from the first to the last that is no silence."""
        samples = array.array("f")
        with open(self.loudspeaker, "rb") as file:
            samples.frombytes(file.read())
        heard = [i for i, sample in enumerate(samples) if sample != 0]
        return samples[heard[0]:heard[-1] + 1] if heard else []

    def until_interrupted(self, *arguments, has_enough):
        """Ends the program by Ctrl-C once `has_enough` of its output; -> its output."""
        with subprocess.Popen([program.PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            text = ""
            while not has_enough(text):
                more = os.read(child.stdout.fileno(), 4096).decode()
                self.assertTrue(more, "ended by itself: " + text)
                text += more
            child.send_signal(signal.SIGINT)
            rest, errors = child.communicate(timeout=60)
            self.assertEqual(child.returncode, 0, errors)
            self.assertIn("Ctrl-C ends it", errors)
        return text + rest

    def speak(self, *arguments):
        return ("speak", self.mouth, "Good morning.", "--seed", "7", "--max-tokens", "48", *CPU, "--codec",
                os.path.join(SPEECH, "nanocodec"), *arguments)

    def test_speak_plays_all_of_what_it_would_write(self):
        answer = self.ok(*self.speak("--json"))
        self.assertIn('"output": "loudspeaker"', answer.out)
        path = os.path.join(self.folder, "same.pcm")
        self.ok(*self.speak("-o", path))
        written = array.array("h")
        with open(path, "rb") as file:
            written.frombytes(file.read())
        # Silence may lie between two parts that are computed: the loudspeaker is a fast one.
        written = [sample for sample in written if abs(sample) > 1]
        played = [sample * 32768 for sample in self.played() if abs(sample) * 32768 >= 1.5]
        self.assertGreater(len(written), 200)
        self.assertAlmostEqual(len(played), len(written), delta=3)
        self.assertAlmostEqual(math.hypot(*played) / math.hypot(*written), 1, delta=1e-3)
        for own, other in zip(sorted(played)[5:-5:50], sorted(written)[5:-5:50]):
            self.assertAlmostEqual(own, other, delta=100)

    def test_without_a_loudspeaker_there_is_a_way(self):
        del os.environ["FAKE_LOUDSPEAKER"]
        self.refused(5, ["There is no loudspeaker", "--output"], *self.speak())

    def test_transcribe_writes_while_the_microphone_hears(self):
        text = self.until_interrupted("transcribe", self.ears, "--microphone", *CPU, has_enough=lambda text: len(text) > 20)
        with open(self.microphone, "rb") as file:
            sound = file.read() + bytes(4 * 16000)
        piped = subprocess.run([program.PROGRAM, "transcribe", self.ears, "-", "--input-format", "f32le", *CPU],
                               input=sound, stdout=subprocess.PIPE, check=True)
        self.assertEqual(text, piped.stdout.decode(), "as from a pipe")

    def test_transcribe_without_a_microphone(self):
        self.refused(2, "--microphone does not go with FILE", "transcribe", self.ears, RECORDING, "--microphone", *CPU)
        del os.environ["FAKE_MICROPHONE"]
        self.refused(5, ["There is no microphone", "recording"], "transcribe", self.ears, "--microphone", *CPU)

    def test_talk_hears_and_plays(self):
        self.until_interrupted("talk", STORYTELLER, "--stt", self.ears, "--tts", self.mouth, "--codec",
                               os.path.join(SPEECH, "nanocodec"), "--max-piece", "40", "--greedy", "--seed", "7", "-n", "12",
                               *CPU, has_enough=lambda text: text.startswith("> ") and text.count("\n") > 1)
        self.assertGreater(len(self.played()), 200)


if __name__ == "__main__":
    unittest.main()
