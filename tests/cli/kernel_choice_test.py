#!/usr/bin/env python3
"""Which kernels run: forced, wished for by a model, tested, tuned, compiled once.

Run by CTest; by hand as cli_test.py.
"""
import glob
import json
import os
import shutil
import tempfile
import unittest

import program
from program import environment, model, tokamak

CPU = ("--backend", "cpu")
SMALL = (model("llama_untied"), "--context", 32, "--chunk", 8)
LOGITS = ("logits", *SMALL, "--tokens", "1,2,3")


def refused(test, status, mentions, *arguments):
    answer = tokamak(*arguments)
    test.assertEqual(answer.status, status, answer)
    test.assertEqual(len(answer.errors), 1, answer)
    for mention in mentions:
        test.assertIn(mention, answer.errors[0])


class Forced(unittest.TestCase):
    def test_unknown_names_are_told_with_what_there_is(self):
        for flag, mentions in (
            ("linaer=x", ['no op "linaer"', "did you mean linear?", "rms_norm"]),
            ("rope=rope.wglsl", ['no variant "rope.wglsl"', "did you mean rope.wgsl?", "rope.cpu"]),
            ("rope=linear.wgsl.any", ["rope has no variant"]),
            ("rope=rope.cpu,linear", ['"linear"', "op=variant"]),
            ("", ["op=variant"]),
        ):
            with self.subTest(flag):
                refused(self, 2, ["--force", *mentions], *LOGITS, *CPU, "--force", flag)

    def test_a_variant_that_cannot_says_why(self):
        refused(self, 4, ["rms_norm.wgsl: is for webgpu, the device is cpu",
                           "those that do are rms_norm.cpu"],
                *LOGITS, *CPU, "--force", "rms_norm=rms_norm.wgsl")

    def test_every_step_is_traced(self):
        for command in (LOGITS, ("inspect", *SMALL)):
            answer = tokamak(*command, *CPU, "--trace-kernels", "--force", "embed=embed.cpu")
            self.assertEqual(answer.status, 0, answer)
            steps = [line for line in answer.other if line.startswith("decode ")]
            self.assertEqual([int(line.split()[1]) for line in steps], list(range(len(steps))))
            self.assertTrue(any("embed.cpu" in line for line in steps))


