#!/usr/bin/env python3
"""Steps far into a text: where a plan has phases of their own for them.

Run by CTest; by hand:
  TOKAMAK_PROGRAM=build/release/bin/tokamak TOKAMAK_SOURCE_DIR=. python3 tests/cli/long_context_test.py
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from program import tokamak

TOOLS = pathlib.Path(os.environ["TOKAMAK_SOURCE_DIR"]) / "tools"
# Subgroups of eight lanes, as Mesa's software driver has them. That of processors would come first.
NEAR = "step_attention=step_attention.wgsl.subgroup8"
LONG = f"step_attention=step_attention.wgsl.shared8,{NEAR}"
FROM = 8192
SIZES = ("--hidden", "64", "--layers", "1", "--heads", "16", "--kv-heads", "8", "--head-dim", "16", "--ffn",
         "64", "--vocab", "64", "--context", "9000")


class LongContext(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.folder = place.name
        subprocess.run([sys.executable, TOOLS / "random_model", "--arch", "llama", *SIZES, "--out", cls.folder],
                       check=True, stdout=subprocess.DEVNULL)

    def ok(self, *arguments):
        answer = tokamak(*arguments)
        self.assertEqual(answer.status, 0, answer)
        return answer.out

    def phases(self, kernels, context=9000):
        """-> where each phase begins to take the place of the one before it."""
        out = json.loads(self.ok("inspect", self.folder, "--plan", "--json", "--backend", "webgpu", "--force",
                                 kernels, "--context", str(context)))
        return {phase["name"]: phase.get("from_position", 0) for phase in out["phases"]}

    def test_a_kernel_of_their_own_makes_phases(self):
        phases = self.phases(LONG)
        long = {name: position for name, position in phases.items() if position > 0}
        self.assertEqual(long, {f"{near}_long": FROM for near in ("decode", "sampled", "greedy")})
        names = list(phases)
        for name in long:
            self.assertEqual(names[names.index(name) - 1], name.removesuffix("_long"))

    def test_without_one_there_are_none(self):
        self.assertNotIn("decode_long", self.phases(NEAR))

    def test_a_context_that_ends_before_has_none(self):
        self.assertNotIn("decode_long", self.phases(LONG, context=FROM))


if __name__ == "__main__":
    unittest.main()
