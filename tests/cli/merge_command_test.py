#!/usr/bin/env python3
"""`tokamak merge`: models with adapters in their weights that answer as with --lora, and what is refused.
Run by CTest; by hand as cli_test.py.
"""
import json
import pathlib
import random
import struct
import tempfile
import unittest

import program
from cli_test import Cli
from recorded_answer import cosine, last_logits
from safetensors_file import read_tensors, write_tensors

MODEL = pathlib.Path(program.DATA) / "models" / "llama_sharded"
RANK = 3
MODULES = ("q_proj.weight", "o_proj.weight", "down_proj.weight")


def write_adapter(folder, seed):
    numbers, stored = random.Random(seed), {}
    for shard in MODEL.glob("*.safetensors"):
        for name, (_, shape, _) in read_tensors(shard).items():
            if name.endswith(MODULES):
                at = "base_model.model." + name.removesuffix(".weight")
                for kind, size in (("A", [RANK, shape[1]]), ("B", [shape[0], RANK])):
                    values = [numbers.uniform(-0.2, 0.2) for _ in range(size[0] * size[1])]
                    stored[f"{at}.lora_{kind}.weight"] = ("F32", size, struct.pack(f"<{len(values)}f", *values))
    folder.mkdir()
    write_tensors(folder / "adapter_model.safetensors", stored)
    (folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": RANK, "lora_alpha": 2}))


class Merge(Cli):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.adapter = cls.folder / "adapter"
        write_adapter(cls.adapter, 1)

    def test_the_new_model_answers_as_with_the_adapter_beside_it(self):
        out = self.folder / "merged"
        self.ok("merge", MODEL, "--lora", self.adapter, "-o", out)
        beside, within = last_logits(MODEL, "--lora", self.adapter), last_logits(out)
        self.assertGreater(cosine(beside, within), 0.9999)
        self.assertLess(cosine(last_logits(MODEL), within), 0.999)
        names = {path.name for path in MODEL.iterdir() if path.is_file()}
        self.assertEqual({path.name for path in out.iterdir()}, names)
        self.assertFalse((self.folder / "merged.partial").exists())

    def test_threads_do_not_change_the_bytes(self):
        outs = [self.folder / f"threads{n}" for n in (1, 3)]
        for out, threads in zip(outs, ("1", "3"), strict=True):
            self.ok("merge", MODEL, "--lora", f"{self.adapter}=0.5", "-o", out, "--threads", threads)
        for path in outs[0].glob("*.safetensors"):
            self.assertEqual(path.read_bytes(), (outs[1] / path.name).read_bytes())

    def test_two_adapters_add_up(self):
        other, out = self.folder / "other", self.folder / "both"
        write_adapter(other, 2)
        self.ok("merge", MODEL, "--lora", self.adapter, "--lora", f"{other}=-1", "-o", out)
        first = self.folder / "first"
        self.ok("merge", MODEL, "--lora", f"{other}=-1", "-o", first)
        self.assertGreater(cosine(last_logits(first, "--lora", self.adapter), last_logits(out)), 0.9999)

    def test_a_dry_run_lists_what_changes(self):
        answer = self.ok("merge", MODEL, "--lora", f"style={self.adapter}=0.5", "--dry-run", "--json")
        tensors = json.loads(answer.out)["tensors"]
        self.assertTrue(all(one["name"].endswith(MODULES) for one in tensors), tensors)
        self.assertEqual(tensors[0]["adapters"], [{"name": "style", "rank": RANK, "factor": 2 / RANK * 0.5}])

    def test_what_cannot_be_merged_is_refused_before_anything_is_written(self):
        out = self.folder / "refused"
        gguf = pathlib.Path(program.DATA) / "gguf" / "llama-q8_0.gguf"
        other = MODEL.parent / "lfm2"
        self.refused(4, "expected a folder of safetensors", "merge", gguf, "--lora", self.adapter, "-o", out)
        self.refused(3, "no adaptable product", "merge", other, "--lora", self.adapter, "-o", out)
        self.refused(2, "must name a folder that does not", "merge", MODEL, "--lora", self.adapter, "-o", self.adapter)
        self.refused(3, "expected the folder of an adapter", "merge", MODEL, "--lora", MODEL, "-o", out)
        self.refused(2, "--output", "merge", MODEL, "--lora", self.adapter)
        self.assertEqual([path.name for path in self.folder.glob("refused*")], [])


if __name__ == "__main__":
    program.main(unittest)
