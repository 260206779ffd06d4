// OpenAI's calls and those of others without a server: the answers are those of one.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { all, openaiFetch, openStory, PROGRAM, STORYTELLER } from "./shared.mjs";

const MESSAGES = [{ role: "user", content: "Hello" }];
const GREEDY = { temperature: 0, max_tokens: 8 };
const BASE = "https://tokamak.invalid";

const story = await openStory();
const ask = openaiFetch(story);
const post = (path, body, init = {}) => ask(BASE + path, { method: "POST", body: JSON.stringify(body), ...init });
after(() => story.close());

test("answers a chat, whole and in events", async () => {
  const answer = await post("/v1/chat/completions", { messages: MESSAGES, model: "storyteller", ...GREEDY });
  assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "application/json"]);
  const { choices, usage } = await answer.json();
  assert.equal(usage.completion_tokens, 8);
  const stream = await post("/v1/chat/completions", { messages: MESSAGES, stream: true, ...GREEDY });
  assert.match(stream.headers.get("content-type"), /^text\/event-stream/);
  const events = (await stream.text()).split("\n\n");
  assert.deepEqual(events.splice(-2), ["data: [DONE]", ""]);
  const chunks = events.map((event) => JSON.parse(event.replace(/^data: /, "")));
  assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join(""), choices[0].message.content);
});

test("answers are streams while they are made", async () => {
  const { body } = await post("/v1/completions", { prompt: "Once", max_tokens: 400, stream: true, ignore_eos: true });
  let count = 0;
  for await (const _ of body) if (++count === 3) break;
  assert.equal(count, 3);
  assert.equal((await (await post("/v1/completions", { prompt: "Once", ...GREEDY })).json()).choices.length, 1);
});

test("answers a request with errors as a server does", async () => {
  const status = async (answer) => {
    const { status, body } = await answer.then(async (found) => ({ status: found.status, body: await found.json() }));
    assert.ok((body.error.message ?? body.error).length > 10);
    return status;
  };
  assert.equal(await status(post("/v1/chat/completions", { messages: "none" })), 400);
  assert.equal(await status(post("/v1/chat/completions", { messages: MESSAGES, model: "another" })), 404);
  assert.equal(await status(post("/v1/none", {})), 404);
  assert.equal(await status(ask(`${BASE}/v1/chat/completions`)), 405);
  assert.equal(await status(ask(`${BASE}/v1/models`, { method: "DELETE" })), 405);
  assert.equal(await status(ask(`${BASE}/v1/chat/completions`, { method: "POST" })), 400);
});

test("long bodies are prepared by another thread, and are answered the same", async () => {
  const { choices } = await (await post("/v1/chat/completions", { messages: MESSAGES, ...GREEDY })).json();
  const padded = { messages: MESSAGES, ...GREEDY, user: "x".repeat(10_000) };
  assert.deepEqual((await (await post("/v1/chat/completions", padded)).json()).choices, choices);
  const reason = new Error("enough");
  const control = new AbortController();
  const asked = post("/v1/chat/completions", { ...padded, max_tokens: 400 }, { signal: control.signal });
  control.abort(reason);
  await assert.rejects(asked, (error) => error === reason);
  const begun = new AbortController();
  const exchanged = story.exchange({ method: "POST", path: "/v1/chat/completions", body: JSON.stringify(padded) }, { signal: begun.signal });
  begun.abort();
  await assert.rejects(exchanged, { name: "TokamakError", code: "cancelled" });
});

test("a signal ends a request with its reason", async () => {
  const control = new AbortController();
  const reason = new Error("enough");
  const { body } = await post("/v1/completions", { prompt: "Once", max_tokens: 400, stream: true, ignore_eos: true }, { signal: control.signal });
  const read = async () => {
    for await (const _ of body) control.abort(reason);
  };
  await assert.rejects(read(), (error) => error === reason);
  await assert.rejects(post("/v1/completions", { prompt: "Once" }, { signal: AbortSignal.abort() }), { name: "AbortError" });
  await assert.rejects(
    post("/v1/completions", { prompt: "Once", max_tokens: 400, ignore_eos: true }, { signal: AbortSignal.timeout(5) }),
    { name: "TimeoutError" },
  );
});

test("exchange gives what fetch wraps", async () => {
  const { status, contentType, body } = await story.exchange({ method: "GET", path: "/v1/models", body: "" });
  assert.deepEqual([status, contentType], [200, "application/json"]);
  const text = Buffer.concat(await all(body)).toString();
  assert.deepEqual(JSON.parse(text).data.map(({ id }) => id), ["storyteller"]);
  const aborted = story.exchange({ method: "GET", path: "/v1/models", body: "" }, { signal: AbortSignal.abort() });
  await assert.rejects(aborted, { name: "TokamakError", code: "cancelled" });
});

/** `tokamak serve` and its address. */
async function serve() {
  const server = spawn(PROGRAM, ["serve", STORYTELLER, "--backend", "cpu", "--context", "512", "--port", "0"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  for await (const line of createInterface(server.stdout)) {
    const url = /Listening on (\S+)/.exec(line)?.[1];
    if (url) return { url, stop: () => server.kill() };
  }
  throw new Error("The server did not start.");
}

/** An answer without what is another one each time. */
function comparable(text) {
  return text
    .replace(/"((?:item_|response_)?id|system_fingerprint|created_at)": ?"[^"]*"/g, '"$1": ""')
    .replace(/"(created|created_at|completed_at|\w*_duration)": ?[\d.]+/g, '"$1": 0');
}

test("answers are those of a server, to the byte", async () => {
  const { url, stop } = await serve();
  try {
    for (const [path, body] of [
      ["/v1/chat/completions", { messages: MESSAGES, ...GREEDY }],
      ["/v1/chat/completions", { messages: MESSAGES, ...GREEDY, stream: true, stream_options: { include_usage: true } }],
      ["/v1/completions", { prompt: "Once", ...GREEDY, stream: true, logprobs: 2 }],
      ["/v1/responses", { input: "Hello", temperature: 0, max_output_tokens: 16, stream: true }],
      ["/v1/messages", { messages: MESSAGES, ...GREEDY, stream: true }],
      ["/api/chat", { messages: MESSAGES, options: { temperature: 0, num_predict: 8 } }],
      ["/api/generate", { prompt: "Once", options: { temperature: 0, num_predict: 8 }, stream: false }],
    ]) {
      const own = await post(path, body);
      const served = await fetch(url + path, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });
      assert.equal(own.headers.get("content-type"), served.headers.get("content-type"), path);
      assert.equal(comparable(await own.text()), comparable(await served.text()), path);
    }
  } finally {
    stop();
  }
});
