#!/usr/bin/env python3
"""openai_calls.py [BACKEND [MODEL]]: OpenAI's calls without a server, and the same with one."""
import json
import sys
import urllib.request

import tokamak

SCHEMA = {"type": "object", "properties": {"animal": {"enum": ["fox", "owl"]}}, "required": ["animal"],
          "additionalProperties": False}
QUESTION = {
    "messages": [{"role": "user", "content": "Which animal?"}],
    "temperature": 0,
    "max_tokens": 32,
    "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}},
}


def main(backend="auto", name=""):
    with tokamak.open(name, backend=backend, context=512) as model:
        answer = model.openai.chat.completions.create(**QUESTION)
        print("without a server:", answer.choices[0].message.content)
    with tokamak.serve(name, backend=backend, context=512) as url:
        body = json.dumps(QUESTION).encode()
        request = urllib.request.Request(f"{url}/v1/chat/completions", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as served:
            print("by a server:", json.load(served)["choices"][0]["message"]["content"])


if __name__ == "__main__":
    main(*sys.argv[1:])
