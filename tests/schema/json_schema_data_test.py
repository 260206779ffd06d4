#!/usr/bin/env python3
"""Scores the schema engine on data beside the project, where that is: a folder with suite/ (the
JSON-Schema-Test-Suite) and real/ (lines with id, schema and tests), named by TOKAMAK_SCHEMA_DATA or
found as ../shared/jsonschema. What is invalid must never be accepted; the rest is reported.

usage: json_schema_data_test.py [--show]     --show prints every test that is not right
"""
import collections
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tool  # noqa: E402


def data_folder():
    named = os.environ.get("TOKAMAK_SCHEMA_DATA")
    return pathlib.Path(named or pathlib.Path(tool.SOURCE).resolve().parent / "shared/jsonschema")


def text_of(value):
    return json.dumps(value, ensure_ascii=False)


def orders_in(schema, found):
    """The lists of names of all objects that the schema describes."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            required = schema.get("required")
            names = list(properties)
            if isinstance(required, list):
                names += [name for name in required if name not in properties]
            found.append(names)
        for value in schema.values():
            orders_in(value, found)
    elif isinstance(schema, list):
        for value in schema:
            orders_in(value, found)
    return found


def reordered(value, orders):
    """The value with members in the order of the list that has most of their names."""
    if isinstance(value, list):
        return [reordered(one, orders) for one in value]
    if not isinstance(value, dict):
        return value
    best = max(orders, key=lambda names: len(set(names) & set(value)), default=[])
    names = [name for name in best if name in value]
    names += [name for name in value if name not in names]
    return {name: reordered(value[name], orders) for name in names}


def suite_cases(folder):
    for path in sorted((folder / "suite/draft2020-12").rglob("*.json")):
        part = "format assertions" if "format" in path.parts[-2:][0] else "suite"
        if path.name == "format.json":
            part = "formats as annotations"  # they are enforced here
        for group in json.loads(path.read_text(encoding="utf-8")):
            yield part, f"{path.stem}: {group['description']}", group["schema"], group["tests"]


def real_cases(folder):
    for path in sorted((folder / "real").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            yield "real", case["id"], case["schema"], case["tests"]


def reason_of(error):
    """The keyword of a refusal."""
    found = re.search(r": (?:a |the )?([$A-Za-z]+)", error)
    return found.group(1) if found else error[:40]


def main():
    show = "--show" in sys.argv
    folder = data_folder()
    if not (folder / "real").is_dir():
        print(f"skipped: there is no folder {folder} with data")
        return tool.SKIPPED
    engine = tool.SchemaTool()
    counts = collections.defaultdict(collections.Counter)
    refused = collections.Counter()
    times, wrong = [], []
    for part, name, schema, tests in [*suite_cases(folder), *real_cases(folder)]:
        own = counts[part]
        orders = orders_in(schema, [])
        texts = [text_of(test["data"]) for test in tests]
        texts += [text_of(reordered(test["data"], orders)) for test in tests]
        answer = engine.ask(schema, texts=texts)
        own["schemas"] += 1
        if "error" in answer:
            # A schema that nothing satisfies has no valid instance, and is held.
            if answer["error"].startswith("#: No value") and not any(t["valid"] for t in tests):
                own["invalid refused"] += len(tests)
                continue
            own["schemas refused"] += 1
            own["tests refused"] += len(tests)
            if part == "real":
                refused[reason_of(answer["error"])] += 1
            if show:
                print(f"refused  {part} {name}: {answer['error']}")
            continue
        if part == "real":
            times.append(answer["compile_us"])
        for i, test in enumerate(tests):
            taken, taken_reordered = answer["taken"][i], answer["taken"][i + len(tests)]
            if not test["valid"]:
                kind = "INVALID ACCEPTED" if taken else "invalid refused"
                if taken and part != "formats as annotations":
                    wrong.append(f"{part} {name}: {test['description']}: {texts[i][:300]}")
            elif taken:
                kind = "valid accepted"
            elif taken_reordered:
                kind = "valid in the schema's order"
            else:
                kind = "valid refused"
                if show:
                    print(f"incomplete  {part} {name}: {test['description']}: {texts[i][:300]}")
            own[kind] += 1
    engine.close()
    for part, own in counts.items():
        print(f"{part}: " + ", ".join(f"{kind} {count}" for kind, count in sorted(own.items())))
    print("real schemas refused for: " +
          ", ".join(f"{reason} {count}" for reason, count in refused.most_common()))
    times.sort()
    if times:
        print("compile, us: " + ", ".join(
            f"p{share} {times[min(len(times) - 1, len(times) * share // 100)]:.0f}"
            for share in (50, 90, 95, 99)) + f", most {times[-1]:.0f}")
    for line in wrong:
        print(f"wrong: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
