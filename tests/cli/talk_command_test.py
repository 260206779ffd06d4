#!/usr/bin/env python3
"""`tokamak talk`: conversations by recordings, whose time is that of their sound.

Run by CTest; by hand as cli_test.py.
"""
import array
import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
import wave

import program
import speak_test
import transcribe_test
from cli_test import CPU, STORYTELLER, Cli
from first_hour_test import THINKING
from speak_test import RATE, SPEECH

HEARD = 16000


def recording(name):
    with wave.open(os.path.join(SPEECH, "moonshine", name)) as file:
        return array.array("h", file.readframes(file.getnframes()))


def silence(seconds):
    return array.array("h", bytes(2 * int(seconds * HEARD)))


def make_talkative(model):
    """Makes the end of a sound so improbable that --max-piece says how long each piece takes."""
    path = os.path.join(model, "model.safetensors")
    with open(path, "rb") as file:
        bytes_ = bytearray(file.read())
    (length,) = struct.unpack_from("<Q", bytes_)
    entry = json.loads(bytes_[8:8 + length])["model.embed_tokens.weight"]
    with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
        row = json.load(file)["eos_token_id"]
    begin, end = entry["data_offsets"]
    size = (end - begin) // entry["shape"][0]
    at = 8 + length + begin + row * size
    bytes_[at:at + size] = bytes(size)
    with open(path, "wb") as file:
        file.write(bytes_)


