// The OpenAI-shaped API as a fetch, over a fake module.
import { expect, test, vi } from "vitest";
import { openaiFetch } from "../src/openai.ts";
import { openExchange } from "../src/exchange.ts";
import type { StepReply } from "../src/protocol.ts";
import { type Verbs, connected, soon } from "./fakes.ts";

const URL_CHAT = "https://tokamak.invalid/v1/chat/completions";

function fetchOver(verbs: Verbs) {
  const { connection, ...others } = connected(verbs);
  // A session takes requests once a model is open.
  const ready = connection.send({ kind: "open", source: "/m/", options: { wasm: "x", whole: "" } }).result;
  const exchange: Parameters<typeof openaiFetch>[0]["exchange"] = async (request, { signal } = {}) => {
    await ready;
    return openExchange(connection, request, signal);
  };
  return { ...others, connection, fetch: openaiFetch({ exchange }) };
}

/** Each inner list is what one step brings of exchange 1. */
function steps(...replies: object[][]): Verbs {
  const left = [...replies];
  return {
    openai: () => ({ exchange: 1 }),
    step: async (): Promise<StepReply> => {
      await soon(1);
      const events = (left.shift() ?? []).map((event) => ({ exchange: 1, ...event }));
      return { more: left.length > 0, events };
    },
  };
}

test("a stream of events comes as it is written, frame by frame", async () => {
  const frames = ['data: {"a":1}\n\n', 'data: {"é":2}\n\n', "data: [DONE]\n\n"];
  const { fetch, module } = fetchOver(
    steps(
      [{ status: 200, contentType: "text/event-stream" }],
      [{ body: frames[0] }],
      [{ body: frames[1] }, { body: frames[2] }, { end: true }],
    ),
  );
  const body = JSON.stringify({ stream: true, messages: [] });
  const response = await fetch(URL_CHAT, { method: "POST", body });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const read: string[] = [];
  for await (const bytes of response.body as AsyncIterable<Uint8Array>) {
    read.push(new TextDecoder().decode(bytes));
  }
  expect(read).toEqual(frames);
  expect(module.calls.find(({ verb }) => verb === "openai")?.values).toEqual({
    method: "POST",
    path: "/v1/chat/completions",
    body,
  });
});

test("an error of a request is an answer with its status", async () => {
  const error = { error: { message: "no model x", type: "invalid_request_error" } };
  const { fetch } = fetchOver(
    steps([
      { status: 404, contentType: "application/json" },
      { body: JSON.stringify(error) },
      { end: true },
    ]),
  );
  const response = await fetch(URL_CHAT, { method: "POST", body: "{}" });
  expect([response.ok, response.status]).toEqual([false, 404]);
  expect(await response.json()).toEqual(error);
});

function endless(log: string[]): Verbs {
  let cancelled = false;
  return {
    openai: () => ({ exchange: 1 }),
    openai_cancel: ({ exchange }: { exchange: number }) => {
      log.push(`cancel ${exchange}`);
      cancelled = true;
      return {};
    },
    step: async () => {
      await soon(1);
      const head = log.includes("head") ? {} : { status: 200, contentType: "text/event-stream" };
      log.push("head");
      const event = cancelled ? { exchange: 1, end: true } : { exchange: 1, ...head, body: "data: x\n\n" };
      return { more: !cancelled, events: [event] };
    },
  };
}

test("an aborted signal ends the request in the engine and the stream with the signal's reason", async () => {
  const log: string[] = [];
  const { fetch } = fetchOver(endless(log));
  const abort = new AbortController();
  const { body } = await fetch(URL_CHAT, { method: "POST", body: "{}", signal: abort.signal });
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  abort.abort();
  const rest = async () => {
    while (!(await reader.read()).done);
  };
  await expect(rest()).rejects.toMatchObject({ name: "AbortError" });
  await vi.waitFor(() => expect(log.filter((line) => line === "cancel 1")).toHaveLength(1));
});

test("a reader that leaves ends the request in the engine", async () => {
  const log: string[] = [];
  const { fetch } = fetchOver(endless(log));
  const { body } = await fetch(URL_CHAT, { method: "POST", body: "{}" });
  await (body as ReadableStream<Uint8Array>).cancel();
  await vi.waitFor(() => expect(log).toContain("cancel 1"));
});

test("a signal that was aborted before is an abort, and nothing is asked", async () => {
  const { fetch, module } = fetchOver(endless([]));
  const asked = fetch(URL_CHAT, { method: "POST", body: "{}", signal: AbortSignal.abort() });
  await expect(asked).rejects.toMatchObject({ name: "AbortError" });
  expect(module.calls.some(({ verb }) => verb === "openai")).toBe(false);
});

test("a stream ends with an error where the engine ends", async () => {
  const { fetch, worker } = fetchOver(endless([]));
  const { body } = await fetch(URL_CHAT, { method: "POST", body: "{}" });
  worker.fail("gone");
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const rest = async () => {
    while (!(await reader.read()).done);
  };
  await expect(rest()).rejects.toMatchObject({ code: "crashed" });
});
