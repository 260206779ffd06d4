#!/usr/bin/env python3
"""similarity.py [BACKEND [MODEL]]: which sentence means most nearly the same as the first one."""
import sys

import tokamak

SENTENCES = ["A fox sleeps in the forest", "The sea is calm tonight", "A fox is asleep among the trees"]


def main(backend="auto", name=""):
    with tokamak.open(name, backend=backend, pooling="" if name else "mean") as model:
        first, *others = model.embed(SENTENCES, normalize=True)
    for sentence, vector in zip(SENTENCES[1:], others):
        print(f"{sum(a * b for a, b in zip(first, vector)):.3f}  {sentence}")


if __name__ == "__main__":
    main(*sys.argv[1:])
