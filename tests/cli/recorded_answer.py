"""What a model says to a fixed prompt, for tests that write recorded models anew."""
import json
import math

from program import tokamak


def answer(test, path, backend):
    """-> the last logits and the greedy tokens; `test` fails where the program or a tensor does."""
    # Matrix units round to bf16 or f16, which makes more of a difference in the order of sums.
    run = tokamak("logits", path, "--tokens", ",".join(str(7 * i % 500) for i in range(40)),
                  "--steps", "4", "--json", "--backend", backend, "--no-matrix")
    test.assertEqual(run.status, 0, run)
    test.assertFalse([note for note in run.notes if "does not know" in note])
    result = json.loads(run.out)
    test.assertTrue(all(map(math.isfinite, result["logits"])))
    return result["logits"], result["greedy"]


def last_logits(model, *more):
    """Those after five tokens, by the reference."""
    run = tokamak("logits", model, "--tokens", "1,2,3,4,5", "--backend", "cpu-reference", "--json", *more)
    assert (run.status, run.errors) == (0, []), run
    return json.loads(run.out)["logits"]


def cosine(a, b):
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
