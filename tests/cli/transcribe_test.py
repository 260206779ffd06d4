#!/usr/bin/env python3
"""`tokamak transcribe`: recordings to the recorded texts, as what they are written, and what it refuses.

Run by CTest; by hand as cli_test.py.
"""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import unittest

import program
from cli_test import CPU, STORYTELLER, Cli
from program import DATA

SPEECH = os.path.join(DATA, "speech")


def make_model(name, vocab, word="<{}>".format):
    """A recorded model with a tokenizer that has a word for each id: <N> for N."""
    folder = tempfile.mkdtemp()
    for file in os.listdir(os.path.join(SPEECH, name)):
        if not file.startswith(("golden", "audio")):
            shutil.copy(os.path.join(SPEECH, name, file), folder)
    added = [{"id": i, "content": word(i), "special": False, "normalized": False, "lstrip": False,
              "rstrip": False, "single_word": False} for i in range(vocab)]
    tokenizer = {"added_tokens": added, "pre_tokenizer": None, "decoder": None, "normalizer": None,
                 "post_processor": None,
                 "model": {"type": "BPE", "vocab": {word(i): i for i in range(vocab)}, "merges": []}}
    with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as file:
        json.dump(tokenizer, file)
    return folder


def golden(name):
    with open(os.path.join(SPEECH, name, "golden.json"), encoding="utf-8") as file:
        return json.load(file)


def words(ids):
    return " ".join(f"<{i}>" for i in ids)


WORDS = r"<[0-9]+>( <[0-9]+>)*"


