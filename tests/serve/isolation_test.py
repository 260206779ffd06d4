#!/usr/bin/env python3
"""Whether those who share a server can tell what the others ask. Run by CTest; by hand:
  TOKAMAK_PROGRAM=$PWD/build/release/bin/tokamak TOKAMAK_SOURCE_DIR=$PWD python3 tests/serve/isolation_test.py
"""
import json
import os
import random
import unittest
from concurrent.futures import ThreadPoolExecutor

from running_server import Server, events, main

KEYS = ("first", "second")
ROUNDS = int(os.environ.get("TOKAMAK_ISOLATION_ROUNDS", "15"))
# Prompts share beginnings of any length; a token is a byte, and 16 of them are a page.
PIECES = ["The key of the safe is ", "0417. " * 3, "Tell me what others have asked. ", "a" * 33, "Once upon a time "]


class Request:
    """Greedy, so that a prompt has one answer whatever else runs."""

    def __init__(self, chance):
        self.key = chance.choice(KEYS)
        self.salt = chance.choice([None, None, "salt"])
        self.content = "".join(chance.choices(PIECES, k=chance.randrange(1, 6)))
        self.path = chance.choice(["/v1/completions", "/v1/chat/completions", "/v1/messages", "/v1/responses"])
        if self.path == "/v1/messages":
            self.salt = None  # of OpenAI's protocols only
        self.streams = self.path == "/v1/completions" and chance.random() < 0.5

    @property
    def tenant(self):
        return self.key, self.salt

    @property
    def prompt(self):
        """What the model is fed, by the tiny model's template."""
        return self.content if self.path == "/v1/completions" else f"user: {self.content}\n"

    def body(self):
        body = {"temperature": 0}
        if self.salt:
            body["cache_salt"] = self.salt
        if self.path == "/v1/completions":
            body |= {"prompt": self.content, "max_tokens": 8}
            if self.streams:
                body |= {"stream": True, "stream_options": {"include_usage": True}}
        elif self.path == "/v1/responses":
            body |= {"input": self.content, "max_output_tokens": 8}
        else:
            body |= {"messages": [{"role": "user", "content": self.content}], "max_tokens": 8}
        return body

    def answer(self, server):
        """-> text, tokens of the prompt that the answer says were cached."""
        status, _, body = server.ask("POST", self.path, self.body(), {"x-api-key": self.key})
        if status != 200:
            raise AssertionError(f"{status}: {body!r}")
        if self.streams:
            data = [json.loads(one) for one in events(body)[:-1]]
            text = "".join(choice["text"] for one in data for choice in one["choices"])
            return text, data[-1]["usage"]["prompt_tokens_details"]["cached_tokens"]
        said = json.loads(body)
        if self.path == "/v1/messages":
            return "".join(block["text"] for block in said["content"]), said["usage"]["cache_read_input_tokens"]
        if self.path == "/v1/responses":
            text = "".join(part["text"] for item in said["output"] for part in item["content"])
            return text, said["usage"]["input_tokens_details"]["cached_tokens"]
        choice = said["choices"][0]
        text = choice["text"] if self.path == "/v1/completions" else choice["message"]["content"]
        return text, said["usage"]["prompt_tokens_details"]["cached_tokens"]


class Cold:
    """What the model says to a prompt when nothing of it is cached."""

    def __init__(self, server):
        self.server = server
        self.known = {}

    def text(self, prompt):
        if prompt not in self.known:
            answer = self.server.complete({"x-api-key": "cold"}, prompt=prompt, cache_salt=f"cold {len(self.known)}")
            if answer["usage"]["prompt_tokens_details"]["cached_tokens"] != 0:
                raise AssertionError("a salt of its own found something in the cache")
            self.known[prompt] = answer["choices"][0]["text"]
        return self.known[prompt]


class Isolation(unittest.TestCase):
    def test_nobody_learns_what_others_have_asked(self):
        chance = random.Random(17)
        asked = {}  # by tenant: all that it has had the model read or write
        hits = 0
        keys = [argument for key in (*KEYS, "cold") for argument in ("--api-key", key)]
        # An answer after a cached beginning and beside others is the one of the prompt alone.
        with (Server("--log", "off", "--context", 256, "--batch-invariant", *keys) as server,
              ThreadPoolExecutor(4) as clients):
            cold = Cold(server)
            for _ in range(ROUNDS):
                # At the same time, so that pages of prompts in flight are there to be found, too.
                requests = [Request(chance) for _ in range(4)]
                answers = list(clients.map(lambda one: one.answer(server), requests))
                for one, (text, _) in zip(requests, answers):
                    self.assertEqual(text, cold.text(one.prompt), one.body())
                    asked.setdefault(one.tenant, []).append(one)
                for one, (_, cached) in zip(requests, answers):
                    own = max((len(os.path.commonprefix([one.prompt, other.prompt + cold.text(other.prompt)]))
                               for other in asked[one.tenant] if other is not one), default=0)
                    self.assertLessEqual(cached, own, f"{one.tenant} is told of more than it has asked: {one.body()}")
                    hits += cached > 0
        self.assertGreater(hits, ROUNDS, "the cache is of use to those who ask the same again")

    def test_who_asks_first_of_a_key_finds_nothing(self):
        keys = [argument for key in KEYS for argument in ("--api-key", key)]
        with Server("--log", "off", "--context", 256, *keys) as server:
            tenants = [(key, salt) for key in KEYS for salt in ({}, {"cache_salt": "a"}, {"cache_salt": "b"})]
            for is_again in (False, True):
                for key, salt in tenants:
                    answer = server.complete({"x-api-key": key}, prompt=PIECES[0] * 4, max_tokens=1, **salt)
                    cached = answer["usage"]["prompt_tokens_details"]["cached_tokens"]
                    self.assertEqual(cached > 0, is_again, (key, salt))


if __name__ == "__main__":
    main(unittest)
