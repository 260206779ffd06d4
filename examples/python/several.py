#!/usr/bin/env python3
"""several.py [BACKEND [MODEL]]: three texts at once in an event loop, of which the slowest is given up."""
import asyncio
import sys

import tokamak


async def text(model, prompt, **options):
    return "".join([piece async for piece in model.generate(prompt, **options)])


async def main(backend="auto", name=""):
    with tokamak.open(name, backend=backend, context=512, sequences=3) as model:
        fox, king = await asyncio.gather(text(model, "The fox said", max_tokens=24, seed=1),
                                         text(model, "The old king", max_tokens=24, seed=2))
        print(f"The fox said{fox}\nThe old king{king}")
        try:
            await asyncio.wait_for(text(model, "For ever", max_tokens=400, end_ids=[]), timeout=0.05)
        except asyncio.TimeoutError:
            print("The third one took too long, and the model writes no more of it.")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
