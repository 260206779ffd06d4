#!/usr/bin/env python3
"""soak.py [--streams N] [--seconds S] [serve's arguments...]: keeps N streams going, one of ten of which is
left in its middle, and prints once in five seconds what the server's process takes.
soak.py --hostile [--seconds S] [serve's arguments...]: each attack of hostile.py for S seconds on a server of its own, and
what a client that behaves well notices of it. By hand:
  TOKAMAK_PROGRAM=$PWD/build/release/bin/tokamak python3 tests/serve/soak.py --streams 1000 --seconds 60
"""
import argparse
import asyncio
import random
import resource
import time

import hostile
from running_server import Server, request_bytes, resident_kb


class Counts:
    whole = left = refused = broken = events = 0


async def one_stream(port, counts, chance):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request_bytes(prompt=f"There were {chance.randrange(50)} ", stream=True,
                                   temperature=1, max_tokens=chance.randrange(1, 24)))
        status = (await reader.readuntil(b"\r\n\r\n")).split()[1]
        if status != b"200":
            counts.refused += 1
            return
        leaves_after = chance.randrange(1, 5) if chance.random() < 0.1 else 1 << 30
        events = 0
        while True:
            size = int(await reader.readline(), 16)
            data = await reader.readexactly(size + 2)
            events += data.count(b"data: ")
            counts.events += data.count(b"data: ")
            if size == 0:
                counts.whole += 1
                return
            if events >= leaves_after:
                counts.left += 1
                return
    except (OSError, asyncio.IncompleteReadError, ValueError):
        counts.broken += 1
    finally:
        writer.close()


async def client(port, counts, number, end):
    chance = random.Random(number)
    while time.monotonic() < end:
        await one_stream(port, counts, chance)


async def watch(pid, counts, begin, end):
    while time.monotonic() < end:
        print(f"{time.monotonic() - begin:5.0f} s  {resident_kb(pid):8} kB  {counts.whole} whole, {counts.left} left, "
              f"{counts.refused} refused, {counts.broken} broken, {counts.events} events", flush=True)
        await asyncio.sleep(5)


async def soak(server, streams, seconds):
    counts = Counts()
    begin = time.monotonic()
    end = begin + seconds
    await asyncio.gather(watch(server.process.pid, counts, begin, end),
                         *(client(server.port, counts, number, end) for number in range(streams)))
    print(f"{time.monotonic() - begin:5.0f} s  {resident_kb(server.process.pid):8} kB at the end: {counts.whole} whole, "
          f"{counts.left} left, {counts.refused} refused, {counts.broken} broken")
    await asyncio.to_thread(server.wait_idle)


def be_hostile(seconds, arguments):
    print(hostile.HEADER, flush=True)
    for name, attack in hostile.ATTACKS.items():
        with Server("--log", "off", "--context", 256, *arguments) as server:
            print(hostile.watch(server, attack, seconds).row(name), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--hostile", action="store_true")
    options, arguments = parser.parse_known_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536), hard))
    if options.hostile:
        return be_hostile(options.seconds, arguments)
    with Server("--log", "off", "--context", 256, "--max-sequences", 32, "--max-queue", options.streams, *arguments) as server:
        asyncio.run(soak(server, options.streams, options.seconds))


if __name__ == "__main__":
    main()
