// The OpenAI-shaped API as a fetch, over a fake module.
import { expect, test, vi } from "vitest";
import type { Sound, SpeakOptions, TranscribeOptions } from "../src/api.ts";
import { TokamakError } from "../src/errors.ts";
import { openaiFetch } from "../src/openai.ts";
import { openExchange } from "../src/exchange.ts";
import type { StepReply } from "../src/protocol.ts";
import { type Verbs, connected, soon } from "./fakes.ts";

const URL_CHAT = "https://tokamak.invalid/v1/chat/completions";

const unused = () => Promise.reject(new Error("Nobody should ask."));
const SILENT = { exchange: unused, transcribe: unused, speak: unused };

function fetchOver(verbs: Verbs) {
  const { connection, ...others } = connected(verbs);
  // A session takes requests once a model is open.
  const ready = connection.send({ kind: "open", source: "/m/", options: { wasm: "x", whole: "" } }).result;
  const exchange: Parameters<typeof openaiFetch>[0]["exchange"] = async (request, { signal } = {}) => {
    await ready;
    return openExchange(connection, request, signal);
  };
  return { ...others, connection, fetch: openaiFetch({ ...SILENT, exchange }) };
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

const AUDIO = "https://tokamak.invalid/v1/audio/";

function form(values: Record<string, string | Blob>): RequestInit {
  const body = new FormData();
  for (const [name, value] of Object.entries(values)) body.append(name, value);
  return { method: "POST", body };
}

test("a recording in a form is written down in the format that is asked for", async () => {
  const asked: [Sound, TranscribeOptions | undefined][] = [];
  const transcript = { text: "Hello.", language: "en", duration: 1, segments: [], file: "1\n00:00 ..." };
  const transcribe = async (sound: Sound, options?: TranscribeOptions) => (asked.push([sound, options]), transcript);
  const fetch = openaiFetch({ ...SILENT, transcribe });
  const file = new Blob(["abc"]);
  const ask = async (path: string, more: Record<string, string> = {}) => {
    const answer = await fetch(`${AUDIO}${path}`, form({ file, model: "whisper-1", ...more }));
    return [answer.status, answer.headers.get("content-type"), await answer.text()];
  };
  expect(await ask("transcriptions", { language: "en", prompt: "Tokamak", temperature: "0.5" })).toEqual(
    [200, "application/json", '{"text":"Hello."}']);
  expect(await (asked[0]?.[0] as Blob).text()).toBe("abc");
  expect(asked[0]?.[1]).toMatchObject({ language: "en", prompt: "Tokamak", temperature: 0.5, translate: false });
  expect(await ask("transcriptions", { response_format: "srt" })).toEqual([200, "text/plain; charset=utf-8", transcript.file]);
  expect(asked[1]?.[1]).toMatchObject({ format: "srt" });
  const [, , verbose] = await ask("translations", { response_format: "verbose_json" });
  expect(JSON.parse(verbose as string)).toEqual({ task: "translate", text: "Hello.", language: "en", duration: 1, segments: [] });
  expect(asked[2]?.[1]?.translate).toBe(true);
});

test("requests with sound that are wrong are answered with the field", async () => {
  const transcribe = () => Promise.reject(new TokamakError("unsupported", "It hears nothing."));
  const fetch = openaiFetch({ ...SILENT, transcribe });
  const ask = async (path: string, init: RequestInit) => {
    const answer = await fetch(`${AUDIO}${path}`, init);
    const { error } = (await answer.json()) as { error: { param: string | null; message: string } };
    return [answer.status, error.param, error.message];
  };
  const file = new Blob(["abc"]);
  expect(await ask("transcriptions", form({}))).toEqual([400, "file", "file is missing, expected a recording."]);
  expect((await ask("transcriptions", form({ file, response_format: "xml" })))[1]).toBe("response_format");
  expect((await ask("transcriptions", form({ file, temperature: "2" })))[1]).toBe("temperature");
  expect(await ask("transcriptions", form({ file }))).toEqual([400, null, "It hears nothing."]);
  const speech = (body: object) => ask("speech", { method: "POST", body: JSON.stringify(body) });
  expect((await speech({}))[1]).toBe("input");
  expect((await speech({ input: "a", response_format: "mp3" }))[1]).toBe("response_format");
  expect((await speech({ input: "a", speed: 2 }))[1]).toBe("speed");
});

test("a text is said as a WAV file that grows, or as its samples alone; what fails before them is an answer", async () => {
  const speak = async (text: string, { onSamples, seed }: SpeakOptions = {}) => {
    if (text === "") throw new TokamakError("invalid-input", "There is nothing to say.");
    expect(seed).toBe(7);
    for (const samples of [[0.5, -1], [2]]) onSamples?.(Float32Array.from(samples), 22_050);
    return { samples: new Float32Array(), rate: 22_050, pieces: 1, cut: 0 };
  };
  const fetch = openaiFetch({ ...SILENT, speak });
  const ask = (input: string, response_format: string) =>
    fetch(`${AUDIO}speech`, { method: "POST", body: JSON.stringify({ input, response_format, voice: "alloy", seed: 7 }) });
  const bytes = async (format: string) => new DataView(await (await ask("Hello.", format)).arrayBuffer());
  const pcm = await bytes("pcm");
  expect([0, 2, 4].map((at) => pcm.getInt16(at, true))).toEqual([16_384, -32_768, 32_767]);
  const wav = await bytes("wav");
  expect([wav.byteLength, wav.getUint32(24, true), wav.getUint32(40, true), wav.getInt16(44, true)]).toEqual([50, 22_050, 0xffffffff, 16_384]);
  expect((await ask("", "wav")).status).toBe(400);
});
