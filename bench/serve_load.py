#!/usr/bin/env python3
"""serve_load.py PORT [--streams 1,8,32,64] [--prompt 512] [--tokens 128] [--repeat 2] [--cached]: how fast a server answers.

Streams that begin together, each with a prompt of its own of random token ids and a fixed number of tokens, ask
/v1/completions. For each number of streams the median repetition is shown: tokens a second while all of them generate,
the time to the first event and the time between two events, median and 99 of 100. Events may come several in one
piece where the device runs ahead; the time between them is then that of the piece. With --cached every prompt is asked
for once before, so that its pages are in the cache and all streams generate from the start.

  tokamak serve MODEL --port 8080 --sequences 64 --context 1024 &
  python3 bench/serve_load.py 8080
"""
import argparse
import asyncio
import json
import multiprocessing
import random
import statistics
import time

CLIENTS = 4  # processes: one would be what is measured


async def stream(port, prompt, tokens, seed):
    chance = random.Random(seed)
    body = json.dumps({"prompt": [chance.randrange(1000, 30000) for _ in range(prompt)], "max_tokens": tokens,
                       "temperature": 0, "ignore_eos": True, "stream": True,
                       "stream_options": {"include_usage": True}}).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    start = time.monotonic()
    writer.write(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n")[0]:
        raise SystemExit(f"the server answers {head.decode()}{(await reader.read(1000)).decode()}")
    times, text = [], b""
    while size := int(await reader.readline(), 16):
        data = await reader.readexactly(size + 2)
        times += [time.monotonic()] * data.count(b"data: {")
        text += data[:-2]
    writer.close()
    events = [json.loads(line[6:]) for line in text.split(b"\n") if line.startswith(b"data: {")]
    return start, times[:-1], events[-1]["usage"]["completion_tokens"]


async def streams(port, prompt, tokens, seeds):
    return await asyncio.gather(*(stream(port, prompt, tokens, seed) for seed in seeds))


def client(arguments):
    return asyncio.run(streams(*arguments))


def at(values, share):
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def measure(pool, port, prompt, tokens, count, seed):
    seeds = [seed * 1000 + i for i in range(count)]
    parts = [seeds[i::CLIENTS] for i in range(CLIENTS)]
    found = [one for part in pool.map(client, [(port, prompt, tokens, part) for part in parts if part]) for one in part]
    made = [count for _, _, count in found]
    if any(one != tokens for one in made):
        raise SystemExit(f"answers of {sorted(set(made))} tokens, expected {tokens}")
    begin = max(times[0] for _, times, _ in found)
    end = min(times[-1] for _, times, _ in found)
    inside = sum(tokens * sum(begin < t <= end for t in times) / len(times) for _, times, _ in found)
    gaps = [b - a for _, times, _ in found for a, b in zip(times, times[1:]) if a >= begin and b > a]
    first = [times[0] - start for start, times, _ in found]
    return inside / (end - begin) if end > begin else 0.0, first, gaps or [0.0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int)
    parser.add_argument("--streams", default="1,8,32,64")
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--cached", action="store_true")
    options = parser.parse_args()
    print("streams    tok/s   first event p50    p99   between events p50     p99")
    with multiprocessing.Pool(CLIENTS) as pool:
        for count in map(int, options.streams.split(",")):
            if options.cached:
                for seed in range(1, options.repeat + 1):
                    measure(pool, options.port, options.prompt, 1, count, seed)
            runs = [measure(pool, options.port, options.prompt, options.tokens, count, seed)
                    for seed in range(1, options.repeat + 1)]
            rate = statistics.median(one[0] for one in runs)
            first = [value for one in runs for value in one[1]]
            gaps = [value for one in runs for value in one[2]]
            print(f"{count:7} {rate:8.0f} {1e3 * at(first, 0.5):14.1f} ms {1e3 * at(first, 0.99):6.1f} "
                  f"{1e3 * at(gaps, 0.5):16.2f} ms {1e3 * at(gaps, 0.99):7.2f}", flush=True)


if __name__ == "__main__":
    main()
