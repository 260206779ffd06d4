"""Talks to schema_tool, which compiles JSON schemas and follows texts by them."""
import json
import os
import subprocess

SOURCE = os.environ.get("TOKAMAK_SOURCE_DIR", ".")
SKIPPED = 77  # what ctest takes for a test that did not run


class SchemaTool:
    """Answers one question at a time; see schema_tool.cpp."""

    def __init__(self, *arguments):
        self.command = [os.environ["TOKAMAK_SCHEMA_TOOL"], *arguments]
        self.process = None

    def ask(self, schema, **more):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True, encoding="utf-8")
        question = {"schema": json.dumps(schema), **more}
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"schema_tool has ended: {json.dumps(schema)[:2000]}")
        return json.loads(line)

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()
            self.process = None
