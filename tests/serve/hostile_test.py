#!/usr/bin/env python3
"""Whether hostile clients take memory, threads or answers from others: some seconds of soak.py --hostile. Run by CTest; by hand:
  TOKAMAK_PROGRAM=$PWD/build/release/bin/tokamak TOKAMAK_SOURCE_DIR=$PWD python3 tests/serve/hostile_test.py
"""
import functools
import unittest

import hostile
from running_server import Server, main, resident_kb

SECONDS = 1.5
MORE_KB = 64 << 10

# The address sanitizer keeps up to 256 MiB of freed memory, which would be measured here instead of the server's.
KEPT_BY_SANITIZER = "quarantine_size_mb=1:thread_local_quarantine_size_kb=16"


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--log", "off", "--context", 256, "--max-bodies", 32,
                            environment={"ASAN_OPTIONS": KEPT_BY_SANITIZER})
        hostile.watch(cls.server, None, 0.2)
        cls.before = resident_kb(cls.server.process.pid)

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()

    def check(self, attack):
        seen = hostile.watch(self.server, attack, SECONDS)
        print(seen.row(self.id()))
        self.assertEqual(seen.failures, [])
        self.assertLess(max(seen.kilobytes) - self.before, MORE_KB)
        self.assertLess(max(seen.threads), 16)

    def test_unread_answers(self):
        self.check(hostile.unread_answers)

    def test_line_ends(self):
        self.check(hostile.line_ends)

    def test_chunks_of_one_byte(self):
        self.check(hostile.one_byte_chunks)

    def test_bodies_that_never_end(self):
        self.check(functools.partial(hostile.large_bodies, count=8))

    def test_connections_that_only_begin(self):
        self.check(functools.partial(hostile.half_open, count=800))

    def test_tenants(self):
        self.check(hostile.tenants)


if __name__ == "__main__":
    main(unittest)
