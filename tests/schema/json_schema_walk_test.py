#!/usr/bin/env python3
"""Random schemas, random texts under their masks: every text that ends is valid to an independent
validator (Debian's python3-jsonschema). The tokens are those of the built-in model.

usage: json_schema_walk_test.py [SCHEMAS [SEED]]     default: TOKAMAK_SCHEMAS of the environment, or 300
"""
import decimal
import json
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tool  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

WORDS = ["a", "b", "id", "name", "x y", "\u00e9t\u00e9", "q\"q", "$ref"]
PATTERNS = ["^a", "b$", "^[a-c]{1,4}$", "x", "^(ab|cd)*$", "[^a-m]", "^\\d{2}-\\w+$", "^$|z"]
FORMATS = ["date", "time", "date-time", "ipv4", "ipv6", "email", "uuid", "json-pointer"]


def scalar(rng):
    return rng.choice([None, True, False, 0, 1, -3, 2.5, 100, "", "a", "ab", "b\n", "\u00e9"])


def value(rng, depth=1):
    if depth == 0 or rng.random() < 0.7:
        return scalar(rng)
    if rng.random() < 0.5:
        return [value(rng, depth - 1) for _ in range(rng.randrange(3))]
    return {rng.choice(WORDS): value(rng, depth - 1) for _ in range(rng.randrange(3))}


def number_schema(rng):
    made = {"type": rng.choice(["number", "integer"])}
    bound = rng.choice([0, 1, -1, 10, 99, -250, 0.5, 3.25, -0.125])
    for name in ("minimum", "exclusiveMinimum"):
        if rng.random() < 0.3:
            made[name] = bound
    for name in ("maximum", "exclusiveMaximum"):
        if rng.random() < 0.3:
            made[name] = bound + rng.choice([0, 1, 5, 1000])
    if rng.random() < 0.2:
        made["multipleOf"] = rng.choice([2, 3, 7, 10])
    return made


def string_schema(rng):
    made = {"type": "string"}
    kind = rng.random()
    if kind < 0.3:
        made["pattern"] = rng.choice(PATTERNS)
    elif kind < 0.5:
        made["format"] = rng.choice(FORMATS)
        return made
    if rng.random() < 0.4:
        made["minLength"] = rng.randrange(4)
    if rng.random() < 0.4:
        made["maxLength"] = rng.randrange(1, 12)
    return made


def array_schema(rng, depth):
    made = {"type": "array"}
    if rng.random() < 0.7:
        made["items"] = schema(rng, depth - 1)
    if rng.random() < 0.3:
        made["prefixItems"] = [schema(rng, depth - 1) for _ in range(rng.randrange(1, 3))]
    if rng.random() < 0.3:
        made["minItems"] = rng.randrange(3)
    if rng.random() < 0.4:
        made["maxItems"] = rng.randrange(1, 5)
    if rng.random() < 0.15:
        made["contains"] = schema(rng, depth - 1)
        if rng.random() < 0.5:
            made["maxContains"] = rng.randrange(1, 3)
    if rng.random() < 0.1:
        made["uniqueItems"] = True
        made["items"] = {"enum": [scalar(rng) for _ in range(3)]}
    if rng.random() < 0.1:
        made["unevaluatedItems"] = False
    return made


def object_schema(rng, depth):
    made = {"type": "object"}
    names = rng.sample(WORDS, rng.randrange(4))
    if names:
        made["properties"] = {name: schema(rng, depth - 1) for name in names}
    if rng.random() < 0.5:
        made["required"] = rng.sample(WORDS, rng.randrange(3))
    if rng.random() < 0.5:
        made["additionalProperties"] = rng.choice([False, schema(rng, depth - 1)])
    if rng.random() < 0.2:
        made["patternProperties"] = {rng.choice(PATTERNS): schema(rng, depth - 1)}
    if rng.random() < 0.15:
        made["propertyNames"] = {"pattern": rng.choice(PATTERNS)}
    if rng.random() < 0.15:
        made["minProperties"] = rng.randrange(3)
    if rng.random() < 0.15:
        made["maxProperties"] = rng.randrange(1, 4)
    if rng.random() < 0.1:
        made["dependentRequired"] = {rng.choice(WORDS): [rng.choice(WORDS)]}
    if rng.random() < 0.1:
        made["unevaluatedProperties"] = False
    return made


