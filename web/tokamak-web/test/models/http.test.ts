import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { get, getBytes, NetworkError, pieces, retry, WAITS_MS } from "../../src/models/http.ts";
import { FakeServer, noise } from "./fakes.ts";

const URL_A = "https://a.example/org/name/model.safetensors";
const request = (more: object = {}) => ({ url: URL_A, what: "model.safetensors", signal: new AbortController().signal, ...more });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("retry", () => {
  const failing = (times: number, waitMs?: number) => {
    const at: number[] = [];
    const work = async () => {
      at.push(Date.now());
      if (at.length <= times) throw new NetworkError("no", true, undefined, waitMs);
      return "done";
    };
    return { at, work };
  };
  const pauses = (at: number[]) => at.slice(1).map((time, i) => time - at[i]!);
  const network = (random: number) => new FakeServer().network({ waitsMs: WAITS_MS, random: () => random });

  it.each([[0.5, [1000, 4000, 16_000]], [0, [750, 3000, 12_000]]])("waits 1, 4 and 16 s, give or take (%d)", async (random, expected) => {
    const { at, work } = failing(3);
    const done = retry(network(random), request().signal, work);
    await vi.runAllTimersAsync();
    expect(await done).toBe("done");
    expect(pauses(at)).toEqual(expected);
  });

  it("gives up after the fourth failure", async () => {
    const { at, work } = failing(9);
    const done = retry(network(0.5), request().signal, work).catch((error: unknown) => error);
    await vi.runAllTimersAsync();
    expect(await done).toBeInstanceOf(NetworkError);
    expect(at).toHaveLength(4);
  });

  it("counts from the beginning while bytes come", async () => {
    const { at, work } = failing(6);
    const done = retry(network(0.5), request().signal, work, () => at.length < 5);
    await vi.runAllTimersAsync();
    expect(await done).toBe("done");
    expect(pauses(at)).toEqual([1000, 1000, 1000, 1000, 4000, 16_000]);
  });

  it("waits as long as the server asks for", async () => {
    const { at, work } = failing(1, 7000);
    const done = retry(network(0.5), request().signal, work);
    await vi.runAllTimersAsync();
    await done;
    expect(pauses(at)).toEqual([7000]);
  });

  it("ends at once when it is cancelled while waiting", async () => {
    const controller = new AbortController(), { work } = failing(9);
    const done = retry(network(0.5), controller.signal, work).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10);
    controller.abort();
    expect(await done).toMatchObject({ code: "cancelled" });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("get", () => {
  const answering = (status: number, headers: Record<string, string> = {}) => {
    const server = new FakeServer();
    server.put(URL_A, noise(10), { answer: () => new Response("x", { status, headers }) });
    return server;
  };
  const failure = (server: FakeServer, more?: object) =>
    get(server.network(), request(more)).then(() => undefined, (error: unknown) => error as NetworkError);

  it.each([
    [401, /a\.example gives model\.safetensors to nobody without a token \(401\).*option `token`/, false],
    [403, /Accept the licence/, false],
    [404, /a\.example has no model\.safetensors \(404\)/, false],
    [416, /has changed/, false],
    [429, /Wait 12 s and open the model again/, true],
    [500, /status 500/, true],
    [503, /status 503/, true],
    [418, /status 418/, false],
  ])("says what to do about %d", async (status, text, passes) => {
    const error = await failure(answering(status, status === 429 ? { "Retry-After": "12" } : {}));
    expect(error).toMatchObject({ code: "network", passes, status, message: expect.stringMatching(text) });
  });

  it("says that a web page is none of the files", async () => {
    expect(await failure(answering(200, { "Content-Type": "text/html" }))).toMatchObject({
      passes: false, message: expect.stringMatching(/web page \(HTML\) instead of model\.safetensors/) });
  });

  it("says that the browser is offline, else what may be the reason", async () => {
    const server = new FakeServer();
    server.isReachable = false;
    expect((await failure(server))!.message).toMatch(/This browser is offline/);
    const error = await get(server.network({ isOnline: () => true }), request()).catch((one: NetworkError) => one);
    expect(error).toMatchObject({ passes: true, message: expect.stringMatching(/\(CORS\)/) });
  });

  it("refuses a range that begins elsewhere", async () => {
    const server = new FakeServer();
    server.put(URL_A, noise(10), { answer: () => new Response("x", { status: 206, headers: { "Content-Range": "bytes 3-5/10" } }) });
    expect((await failure(server, { range: { begin: 2, end: 5 } }))!.message).toMatch(/bytes from 3 .* those from 2/);
  });

  it("does not take the length of a compressed answer for the file's", async () => {
    const server = answering(200, { "Content-Encoding": "gzip", "Content-Length": "5" });
    expect((await get(server.network(), request())).size).toBeUndefined();
  });
});

describe("pieces", () => {
  it("end with an error that may pass when no byte comes for 30 s", async () => {
    const server = new FakeServer(), network = server.network();
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({ cancel: () => void (isCancelled = true) });
    const next = pieces(network, request(), { body, isWhole: true, size: 5, version: "" }).next().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await next).toMatchObject({ passes: true, message: expect.stringMatching(/no byte came for 30 s/) });
    expect(isCancelled).toBe(true);
  });

  it("of a small file come again after a cut", async () => {
    const server = new FakeServer();
    server.put(URL_A, noise(10), { cut: (count) => (count === 0 ? 4 : undefined) });
    const bytes = getBytes(server.network(), request(), 100);
    await vi.runAllTimersAsync();
    expect(await bytes).toEqual(noise(10));
    await expect(getBytes(server.network(), request(), 9)).rejects.toThrow(/more than 9 bytes/);
  });
});
