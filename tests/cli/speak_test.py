#!/usr/bin/env python3
"""`tokamak speak`: texts to files of sound, the same for the same seed, and what it refuses.

Run by CTest; by hand as cli_test.py.
"""
import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest

import program
from cli_test import CPU, STORYTELLER, Cli
from program import DATA

SPEECH = os.path.join(DATA, "speech")
RATE = 22050


def make_model(parent):
    """The recorded model with a tokenizer that has a token for each letter."""
    folder = os.path.join(parent, "model")
    os.mkdir(folder)
    for file in ("config.json", "generation_config.json", "model.safetensors"):
        shutil.copy(os.path.join(SPEECH, "kani_tts2", file), folder)
    names = {3: "\u0120"} | {i: chr(i) for i in range(33, 127)}  # the first is a space
    vocab = {names.get(i, f"<{i}>"): i for i in range(690)}
    tokenizer = {"added_tokens": [], "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
                 "decoder": {"type": "ByteLevel"}, "normalizer": None, "post_processor": None,
                 "model": {"type": "BPE", "vocab": vocab, "merges": []}}
    with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as file:
        json.dump(tokenizer, file)
    return folder


class Speak(Cli):
    @classmethod
    def setUpClass(cls):
        cls.parent = tempfile.mkdtemp()
        cls.model = make_model(cls.parent)
        cls.codec = os.path.join(SPEECH, "nanocodec")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.parent)

    def short(self):
        """A random model hardly ever ends by itself."""
        return ["--max-tokens", "48", *CPU]

    def path(self, name):
        return os.path.join(self.parent, name)

    def speak(self, name, *arguments, text=""):
        """-> the bytes that were written."""
        path = self.path(name)
        answer = self.ok("speak", self.model, *arguments, "-o", path, *self.short(), "--codec", self.codec, text=text)
        with open(path, "rb") as file:
            return file.read(), answer

    def samples(self, wav):
        self.assertEqual(wav[:4] + wav[8:16], b"RIFFWAVEfmt ")
        _, channels, rate, _, _, bits = struct.unpack("<HHIIHH", wav[20:36])
        self.assertEqual((channels, bits), (1, 16))
        return struct.unpack(f"<{(len(wav) - 44) // 2}h", wav[44:]), rate

    def test_a_text_becomes_a_file_of_sound(self):
        wav, answer = self.speak("a.wav", "Good", "morning.", "--seed", "7", "--stats")
        samples, rate = self.samples(wav)
        with open(os.path.join(self.codec, "config.json"), encoding="utf-8") as file:
            self.assertEqual(rate, json.load(file)["sample_rate"])
        self.assertEqual(struct.unpack("<I", wav[40:44])[0], 2 * len(samples))
        self.assertGreater(len(samples), 200)
        self.assertGreater(max(map(abs, samples)), 1000)
        self.assertRegex(" ".join(answer.other), r"s of sound in .* \(seed 7\)")
        self.assertEqual(answer.out, "")
        same, answer = self.speak("b.wav", "Good morning.", "--seed", "7")
        self.assertEqual((same, answer.other), (wav, []), "the same seed, and no figures that nobody asked for")
        self.assertNotEqual(self.speak("b.wav", "Good morning.", "--seed", "8")[0], wav)
        self.assertNotEqual(self.speak("b.wav", "Good morning.", "--temp", "0")[0], wav)

    def test_the_text_may_come_from_a_file_or_standard_input(self):
        with open(self.path("text.txt"), "w", encoding="utf-8") as file:
            file.write("Good\nmorning.\n")
        wav, _ = self.speak("a.wav", "Good morning.", "--seed", "7")
        self.assertEqual(self.speak("b.wav", "-f", self.path("text.txt"), "--seed", "7")[0], wav)
        self.assertEqual(self.speak("b.wav", "--seed", "7", text="Good morning.")[0], wav)
        self.assertEqual(self.speak("b.wav", "-f", "-", "--seed", "7", text="Good morning.")[0], wav)

    def test_pieces_have_pauses_between_them(self):
        both, _ = self.speak("a.pcm", "One. Two.", "--seed", "7")
        one, _ = self.speak("b.pcm", "One.", "--seed", "7")
        self.assertEqual(both[:len(one)], one)
        pause = both[len(one):]
        silence = len(pause) - len(pause.lstrip(b"\0"))
        with open(os.path.join(self.codec, "config.json"), encoding="utf-8") as file:
            rate = json.load(file)["sample_rate"]
        self.assertAlmostEqual(silence / 2 / rate, 0.1, delta=0.01)

    def test_other_formats_are_written_by_name_or_by_option(self):
        for name, mark in (("a.flac", b"fLaC"), ("a.opus", b"OggS"), ("a.ogg", b"OggS")):
            self.assertEqual(self.speak(name, "Hello")[0][:4], mark, name)
        wav, _ = self.speak("a.wav", "Hello", "--seed", "1")
        self.assertEqual(self.speak("a.pcm", "Hello", "--seed", "1")[0], wav[44:])
        self.assertEqual(self.speak("a.bin", "Hello", "--seed", "1", "--format", "wav")[0], wav)

    def test_standard_output_streams(self):
        path = self.path("out")
        wav, _ = self.speak("a.wav", "Hello. You.", "--seed", "1")
        with open(path, "wb") as out:
            subprocess.run([program.PROGRAM, "speak", self.model, "Hello. You.", "-o", "-", "--seed", "1", "--codec",
                            self.codec, *self.short()], stdout=out, stderr=subprocess.DEVNULL, check=True, timeout=60)
        with open(path, "rb") as file:
            streamed = file.read()
        self.assertEqual(streamed[40:44], b"\xff\xff\xff\xff")
        self.assertEqual(streamed[44:], wav[44:])

    def test_a_voice_is_a_list_of_numbers(self):
        numbers = [0.2 if i % 3 else -0.2 for i in range(24)]
        with open(self.path("voice.json"), "w", encoding="utf-8") as file:
            json.dump(numbers, file)
        with open(self.path("voice.bin"), "wb") as file:
            file.write(struct.pack("<24f", *numbers))
        with open(self.path("short.json"), "w", encoding="utf-8") as file:
            json.dump(numbers[:5], file)
        plain, _ = self.speak("a.wav", "Hello", "--seed", "1")
        voiced, _ = self.speak("a.wav", "Hello", "--seed", "1", "--voice", self.path("voice.json"))
        self.assertNotEqual(voiced, plain)
        self.assertEqual(self.speak("a.wav", "Hello", "--seed", "1", "--voice", self.path("voice.bin"))[0], voiced)
        self.refused(3, "5 numbers, but the model takes 24", "speak", self.model, "Hello", "-o", self.path("c.wav"),
                     "--codec", self.codec, "--voice", self.path("short.json"), *CPU)
        self.refused(3, "The file is a recording; a voice is the numbers that describe it", "speak", self.model, "Hello",
                     "-o", self.path("c.wav"), "--codec", self.codec, "--voice", self.path("a.wav"), *CPU)

    def test_the_codec_is_found_beside_the_model(self):
        beside = self.path("nanocodec")
        self.refused(2, ["no codec", "--codec"], "speak", self.model, "Hello", "-o", self.path("c.wav"), *self.short())
        shutil.copytree(self.codec, beside)
        try:
            self.ok("speak", self.model, "Hello", "-o", self.path("c.wav"), *self.short())
        finally:
            shutil.rmtree(beside)
        inside = os.path.join(self.model, "tiny.nemo")
        shutil.copy(os.path.join(self.codec, "tiny-codec.nemo"), inside)
        try:
            self.ok("speak", self.model, "Hello", "-o", self.path("c.wav"), *self.short())
        finally:
            os.remove(inside)

    def test_bench_times_a_sentence_and_its_first_sound(self):
        answer = self.ok("bench", self.model, "--codec", self.codec, "--seconds", "2", "-r", "2", "-o", "json", *CPU)
        test, = json.loads(answer.out)
        self.assertRegex(test["test"], r"^a sentence of \d\.\d s$")
        self.assertEqual((test["unit"], test["first"]), ("x real time", "sound"))
        self.assertEqual((len(test["samples_ns"]), len(test["samples_first_ns"])), (2, 2))
        self.assertLess(test["first_ns"], test["avg_ns"])
        self.refused(2, "--codec", "bench", self.model, *CPU)

    def test_the_codec_counts_as_memory(self):
        needs = json.loads(self.ok("inspect", self.codec, "--json", *CPU).out)["memory"]
        self.assertGreater(needs["constants"], 0)
        voice = json.loads(self.ok("inspect", self.model, "--json", *CPU).out)["memory"]["total"]
        out = ["-o", self.path("m.wav"), "--codec", self.codec, *self.short()]
        # Enough for the model, and for both.
        self.refused(5, ["The codec needs", "beside", "--max-memory"], "speak", self.model, "Hello", *out,
                     "--max-memory", str(voice + 4096))
        both = self.ok("speak", self.model, "Hello", *out, "--max-memory", str(voice + needs["total"]))
        self.assertIn("Memory of the codec: ", " ".join(both.notes))

    def test_what_does_not_go_together_says_so(self):
        out = self.path("refused.wav")
        to = ["-o", out, "--codec", self.codec, *CPU]
        self.refused(4, "does not speak", "speak", STORYTELLER, "Hello", *to)
        self.refused(4, "tokamak speak", "run", self.model, "-p", "x", *CPU)
        self.refused(4, "no codec", "speak", self.model, "Hello", "-o", out, "--codec", STORYTELLER, *CPU)
        self.refused(3, "nothing to say", "speak", self.model, "...", *to)
        self.refused(2, "--file does not go with TEXT", "speak", self.model, "Hello", "-f", "x.txt", *to)
        self.refused(2, "does not follow from its name", "speak", self.model, "Hello", "-o", "c.doc", *CPU)
        self.refused(2, "--format", "speak", self.model, "Hello", *to, "--format", "aac")
        self.refused(2, "--format is of a file", "speak", self.model, "Hello", "--format", "wav", *CPU)
        self.refused(3, "No such file", "speak", self.model, "-f", self.path("none.txt"), *to)
        self.refused(3, "none.json", "speak", self.model, "Hello", "--voice", self.path("none.json"), *to)
        self.refused(6, "cannot be written", "speak", self.model, "Hello", "-o", self.path("no/c.wav"), *CPU)
        self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    program.main(unittest)