def schema(rng, depth):
    """Mostly one type; sometimes several schemas of one, or the opposite of one."""
    kind = rng.random()
    if kind < 0.1:
        return {"enum": [value(rng) for _ in range(rng.randrange(1, 4))]}
    if kind < 0.15:
        return {"const": value(rng)}
    if kind < 0.2:
        return rng.choice([True, {}, {"type": rng.choice(["null", "boolean"])},
                           {"type": ["string", "null"]}, {"$ref": "#/$defs/node"}])
    if depth > 0 and kind < 0.45:
        combined = rng.choice(["anyOf", "anyOf", "allOf", "oneOf", "not", "if"])
        parts = [schema(rng, depth - 1) for _ in range(2)]
        if combined == "not":
            base = schema(rng, depth - 1)
            return {**({} if base is True else base), "not": simple(rng)}
        if combined == "if":
            return {"if": simple(rng), "then": parts[0], "else": parts[1]}
        base = object_schema(rng, depth) if rng.random() < 0.3 else {}
        return {**base, combined: parts}
    if depth > 0 and kind < 0.7:
        return object_schema(rng, depth)
    if depth > 0 and kind < 0.85:
        return array_schema(rng, depth)
    return number_schema(rng) if rng.random() < 0.5 else string_schema(rng)


def simple(rng):
    return rng.choice([
        {"type": rng.choice(["string", "integer", "object", "null"])}, {"const": value(rng)},
        {"required": [rng.choice(WORDS)]}, {"enum": [scalar(rng), scalar(rng)]},
        {"properties": {rng.choice(WORDS): {"const": scalar(rng)}}}, number_schema(rng),
        {"minLength": 2}, {"pattern": rng.choice(PATTERNS)}, {"minItems": 2}, {"maximum": 5}])


def with_python_patterns(node):
    """The schema with its patterns as Python has to write what ECMA-262 means: $ is the end, and not
    before a last line break; classes such as \\w are of ASCII."""
    def python_pattern(pattern):
        return "(?a)" + pattern.replace("$", r"\Z")

    if isinstance(node, list):
        return [with_python_patterns(one) for one in node]
    if not isinstance(node, dict):
        return node
    made = {name: with_python_patterns(value) for name, value in node.items()}
    if isinstance(node.get("pattern"), str):
        made["pattern"] = python_pattern(node["pattern"])
    if isinstance(node.get("patternProperties"), dict):
        made["patternProperties"] = {python_pattern(pattern): value for pattern, value
                                     in made["patternProperties"].items()}
    return made


def exact_validator(own):
    """Numbers are what they are written as, as the standard has it, however many digits they have."""
    decimal.getcontext().prec = 1000
    base = jsonschema.Draft202012Validator

    def is_integer(checker, value):
        whole = isinstance(value, decimal.Decimal) and value == value.to_integral_value()
        return whole or base.TYPE_CHECKER.is_type(value, "integer")

    types = base.TYPE_CHECKER.redefine("integer", is_integer)
    return jsonschema.validators.extend(base, type_checker=types)(
        with_python_patterns(own), format_checker=base.FORMAT_CHECKER)


def main():
    if jsonschema is None:
        print("skipped: python3-jsonschema is not installed")
        return tool.SKIPPED
    count = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TOKAMAK_SCHEMAS", 300))
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    engine = tool.SchemaTool(os.path.join(tool.SOURCE, "models/storyteller/tokenizer.json"))
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "n": {"type": "integer"}},
            "additionalProperties": False}
    refused = never = texts = unfinished = 0
    wrong = []
    for i in range(count):
        own = schema(rng, 3)
        if isinstance(own, bool):
            own = {}
        own = {"$schema": "https://json-schema.org/draft/2020-12/schema", **own, "$defs": {"node": node}}
        answer = engine.ask(own, walks=4, seed=rng.randrange(1 << 30), tokens=30)
        if "error" in answer:
            if "No value satisfies" in answer["error"]:
                never += 1
            else:
                refused += 1
            continue
        validator = exact_validator(own)
        for walk in answer["walks"]:
            texts += 1
            if "long" in walk:  # the walk was cut, where its text might have gone on to an end
                unfinished += 1
                continue
            problem = "no token may follow" if "stuck" in walk else ""
            try:
                made = json.loads(walk["text"], parse_float=decimal.Decimal)
                problem = problem or "; ".join(e.message for e in validator.iter_errors(made))
            except ValueError as error:
                problem = problem or str(error)
            if problem:
                wrong.append(f"{json.dumps(own)}\n  {walk['text']}\n  {problem}")
    engine.close()
    print(f"{count} schemas: {refused} refused, {never} that nothing satisfies; {texts} texts, "
          f"{unfinished} cut, {len(wrong)} wrong")
    for one in wrong[:10]:
        print(f"wrong: {one}")
    # A test that refuses or cuts everything would say nothing.
    return 1 if wrong or refused > count / 2 or unfinished > texts / 2 else 0


if __name__ == "__main__":
    sys.exit(main())
