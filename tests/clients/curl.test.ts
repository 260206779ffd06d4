// curl: what a shell sees, with the bytes on the wire.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { question, served } from "./served.ts";

async function curl(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("curl", ["--silent", "--show-error", ...args]);
  return stdout;
}

const chat = `${served.stories}/v1/chat/completions`;
const request = {
  messages: [{ role: "user", content: question }],
  max_tokens: 8,
  temperature: 0,
};
const body = (more: object = {}) => ["--data", JSON.stringify({ ...request, ...more })];
const statusAndType = ["--output", "/dev/null", "--write-out", "%{http_code} %{content_type}"];

test("an answer needs no header and no model", async () => {
  const answer = JSON.parse(await curl(chat, ...body()));
  assert.equal(answer.object, "chat.completion");
  assert.equal(answer.choices[0].message.role, "assistant");
  assert.equal(answer.usage.completion_tokens, 8);
  assert.match(answer.id, /^chatcmpl-\w{20}/);
});

test("a stream is events that end with [DONE]", async () => {
  const answer = JSON.parse(await curl(chat, ...body()));
  const stream = await curl("--no-buffer", chat, ...body({ stream: true }));
  assert(stream.endsWith("data: [DONE]\n\n"));
  const events = stream.trimEnd().split("\n\n");
  assert.equal(events.pop(), "data: [DONE]");
  const chunks = events.map((event) => {
    assert(event.startsWith("data: {"), event);
    return JSON.parse(event.slice("data: ".length));
  });
  const text = chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join("");
  assert.equal(text, answer.choices[0].message.content);
  assert.equal(
    await curl(...statusAndType, chat, ...body({ stream: true })),
    "200 text/event-stream; charset=utf-8",
  );
});

test("the first event comes before the last is written", async () => {
  const child = spawn("curl", ["--silent", "--no-buffer", chat, ...body({ stream: true, max_tokens: 200 })]);
  const parts: string[] = [];
  for await (const part of child.stdout) parts.push(String(part));
  assert(parts.length > 2, `a stream in ${parts.length} parts`);
  const first = parts[0]!;
  assert(first.startsWith("data: ") && !first.includes("[DONE]"), first);
});

test("what is wrong has a status, and a JSON body in either form of HTTP", async () => {
  for (const version of ["--http1.1", "--http1.0"]) {
    const cases: [string, string[]][] = [
      ["400", [chat, "--data", "{"]],
      ["400", [chat, ...body({ temperature: "hot" })]],
      ["404", [chat, ...body({ model: "no-model" })]],
      ["404", [`${served.stories}/v1/nothing`]],
      ["405", [chat]],
    ];
    for (const [status, args] of cases) {
      assert.equal(await curl(version, ...statusAndType, ...args), `${status} application/json`);
      const { error } = JSON.parse(await curl(version, ...args));
      assert.deepEqual(Object.keys(error).sort(), ["code", "message", "param", "type"]);
    }
  }
});

test("a body may come in chunks, and after the server has agreed to it", async () => {
  for (const header of ["Transfer-Encoding: chunked", "Expect: 100-continue"]) {
    const answer = JSON.parse(await curl("--header", header, chat, ...body()));
    assert.equal(answer.usage.completion_tokens, 8);
  }
});

test("one connection is enough for several requests", async () => {
  const models = `${served.stories}/v1/models`;
  const connections = await curl(
    ...["--output", "/dev/null", "--output", "/dev/null", "--write-out", "%{num_connects}"],
    models,
    models,
  );
  assert.equal(connections, "10");
});

test("a text goes to tokens and back", async () => {
  const text = JSON.stringify({ content: "Once upon a time" });
  const { tokens } = JSON.parse(await curl(`${served.stories}/tokenize`, "--data", text));
  const ids = JSON.stringify({ tokens });
  const { content } = JSON.parse(await curl(`${served.stories}/detokenize`, "--data", ids));
  assert.equal(content, "Once upon a time");
});

test("the server says that it is well", async () => {
  assert.deepEqual(JSON.parse(await curl(`${served.stories}/health`)), { status: "ok" });
});
