// The Model Context Protocol's own client, which starts `tokamak mcp`.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ErrorCode } from "@modelcontextprotocol/sdk/types.js";
import { question, served, vectorsKey } from "./served.ts";

const client = new Client({ name: "tokamak-clients", version: "1.0.0" });
const fox = { messages: [{ role: "user", content: question }], max_tokens: 8, temperature: 0 };

type Written = { text: string; finish_reason: string; completion_tokens: number };
type Result = {
  content: { type: string; text: string }[];
  structuredContent?: unknown;
  isError?: boolean;
};
const call = async (name: string, args: object, options = {}) =>
  (await client.callTool({ name, arguments: { ...args } }, undefined, options)) as Result;

const transportFor = (model: string) =>
  new StdioClientTransport({
    command: process.env.TOKAMAK_PROGRAM!,
    args: ["mcp", model, "--backend", "cpu-reference"],
    stderr: "ignore",
  });

before(() =>
  client.connect(transportFor(join(process.env.TOKAMAK_SOURCE_DIR!, "models/storyteller"))),
);
after(() => client.close());

test("the server says who it is and is well", async () => {
  assert.equal(client.getServerVersion()!.name, "tokamak");
  assert.deepEqual(client.getServerCapabilities(), { tools: {} });
  await client.ping();
});

test("a chat is the one that the server gives over HTTP", async () => {
  // The client holds results to the schemas of the tools that it has listed.
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ["generate", "chat", "models"],
  );
  const result = await call("chat", fox);
  const written = result.structuredContent as Written;
  assert.equal(written.completion_tokens, 8);
  assert.equal(written.finish_reason, "length");
  assert.equal(result.content[0]!.text, written.text);
  const response = await fetch(`${served.stories}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify(fox),
  });
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  assert.equal(written.text, choices[0]!.message.content);
});

test("several calls run at once", async () => {
  const results = await Promise.all(
    [1, 2, 3].map((seed) => call("generate", { prompt: "Once upon a time", max_tokens: 6, seed })),
  );
  assert.equal(new Set(results.map(({ content }) => content[0]!.text)).size, 3);
  const models = (await call("models", {})).structuredContent as { models: { id: string }[] };
  assert.deepEqual(
    models.models.map(({ id }) => id),
    ["storyteller"],
  );
});

test("a long call tells how far it is, and may be cancelled", async () => {
  const leave = new AbortController();
  const seen: number[] = [];
  const long = call(
    "generate",
    { prompt: "Once upon a time", max_tokens: 1500 },
    {
      signal: leave.signal,
      onprogress: ({ progress }: { progress: number }) => {
        seen.push(progress);
        leave.abort("enough");
      },
    },
  );
  await assert.rejects(long, /enough/);
  assert(seen.length > 0);
  assert.equal((await call("chat", { ...fox, max_tokens: 2 })).isError, false);
});

test("what is wrong with a call is for the model that made it", async () => {
  const result = await call("chat", { ...fox, temperature: 3 });
  assert.equal(result.isError, true);
  assert.match(result.content[0]!.text, /temperature is 3/);
  await assert.rejects(call("fly", {}), { code: ErrorCode.InvalidParams, message: /fly/ });
});

test("a model that makes vectors embeds, and does not write", async () => {
  const embedder = new Client({ name: "tokamak-clients", version: "1.0.0" });
  await embedder.connect(transportFor(process.env.TOKAMAK_VECTORS!));
  const { tools } = await embedder.listTools();
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ["embed", "models"],
  );
  const input = ["a fox", "a queen"];
  const result = await embedder.callTool({ name: "embed", arguments: { input } });
  await embedder.close();
  const response = await fetch(`${served.vectors}/v1/embeddings`, {
    method: "POST",
    headers: { Authorization: `Bearer ${vectorsKey}` },
    body: JSON.stringify({ input }),
  });
  const { data } = (await response.json()) as { data: { embedding: number[] }[] };
  const made = result.structuredContent as { embeddings: number[][] };
  assert.deepEqual(
    made.embeddings,
    data.map(({ embedding }) => embedding),
  );
});
