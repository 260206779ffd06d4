#!/usr/bin/env python3
"""shard.py BUILD_FOLDER K/N: prints a regular expression of the CTest entries that belong to shard K of N.

GoogleTest programs belong to every shard, as GoogleTest itself gives each shard its part of the cases
(GTEST_TOTAL_SHARDS); other entries are distributed one by one. The quick entries belong to none: the matrix holds them.
"""
import json
import subprocess
import sys


def entries_of(tests, shard, shards):
    """`tests` as CTest prints them; shards count from 1."""
    whole = []
    turn = 0
    for test in tests:
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        if "quick" in properties.get("LABELS", []):
            continue
        is_google = any(line.startswith("GTEST_OUTPUT=") for line in properties.get("ENVIRONMENT", []))
        if not is_google:
            turn += 1
        if is_google or turn % shards == shard % shards:
            whole.append(test["name"])
    return whole


def main():
    shard, shards = (int(number) for number in sys.argv[2].split("/"))
    listing = subprocess.run(["ctest", "--test-dir", sys.argv[1], "--show-only=json-v1"],
                             check=True, capture_output=True, text=True).stdout
    print("^(" + "|".join(entries_of(json.loads(listing)["tests"], shard, shards)) + ")$")


if __name__ == "__main__":
    main()
