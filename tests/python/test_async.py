"""Streams in an event loop."""
import asyncio
import time

import pytest

ONCE = "Once upon a time"


def test_iterates_as_a_plain_loop_does(story):
    async def read():
        return [piece async for piece in story.generate(ONCE, temperature=0, max_tokens=12)]

    assert "".join(asyncio.run(read())) == story.generate(ONCE, temperature=0, max_tokens=12).text


def test_runs_beside_each_other_and_other_tasks(story):
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.001)

    async def read(seed):
        return "".join([piece async for piece in story.generate(ONCE, temperature=1, seed=seed, max_tokens=24)])

    async def both():
        ticking = asyncio.create_task(tick())
        texts = await asyncio.gather(read(1), read(2), read(3))
        ticking.cancel()
        return texts

    texts = asyncio.run(both())
    assert texts == [story.generate(ONCE, temperature=1, seed=seed, max_tokens=24).text for seed in (1, 2, 3)]
    assert ticks > 5, "the loop was not held up"


def test_cancelling_the_task_cancels_the_text(story):
    run = story.generate(ONCE, max_tokens=400, end_ids=[])

    async def read():
        async for _ in run:
            pass

    async def cancelled():
        task = asyncio.create_task(read())
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert run.result.finish == "cancelled"
    assert len(run.result.ids) < 400


def test_goes_on_in_another_loop(story):
    run = story.generate(ONCE, temperature=0, max_tokens=12)
    first = asyncio.run(run.__anext__())
    rest = asyncio.run(_all(run))
    assert first + "".join(rest) == run.text


async def _all(run):
    return [piece async for piece in run]


def test_a_loop_that_has_ended_holds_nothing_up(story):
    run = story.generate(ONCE, max_tokens=60, end_ids=[])
    asyncio.run(run.__anext__())
    began = time.monotonic()
    assert run.result.finish == "length"
    assert time.monotonic() - began < 20
