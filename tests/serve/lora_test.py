#!/usr/bin/env python3
"""LoRA adapters from a folder to an answer: in one batch with others, and against the same model with
the adapter in its weights. Run by CTest; by hand as models_test.py.
"""
import json
import os
import pathlib
import random
import struct
import tempfile
import threading
import time
import unittest

import tiny_model
from program import tokamak
from running_server import PROMPT, Server, main
from safetensors_file import read_tensors, write_tensors

RANK, ALPHA = 3, 4
MODULES = ("q_proj", "v_proj", "o_proj", "up_proj", "down_proj")


def floats(tensor):
    dtype, _, raw = tensor
    if dtype == "F32":
        return struct.unpack(f"<{len(raw) // 4}f", raw)
    assert dtype == "BF16", dtype
    words = struct.unpack(f"<{len(raw) // 2}H", raw)
    return struct.unpack(f"<{len(words)}f", struct.pack(f"<{len(words)}I", *(w << 16 for w in words)))


def packed(rows, columns, values):
    return ("F32", [rows, columns], struct.pack(f"<{rows * columns}f", *values))


def write_adapter(folder, tensors, seed, **config):
    """A random adapter. -> its matrices by the names of the weights."""
    numbers = random.Random(seed)
    matrices, stored = {}, {}
    for name, (_, shape, _) in tensors.items():
        module = name.removesuffix(".weight")
        if not module.endswith(MODULES):
            continue
        a = [numbers.uniform(-0.3, 0.3) for _ in range(RANK * shape[1])]
        b = [numbers.uniform(-0.3, 0.3) for _ in range(shape[0] * RANK)]
        stored[f"base_model.model.{module}.lora_A.weight"] = packed(RANK, shape[1], a)
        stored[f"base_model.model.{module}.lora_B.weight"] = packed(shape[0], RANK, b)
        matrices[name] = (a, b)
    os.mkdir(folder)
    write_tensors(pathlib.Path(folder, "adapter_model.safetensors"), stored)
    with open(os.path.join(folder, "adapter_config.json"), "w", encoding="utf-8") as file:
        json.dump({"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "target_modules": MODULES} | config, file)
    return matrices


def merge(tensors, matrices, scale):
    """The weights with the adapter in them."""
    merged = dict(tensors)
    for name, (a, b) in matrices.items():
        rows, columns = tensors[name][1]
        w = floats(tensors[name])
        merged[name] = packed(rows, columns, (
            w[r * columns + c] + scale * sum(b[r * RANK + k] * a[k * columns + c] for k in range(RANK))
            for r in range(rows) for c in range(columns)))
    return merged


class Lora(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        at = lambda name: os.path.join(cls.folder.name, name)  # noqa: E731
        cls.base, cls.merged, cls.one, cls.two = at("base"), at("merged"), at("one"), at("two")
        for path in (cls.base, cls.merged):
            os.mkdir(path)
            tiny_model.write(path)
        weights = pathlib.Path(cls.base, "model.safetensors")
        tensors = read_tensors(weights)
        matrices = write_adapter(cls.one, tensors, 1)
        write_adapter(cls.two, tensors, 2)
        # Half of what the adapter itself says.
        write_tensors(pathlib.Path(cls.merged, "model.safetensors"), merge(tensors, matrices, 0.5 * ALPHA / RANK))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def text_of(self, *arguments):
        answer = tokamak("run", *arguments, "--backend", "cpu", "-p", PROMPT, "-n", 16, "--greedy", "--json")
        self.assertEqual(answer.status, 0, answer)
        return json.loads(answer.out)["text"]

    def error_of(self, *arguments):
        answer = tokamak("run", self.base, *arguments, "--backend", "cpu", "-p", "x", "-n", 1)
        self.assertNotEqual(answer.status, 0, answer)
        return answer.errors[0]

    def test_run_gives_the_text_of_the_model_with_the_adapter_in_its_weights(self):
        adapted = self.text_of(self.base, "--lora", f"{self.one}=0.5")
        self.assertEqual(adapted, self.text_of(self.merged))
        self.assertNotEqual(adapted, self.text_of(self.base))
        self.assertEqual(self.text_of(self.base, "--lora", f"{self.one}=0"), self.text_of(self.base))

    def test_chat_talks_with_the_adapter(self):
        def answer(model, *more):
            said = tokamak("chat", model, *more, "--backend", "cpu", "--chat-template", "chatml", "--greedy", "-n", 16,
                           text="Hello!\n")
            self.assertEqual(said.status, 0, said)
            return said.out

        adapted = answer(self.base, "--lora", f"{self.one}=0.5")
        self.assertEqual(adapted, answer(self.merged))
        self.assertNotEqual(adapted, answer(self.base))

    def test_a_server_answers_for_each_in_one_batch(self):
        expected = {"base": self.text_of(self.base), "half": self.text_of(self.base, "--lora", f"{self.one}=0.5"),
                    "two": self.text_of(self.base, "--lora", self.two)}
        self.assertEqual(len(set(expected.values())), 3)
        with Server(self.base, "--lora", f"half={self.one}=0.5", "--lora-modules", self.two, "--log", "off",
                    is_tiny=False) as server:
            listed = json.loads(server.get("/v1/models")[2])["data"]
            self.assertEqual([(one["id"], one.get("parent")) for one in listed],
                             [("base", None), ("half", "base"), ("two", "base")])
            self.assertEqual(json.loads(server.get("/v1/models/half")[2])["parent"], "base")
            answers = {}

            def ask(name, number):
                answers[name, number] = server.complete(model=name, max_tokens=16)

            threads = [threading.Thread(target=ask, args=(name, i)) for i in range(3) for name in expected]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for (name, _), answer in answers.items():
                self.assertEqual(answer["choices"][0]["text"], expected[name], name)
                self.assertEqual(answer["model"], name)
            self.assertEqual(len(answers), 9)
            status, _, body = server.ask("POST", "/v1/completions", {"model": "three", "prompt": "x"})
            self.assertEqual(status, 404)
            self.assertEqual(json.loads(body)["error"]["message"],
                             'There is no model "three", but "base", "half", "two".')

    def test_metrics_name_the_adapters_in_memory(self):
        before = time.time() - 1
        with Server(self.base, "--lora", f"half={self.one}=0.5", "--lora", self.two, "--log", "off",
                    is_tiny=False) as server:
            text = server.get("/metrics")[2].decode()
        lines = [line for line in text.splitlines() if line.startswith("tokamak:lora_requests_info")]
        self.assertEqual(len(lines), 1, "the endpoint picker reads one")
        labels, value = lines[0].rsplit(" ", 1)
        self.assertIn('max_lora="2",running_lora_adapters="half,two",waiting_lora_adapters=""', labels)
        self.assertLessEqual(before, float(value))
        self.assertLessEqual(float(value), time.time())

    def test_a_beginning_is_kept_for_its_own_adapter_only(self):
        long = PROMPT * 6
        with Server(self.base, "--lora", self.one, "--lora", self.two, "--log", "off", is_tiny=False) as server:
            cached = [server.complete(model=name, prompt=long)["usage"]["prompt_tokens_details"]["cached_tokens"]
                      for name in ("one", "two", "base", "one", "two", "base")]
        self.assertEqual(cached[:3], [0, 0, 0])
        self.assertGreater(min(cached[3:]), 0)

    def test_what_is_no_adapter_of_the_model_is_refused_in_a_sentence(self):
        self.assertIn("has no adapter_config.json; expected the folder of an adapter as PEFT saves it.",
                      self.error_of("--lora", self.base))
        self.assertIn("is an adapter for llama.cpp", self.error_of("--lora", "some.gguf"))
        self.assertIn("expected [NAME=]FOLDER[=SCALE]", self.error_of("--lora", "=x"))
        dora = os.path.join(self.folder.name, "dora")
        write_adapter(dora, {"model.layers.0.self_attn.q_proj.weight": ("F32", [8, 8], b"")}, 3, use_dora=True)
        self.assertIn("use_dora is true, which this engine does not do", self.error_of("--lora", dora))
        other = os.path.join(self.folder.name, "other")
        write_adapter(other, {"model.layers.0.self_attn.q_proj.weight": ("F32", [8, 8], b"")}, 3,
                      base_model_name_or_path="org/base")
        self.assertRegex(self.error_of("--lora", other),
                         r'adapter_model.safetensors: tensor "base_model\.model\.model\.layers\.0\.self_attn\.q_proj'
                         r'\.lora_A\.weight" is f32\[3, 8\], expected \[rank, 64\] .* made for "org/base"\.')


if __name__ == "__main__":
    main(unittest)