class Wishes(unittest.TestCase):
    """tokamak.json in a model's folder."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = os.path.join(place.name, "model")
        shutil.copytree(model("llama_untied"), self.folder)

    def write(self, text):
        with open(os.path.join(self.folder, "tokamak.json"), "wb") as file:
            file.write(text if isinstance(text, bytes) else json.dumps(text).encode())

    def summary(self, *flags):
        answer = tokamak("inspect", self.folder, *CPU, "--json", *flags)
        self.assertEqual(answer.status, 0, answer)
        return json.loads(answer.out)

    def test_they_are_granted_where_they_can_be(self):
        self.write({"kv": "f16", "kernels": {"rope_append": ["rope_append.wgsl", "rope_append.cpu"]}})
        hints = self.summary()["hints"]
        self.assertEqual(hints["kv"], "f16")
        self.assertEqual([one["outcome"].split(" of ")[0] for one in hints["kernels"]],
                         ["is for webgpu", "in 6"])
        half = self.summary()["memory"]["kv_cache"]
        self.assertEqual(self.summary("--kv", "f32")["memory"]["kv_cache"], 2 * half)

    def test_mistakes_are_errors(self):
        for text, mentions in (
            ({"kv": 16}, ["kv is an integer"]),
            ({"kv": "q4"}, ['kv is "q4"']),
            ({"kernals": {}}, ['"kernals"', "did you mean kernels?"]),
            ({"kernels": {"linear": "linear.wgsl.none"}}, ["linear has no variant"]),
            ({"kernels": {"linear": {}}}, ["kernels.linear is an object"]),
            ([], ["an array"]),
            (b"{", ["line 1"]),
            (b"\xff\xfe", ["tokamak.json"]),
            (b'{"kv": "f16", "kv": "f32"}', ["twice"]),
            (b"[" * 100000, ["tokamak.json"]),
            (b" " * (2 << 20), ["tokamak.json"]),
        ):
            with self.subTest(str(text)[:40]):
                self.write(text)
                refused(self, 3, ["tokamak.json", *mentions], "logits", self.folder, "--tokens", "1",
                        *CPU)


class OnTheDevice(unittest.TestCase):
    WEBGPU = ("--backend", "webgpu")

    @classmethod
    def setUpClass(cls):
        if tokamak("run", "-p", "x", "-n", 1, *cls.WEBGPU, "--no-self-test").status == 5:
            assert "TOKAMAK_REQUIRE_GPU" not in os.environ, "there is no WebGPU device"
            raise unittest.SkipTest("there is no WebGPU device")

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.cache = place.name
        self.env = environment(TOKAMAK_CACHE_DIR=self.cache)

    def ok(self, *arguments):
        answer = tokamak(*arguments, env=self.env, timeout=300)
        self.assertEqual((answer.status, answer.errors), (0, []), answer)
        return answer

    def try_all_kernels_of(self, *model):
        """What measures waits for the self-test; others of a software driver leave a part for their next start."""
        self.ok("bench", *model, "-p", 8, "-n", 1, "-r", 1, "--no-check", *self.WEBGPU)

    def test_the_second_start_compiles_nothing_and_tests_nothing(self):
        def start():
            line = self.ok("run", "-p", "x", "-n", 1, "-v", *self.WEBGPU).other[-1]
            words = line[line.index("pipelines: "):].split()
            return int(words[1]), int(words[3])

        compiled, cached = start()
        self.assertGreater(compiled, 10)
        self.try_all_kernels_of()
        verdicts, = glob.glob(os.path.join(self.cache, "self-test", "*.json"))
        before = os.stat(verdicts).st_mtime_ns
        self.assertEqual(start(), (0, compiled + cached))
        self.assertEqual(os.stat(verdicts).st_mtime_ns, before)

    def test_a_kernel_that_was_found_wrong_is_left_out_and_said(self):
        command = (*LOGITS, *self.WEBGPU, "--trace-kernels")
        self.try_all_kernels_of(*SMALL)
        traced = self.ok(*command).other
        used = next(line.split()[2] for line in traced if " rms_norm." in line)
        path, = glob.glob(os.path.join(self.cache, "self-test", "*.json"))
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        for name in kept["notes"]:
            if name.startswith(used + " "):
                kept["notes"][name] = "norm 3: element 1 is 2, expected 1"
        self.assertNotEqual(used, "rms_norm.wgsl", "the device has no other variant")
        kept["sum"] = checksum(kept["notes"])
        with open(path, "w", encoding="utf-8") as file:
            json.dump(kept, file)
        answer = self.ok(*command)
        said = [note for note in answer.notes if "computes wrongly" in note]
        self.assertEqual(len(said), 1, answer.notes)
        self.assertIn(used, said[0])
        self.assertFalse([line for line in answer.other if f" {used} " in line])
        self.assertEqual([note for note in self.ok(*command, "--no-self-test").notes
                          if "computes wrongly" in note], [])

    def test_tuning_is_heeded_until_it_is_damaged(self):
        report = json.loads(self.ok("tune", *SMALL, "-d", 8, "-r", 2, *self.WEBGPU, "--json").out)
        self.assertTrue(report["problems"])
        for problem in report["problems"]:
            self.assertIn(problem["chosen"], problem["variants"])
            self.assertEqual(problem["seconds"], min(problem["variants"].values()))
        with open(report["kept_in"], encoding="utf-8") as file:
            kept = json.load(file)
        chosen = {one["problem"]: one for one in report["problems"]}
        # The slowest of each, so that it shows.
        for name, entry in kept["notes"].items():
            entry["variant"] = max(entry["seconds"], key=entry["seconds"].get)
            entry["seconds"] = {one: 2 - (one == entry["variant"]) for one in entry["seconds"]}
        kept["sum"] = checksum(kept["notes"])
        self.assertEqual(set(kept["notes"]), set(chosen))
        with open(report["kept_in"], "w", encoding="utf-8") as file:
            json.dump(kept, file)
        plan = ("inspect", *SMALL, *self.WEBGPU, "--plan")
        self.assertIn(": tuned: ", self.ok(*plan).out)
        self.assertNotIn(": tuned: ", self.ok(*plan, "--no-tuned").out)
        with open(report["kept_in"], "ab") as file:
            file.write(b"x")
        self.assertNotIn(": tuned: ", self.ok(*plan).out)


def checksum(notes):
    """FNV-1a of the document as the program writes it on one line."""
    value = 0xCBF29CE484222325
    for byte in json.dumps(notes, ensure_ascii=False).encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


if __name__ == "__main__":
    program.main(unittest)