class Talk(Cli):
    @classmethod
    def setUpClass(cls):
        cls.parent = tempfile.mkdtemp()
        # Short words, so that the answering model has little to read.
        cls.ears = transcribe_test.make_model("moonshine", 512, lambda i: chr(97 + i // 26) + chr(97 + i % 26))
        cls.mouth = speak_test.make_model(cls.parent)
        make_talkative(cls.mouth)
        cls.first, cls.second = recording("audio0.wav"), recording("audio1.wav")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.parent)
        shutil.rmtree(cls.ears)

    def path(self, name):
        return os.path.join(self.parent, name)

    def flags(self, *arguments, piece=40):
        return ["talk", STORYTELLER, "--stt", self.ears, "--tts", self.mouth, "--codec",
                os.path.join(SPEECH, "nanocodec"), "--max-piece", str(piece), "--greedy", "--seed", "7", *arguments, *CPU]

    def talk(self, parts, *arguments, **options):
        """-> the conversation, the samples that were played, and the answer of the program."""
        asked, said, saved = (self.path(name) for name in ("asked.wav", "said.wav", "talk.json"))
        with wave.open(asked, "wb") as file:
            file.setparams((1, 2, HEARD, 0, "NONE", ""))
            for part in parts:
                file.writeframes(part.tobytes())
        answer = self.ok(*self.flags("--input", asked, "--output", said, "--save", saved, *arguments, **options))
        with open(saved, encoding="utf-8") as file:
            messages = json.load(file)
        with wave.open(said) as file:
            self.assertEqual((file.getnchannels(), file.getframerate()), (1, RATE))
            samples = array.array("h", file.readframes(file.getnframes()))
        return messages, samples, answer

    def test_a_question_is_heard_answered_and_said(self):
        messages, samples, answer = self.talk([silence(0.5), self.first, silence(1.5)], "-n", "12")
        self.assertEqual([one["role"] for one in messages], ["user", "assistant"])
        question, said = (one["content"] for one in messages)
        self.assertRegex(question, r"^[a-z]{2}( [a-z]{2})*$")
        written = self.ok("chat", STORYTELLER, "--greedy", "-n", "12", *CPU, text=question + "\n").out
        self.assertEqual(said, written[:-1], "what `tokamak chat` answers")
        self.assertEqual(answer.out.split("\n")[0], "> " + question)
        self.assertEqual(answer.out.split("\n")[1].split(), said.split(), "piece by piece")
        # Nothing is played before the pause that ends the question, and something after it.
        begin = next(i for i, sample in enumerate(samples) if sample != 0)
        self.assertGreater(begin / RATE, 0.5 + 1 + 0.7)
        self.assertGreater(max(map(abs, samples)), 1000)
        again = self.talk([silence(0.5), self.first, silence(1.5)], "-n", "12")
        self.assertEqual((again[0], again[1]), (messages, samples), "the same each time")

    def test_reasoning_is_not_said(self):
        template = self.path("thinking.jinja")
        with open(template, "w", encoding="utf-8") as file:
            file.write(THINKING)  # which opens reasoning that the storyteller never closes
        parts, flags = [self.first, silence(1.5)], ("-n", "12", "--chat-template", template)
        for think in ("on", "hide"):
            self.assertEqual(max(map(abs, self.talk(parts, *flags, "--think", think)[1])), 0)
        self.assertGreater(max(map(abs, self.talk(parts, *flags)[1])), 1000, "without it there is none")

    def test_a_voice_interrupts_an_answer_of_which_only_what_was_heard_stays(self):
        before = [silence(0.2), self.second, silence(3)]
        parts = [*before, self.first, silence(1)]
        messages, samples, answer = self.talk(parts, "-n", "24", piece=240)
        self.assertEqual([one["role"] for one in messages], ["user", "assistant"] * 2)
        whole = self.ok("chat", STORYTELLER, "--greedy", "-n", "24", *CPU, text=messages[0]["content"] + "\n").out.split()
        heard = messages[1]["content"].split()
        self.assertGreater(len(heard), 0)
        self.assertLess(len(heard), len(whole))
        self.assertEqual(heard, whole[:len(heard)], "a beginning of the answer")
        self.assertIn("[interrupted]", answer.out)
        # Somebody begins to speak; a moment later it is silent until they have ended.
        begin = int(sum(map(len, before)) / HEARD * RATE)
        self.assertGreater(max(map(abs, samples[begin - RATE:begin])), 1000, "it was speaking")
        self.assertEqual(max(map(abs, samples[begin + RATE // 2:begin + RATE])), 0)

    def test_nothing_interrupts_who_hears_nothing(self):
        parts = [silence(0.2), self.first, silence(1.3), self.first, silence(0.5)]
        messages, _, answer = self.talk(parts, "-n", "12", "--no-interruptions", piece=400)
        self.assertNotIn("[interrupted]", answer.out)
        self.assertEqual(len(messages), 2, "the other voice comes during the answer")

    def test_samples_come_and_go_through_pipes(self):
        sound = b"".join(part.tobytes() for part in (silence(0.2), self.first, silence(1)))
        run = subprocess.run([program.PROGRAM, *self.flags("--input", "-", "--output", "-", "-n", "10")], input=sound,
                             capture_output=True, timeout=60, check=True)
        self.assertEqual(run.stdout[:4] + run.stdout[40:44], b"RIFF\xff\xff\xff\xff")
        self.assertGreater(len(run.stdout), len(sound))
        self.assertIn(b"\n> ", b"\n" + run.stderr)

    def test_silence_has_no_answer(self):
        messages, samples, answer = self.talk([silence(2)])
        self.assertEqual((messages, answer.out), ([], ""))
        self.assertEqual(len(samples), 2 * RATE)

    def test_the_beginning_is_forgotten_where_the_context_is_full(self):
        turn = [self.first, silence(3)]
        messages, _, _ = self.talk([silence(0.2), *turn, *turn], "-n", "8", "--context", "90",
                                   "--system", "You tell stories.")
        self.assertEqual(messages[0], {"role": "system", "content": "You tell stories."})
        self.assertEqual([one["role"] for one in messages[1:]], ["user", "assistant"])

    def test_mistakes_say_so(self):
        wav = os.path.join(SPEECH, "moonshine", "audio0.wav")
        both = ["--input", wav, "--output", self.path("x.wav")]
        self.refused(2, "--stt is missing", "talk", STORYTELLER, "--tts", self.mouth, *CPU)
        self.refused(2, "go together", *self.flags("--input", wav))
        self.refused(2, "does not follow from its name", *self.flags("--input", wav, "--output", "x.doc"))
        self.refused(2, "are for `--input -`", *self.flags(*both, "--input-format", "s16le"))
        self.refused(3, ["none.wav", "No such file"], *self.flags("--input", "none.wav", "--output", self.path("x.wav")))
        self.refused(2, "which the model does not know", *self.flags(*both, "--language", "de"))
        swapped = ["talk", STORYTELLER, "--ears", self.mouth, "--mouth", self.ears, *both, *CPU]
        self.refused(4, "This model speaks", *swapped)


if __name__ == "__main__":
    program.main(unittest)
