#!/usr/bin/env python3
"""`tokamak describe`: images from files to the recorded answers, and what it refuses.

Run by CTest; by hand as cli_test.py.
"""
import json
import os
import shutil
import tempfile
import unittest

import program
from cli_test import CPU, STORYTELLER, Cli
from program import DATA

RECORDED = os.path.join(DATA, "vision", "qwen3_5_vl_images")
IMAGE, START, END, VOCAB = 316, 318, 319, 320
TEMPLATE = """
{%- for message in messages %}
{%- if message.content is string %}{{ message.content }}
{%- else %}
{%- for part in message.content %}
{%- if part.type == 'image' %}<318><316><319>{% else %}{{ part.text }}{% endif %}
{%- endfor %}
{%- endif %}
{%- endfor %}"""


def words(ids):
    return "".join(f"<{i}>" for i in ids)


def image(name):
    return os.path.join(DATA, "images", name)


def make_model(folder):
    """The recorded model with a tokenizer that has the word <N> for each id N."""
    for name in os.listdir(RECORDED):
        if not name.startswith(("golden", "chat_template")):
            shutil.copy(os.path.join(RECORDED, name), folder)
    # Special tokens that a message spells are plain text: only those of the template are special.
    added = [{"id": i, "content": f"<{i}>", "special": i in (IMAGE, START, END), "normalized": False,
              "lstrip": False, "rstrip": False, "single_word": False} for i in range(VOCAB)]
    tokenizer = {"added_tokens": added, "pre_tokenizer": None, "decoder": None, "normalizer": None,
                 "post_processor": None,
                 "model": {"type": "BPE", "vocab": {f"<{i}>": i for i in range(VOCAB)}, "merges": []}}
    with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as file:
        json.dump(tokenizer, file)
    with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as file:
        json.dump({"chat_template": TEMPLATE}, file)


class Describe(Cli):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        make_model(cls.folder)
        with open(os.path.join(RECORDED, "golden.json"), encoding="utf-8") as file:
            cls.golden = json.load(file)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def answer(self, *arguments):
        return json.loads(self.ok("describe", self.folder, *arguments, *CPU, "--greedy", "--json").out)

    def test_answers_are_as_recorded(self):
        answered = 0
        for chat in self.golden["chats"]:
            segments = chat["segments"]
            if [type(one) for one in segments] != [list, str, list]:
                continue
            ids = chat["greedy"]["ids"]
            found = self.answer(image(segments[1]), "--system", words(segments[0]), "-p",
                                words(segments[2]), "-n", len(ids))
            # An end of the text stops the program, and not the record.
            self.assertEqual(found["tokens"], ids[:len(found["tokens"])])
            self.assertEqual(found["prompt_tokens"], len(chat["ids"]))
            answered += 1
        self.assertGreater(answered, 0)

    def test_several_images_are_seen_in_their_order(self):
        one, other = image("shapes.png"), image("photo420.jpg")
        first = self.answer(one, other, "-p", "<32>", "-n", 6)
        self.assertEqual(first["images"], [one, other])
        self.assertEqual(first["tokens"], self.answer(one, other, "-p", "<32>", "-n", 6)["tokens"])
        self.assertNotEqual(first["tokens"], self.answer(other, one, "-p", "<32>", "-n", 6)["tokens"])

    def test_smaller_images_take_fewer_tokens(self):
        counts = [self.answer(image("square.png"), "-p", "<32>", "-n", 1, "--megapixels", limit)
                  ["prompt_tokens"] for limit in (1, 0.01)]
        self.assertGreater(counts[0], 0)
        self.assertLessEqual(counts[1], counts[0])

    def test_what_is_no_image_is_refused_before_the_model_is_looked_at(self):
        self.refused(3, ["nothing.png", "No such file"], "describe", self.folder, "nothing.png", *CPU)
        readme = image("README.md")
        self.refused(4, ["README.md", "expected PNG, JPEG or WebP"], "describe", self.folder, readme, *CPU)
        with tempfile.NamedTemporaryFile(suffix=".png") as cut:
            with open(image("shapes.png"), "rb") as whole:
                cut.write(whole.read()[:1000])
            cut.flush()
            self.refused(3, ["damaged or cut off"], "describe", self.folder, cut.name, *CPU)

    def test_models_that_read_text_only_say_so(self):
        self.refused(4, ["reads text only", "Qwen3_5ForConditionalGeneration"], "describe", STORYTELLER,
                     image("shapes.png"), *CPU)

    def test_an_image_is_needed(self):
        self.refused(2, "IMAGE is missing", "describe", self.folder, "-p", "x", *CPU)


if __name__ == "__main__":
    program.main(unittest)
