"""What a model says to a fixed prompt, for tests that write recorded models anew."""
import json
import math

from program import tokamak


def answer(test, path, backend):
    """-> the last logits and the greedy tokens; `test` fails where the program or a tensor does."""
    # Of sums in another order matrix units, which round to bf16 or f16, make more than they are.
    run = tokamak("logits", path, "--tokens", ",".join(str(7 * i % 500) for i in range(40)),
                  "--steps", "4", "--json", "--backend", backend, "--no-matrix")
    test.assertEqual(run.status, 0, run)
    test.assertFalse([note for note in run.notes if "does not know" in note])
    result = json.loads(run.out)
    test.assertTrue(all(map(math.isfinite, result["logits"])))
    return result["logits"], result["greedy"]
