#!/usr/bin/env python3
"""replicas.py [--conversations N] [--turns N]: what packaging/haproxy.cfg saves. Three replicas of the built-in model answer
conversations, some of which begin with the same system prompt; for each way to choose a replica the share of their prompts'
tokens that was in a cache is printed. By hand:
  TOKAMAK_PROGRAM=$PWD/build/release/bin/tokamak TOKAMAK_SOURCE_DIR=$PWD python3 tests/serve/replicas.py
"""
import argparse
import concurrent.futures
import http.client
import json
import random

from packaging_test import Replicas

SYSTEM_PROMPTS = 4  # among the conversations
HASH = "balance hash var(txn.beginning)"
WAYS = {"roundrobin": ({HASH: "balance roundrobin", "hash-balance-factor 210": ""}, False), "hash": ({}, False),
        "hash, x-session-id": ({}, True)}
WORDS = "the a small old green house tree river bird sang ran saw and then under over near with of in".split()


def words(chance, count):
    return " ".join(chance.choice(WORDS) for _ in range(count))


def converse(port, number, turns, system_words, names_itself):
    """-> tokens of all prompts, those of them that were in a cache."""
    chance = random.Random(1000 + number)
    messages = [{"role": "system", "content": words(random.Random(number % SYSTEM_PROMPTS), system_words)}]
    headers = {"x-session-id": f"conversation {number}"} if names_itself else {}
    tokens = cached = 0
    for _ in range(turns):
        messages.append({"role": "user", "content": words(chance, 25)})
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        connection.request("POST", "/v1/chat/completions", json.dumps(
            {"messages": messages, "max_tokens": 24, "temperature": 0}), headers)
        answer = json.loads(connection.getresponse().read())
        connection.close()
        messages.append({"role": "assistant", "content": answer["choices"][0]["message"]["content"]})
        tokens += answer["usage"]["prompt_tokens"]
        cached += answer["usage"]["prompt_tokens_details"]["cached_tokens"]
    return tokens, cached


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=24)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--at-once", type=int, default=6, help="conversations that go on at the same time")
    own = parser.parse_args()
    for system_words in (100, 400):
        for name, (changes, names_itself) in WAYS.items():
            with Replicas("--chat-template", "chatml", changes=changes, is_tiny=False, backend="cpu") as replicas, \
                    concurrent.futures.ThreadPoolExecutor(own.at_once) as threads:
                tokens, cached = map(sum, zip(*threads.map(
                    lambda number: converse(replicas.port, number, own.turns, system_words, names_itself),
                    range(own.conversations))))
                answers = [round(server.metric("request_success_total")) for server in replicas.servers]
            print(f"system prompts of {system_words} words, {name}: {tokens} tokens of prompts, {cached / tokens:.0%} cached; "
                  f"answers of each replica: {answers}", flush=True)


if __name__ == "__main__":
    main()