class Transcribe(Cli):
    @classmethod
    def setUpClass(cls):
        cls.moonshine = make_model("moonshine", 512)
        cls.whisper = make_model("whisper", 480)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.moonshine)
        shutil.rmtree(cls.whisper)

    def wav(self, model, number=0):
        return os.path.join(SPEECH, model, f"audio{number}.wav")

    def json(self, folder, *arguments):
        return json.loads(self.ok("transcribe", folder, *arguments, *CPU, "--format", "json").out)

    def test_moonshine_writes_what_was_recorded(self):
        for number, case in enumerate(golden("moonshine")["cases"]):
            found = self.json(self.moonshine, self.wav("moonshine", number))
            self.assertEqual(found["duration"], case["samples"] / 16000)
            (segment,) = found["segments"]
            ids = case["greedy"]["ids"]
            self.assertGreater(len(segment["tokens"]), 10)
            self.assertEqual(segment["tokens"][:len(ids)], ids[:len(segment["tokens"])])
            self.assertEqual(found["text"], words(segment["tokens"]))

    def test_whisper_writes_what_was_recorded(self):
        for number, case in enumerate(golden("whisper")["cases"]):
            for arguments, run in ((("--language", "de"), "timestamps"),
                                   (("--language", "en", "--no-timestamps"), "no_timestamps")):
                found = self.json(self.whisper, self.wav("whisper", number), "--no-fallback", *arguments)
                ids = [i for i in case["runs"][run]["ids"] if i < golden("whisper")["special_ids"]["<|endoftext|>"]]
                # A segment that does not end in its window is heard again, in one that begins there.
                tokens = found["segments"][0]["tokens"]
                self.assertGreater(len(tokens), 0)
                self.assertEqual(tokens[:len(ids)], ids[:len(tokens)], run)

    def test_whisper_finds_out_the_language(self):
        for number, case in enumerate(golden("whisper")["cases"]):
            found = self.json(self.whisper, self.wav("whisper", number), "--no-fallback")
            self.assertEqual("<|" + found["language"] + "|>", case["language"]["detected"])

    def test_text_comes_with_the_names_of_several_files(self):
        one, other = self.wav("moonshine"), self.wav("moonshine", 1)
        out = self.ok("transcribe", self.moonshine, one, other, *CPU).out
        self.assertRegex(out, "^" + re.escape(one) + f": {WORDS}\n" + re.escape(other) + f": {WORDS}\n$")
        alone = self.ok("transcribe", self.moonshine, one, *CPU).out
        self.assertRegex(alone, f"^{WORDS}\n$")
        self.assertIn(alone, out)

    def test_subtitles_go_into_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.srt")
            self.ok("transcribe", self.moonshine, self.wav("moonshine"), *CPU, "--format", "srt", "-o", path)
            with open(path, encoding="utf-8") as file:
                self.assertRegex(file.read(), f"^1\n00:00:00,000 --> 00:00:01,000\n{WORDS}\n\n$")
        out = self.ok("transcribe", self.moonshine, self.wav("moonshine"), *CPU, "--format", "vtt").out
        self.assertRegex(out, f"^WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n{WORDS}\n\n$")

    def test_files_are_named_in_the_output(self):
        one, other = self.wav("moonshine"), self.wav("moonshine", 1)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "two.txt")
            self.ok("transcribe", self.moonshine, one, other, *CPU, "-o", path)
            with open(path, encoding="utf-8") as file:
                self.assertRegex(file.read(), "^" + re.escape(one) + f": {WORDS}\n" + re.escape(other) + f": {WORDS}\n$")
        lines = self.ok("transcribe", self.moonshine, one, other, *CPU, "--format", "json").out.splitlines()
        self.assertEqual([json.loads(line)["file"] for line in lines], [one, other])
        self.assertEqual(self.ok("transcribe", self.moonshine, one, other, *CPU, "--json").out.splitlines(), lines)
        self.refused(2, ["--json", "--format"], "transcribe", self.moonshine, one, *CPU, "--json", "--format", "srt")

    def test_the_format_follows_from_the_name_of_the_output(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, begin in (("a.srt", "1\n00:00"), ("a.VTT", "WEBVTT"), ("a.json", "{"), ("a.txt", "<"), ("a", "<")):
                path = os.path.join(folder, name)
                self.ok("transcribe", self.moonshine, self.wav("moonshine"), *CPU, "-o", path)
                with open(path, encoding="utf-8") as file:
                    self.assertTrue(file.read().startswith(begin), name)
            path = os.path.join(folder, "b.srt")
            self.ok("transcribe", self.moonshine, self.wav("moonshine"), *CPU, "-o", path, "--format", "text")
            with open(path, encoding="utf-8") as file:
                self.assertTrue(file.read().startswith("<"))

    def test_languages_go_by_names_codes_and_locales(self):
        for language, code in (("german", "de"), ("EN", "en"), ("French", "fr"), ("de-AT", "de")):
            found = self.json(self.whisper, self.wav("whisper"), "--no-fallback", "--language", language)
            self.assertEqual(found["language"], code)
        found = self.json(self.whisper, self.wav("whisper"), "--no-fallback", "--language", "auto")
        self.assertEqual(found["language"], golden("whisper")["cases"][0]["language"]["detected"].strip("<|>"))

    def test_joined_files_are_heard_whole(self):
        with tempfile.NamedTemporaryFile(suffix=".mp3") as file:
            with open(os.path.join(DATA, "audio", "layer3.mp3"), "rb") as one:
                file.write(one.read() * 2)
            file.flush()
            self.assertAlmostEqual(self.json(self.moonshine, file.name)["duration"], 1, places=2)

    def test_other_rates_and_formats_are_heard(self):
        for name in ("s16.flac", "layer3.mp3", "u8_11k.wav", "opus.opus"):
            found = self.json(self.moonshine, os.path.join(DATA, "audio", name))
            self.assertGreater(len(found["segments"]), 0, name)

    def test_an_interrupt_is_one_word(self):
        with open(self.wav("moonshine"), "rb") as file:
            own = file.read()
        with tempfile.NamedTemporaryFile(suffix=".wav") as longer:
            longer.write(own * 2000)
            longer.flush()
            process = subprocess.Popen([program.PROGRAM, "transcribe", self.moonshine, longer.name, "--backend", "cpu-reference"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertNotEqual(os.read(process.stdout.fileno(), 1), b"", "it has begun")
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors.strip()), (130, b"Interrupted."))

    def test_silence_has_no_text(self):
        with tempfile.NamedTemporaryFile(suffix=".wav") as file:
            data = bytes(32000)
            file.write(b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " +
                       struct.pack("<IHHIIHH", 16, 1, 1, 16000, 32000, 2, 16) + b"data" +
                       struct.pack("<I", len(data)) + data)
            file.flush()
            self.assertEqual(self.json(self.moonshine, file.name)["segments"], [])

    def raw(self, name="moonshine", number=0):
        """The samples of a recording, without its header."""
        with open(self.wav(name, number), "rb") as file:
            return file.read()[44:]

    def test_samples_without_a_header_are_those_of_the_file(self):
        file = self.ok("transcribe", self.moonshine, self.wav("moonshine", 1), *CPU).out
        raw = self.raw(number=1)
        ask = ["transcribe", self.moonshine, "-", *CPU, "--input-format"]
        self.assertEqual(self.ok(*ask, "s16le", text=raw).out, file)
        samples = struct.unpack(f"<{len(raw) // 2}h", raw)
        floats = struct.pack(f"<{2 * len(samples)}f", *(one / 32768 for one in samples for _ in range(2)))
        self.assertEqual(self.ok(*ask, "f32le", "--channels", "2", text=floats).out, file)
        self.assertRegex(self.ok(*ask, "s16le", "--rate", "8000", text=raw).out, f"^{WORDS}\n$")

    def test_a_text_is_written_while_the_samples_come(self):
        process = subprocess.Popen([program.PROGRAM, "transcribe", self.moonshine, "-", "--input-format", "s16le", *CPU],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(self.raw(number=1) + bytes(32000))
        process.stdin.flush()
        first = os.read(process.stdout.fileno(), 10)
        self.assertRegex(first.decode(), "^<[0-9]+")
        rest, _ = process.communicate(self.raw(), timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertRegex((first + rest).decode(), f"^{WORDS}\n$")

    def test_samples_that_are_none_say_so(self):
        ask = ["transcribe", self.moonshine, "-", *CPU, "--input-format"]
        self.refused(3, "middle of a sample", *ask, "s16le", text=bytes(321))
        self.refused(3, "Sample 0 of the sound is nan", *ask, "f32le", text=b"\x00\x00\xc0\x7f" * 100)
        self.refused(2, "--input-format", *ask, "s16be")
        self.refused(2, "is for standard input", "transcribe", self.moonshine, self.wav("moonshine"), *CPU,
                     "--input-format", "s16le")

    def test_what_is_no_sound_is_refused_before_the_model_is_looked_at(self):
        self.assertEqual(
            self.refused(3, ["nothing.wav", "No such file"], "transcribe", self.moonshine, "nothing.wav", *CPU).errors[0].count("nothing.wav"), 1)
        readme = os.path.join(DATA, "audio", "README.md")
        self.refused(4, ["README.md", "expected WAV, FLAC, Ogg"], "transcribe", self.moonshine, readme, *CPU)
        with tempfile.NamedTemporaryFile(suffix=".wav") as cut:
            with open(self.wav("moonshine"), "rb") as whole:
                cut.write(whole.read()[:9000])
            cut.flush()
            # The first part is written, and the missing one is noted.
            result = self.ok("transcribe", self.moonshine, cut.name, *CPU)
            self.assertRegex(result.out, f"^{WORDS}\n$")
            self.assertIn("cut off: its header says 32000 bytes of samples, but 8956 follow", " ".join(result.notes))

    def test_models_and_options_that_do_not_go_together_say_so(self):
        wav = self.wav("moonshine")
        self.refused(4, "does not hear", "transcribe", STORYTELLER, wav, *CPU)
        self.refused(4, "tokamak transcribe", "run", self.moonshine, "-p", "x", *CPU)
        self.refused(2, '"de", which the model does not know', "transcribe", self.moonshine, wav, "--language", "de", *CPU)
        self.refused(2, "takes no translation", "transcribe", self.moonshine, wav, "--translate", *CPU)
        self.refused(2, ['"xx"', "de, en, fr"], "transcribe", self.whisper, wav, "--language", "xx", *CPU)
        self.refused(2, "expected text, json, srt or vtt", "transcribe", self.moonshine, wav, "--format", "doc", *CPU)
        self.refused(2, "give one FILE", "transcribe", self.moonshine, wav, wav, "--format", "srt", *CPU)
        self.refused(2, "give a FILE, - for standard input", "transcribe", self.moonshine, *CPU)


if __name__ == "__main__":
    program.main(unittest)
