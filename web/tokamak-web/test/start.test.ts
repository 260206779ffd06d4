// The start of the Worker and of the module by their URLs, and options that are not known.
import { afterEach, expect, test, vi } from "vitest";
import { compiled } from "../src/host/compiled.ts";
import { open } from "../src/index.ts";
import { workerOf } from "../src/start_worker.ts";

afterEach(() => vi.unstubAllGlobals());

const EMPTY = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

test("a web page or another file in the module's place is an error with its address", async () => {
  const answers = (body: BodyInit, type: string) => vi.stubGlobal("fetch", async () => new Response(body, { headers: { "Content-Type": type } }));
  answers(EMPTY, "application/wasm");
  expect(await compiled("https://x.invalid/a.wasm")).toBeInstanceOf(WebAssembly.Module);
  answers(EMPTY, "application/octet-stream");
  expect(await compiled("https://x.invalid/a.wasm")).toBeInstanceOf(WebAssembly.Module);
  answers("<!doctype html>", "text/html; charset=utf-8");
  const message = expect.stringMatching(/^https:\/\/x\.invalid\/a\.wasm is no WebAssembly module: the server has sent a web page\./) as string;
  await expect(compiled("https://x.invalid/a.wasm")).rejects.toMatchObject({ code: "network", message });
});

test("where there are no Workers, and where a script is of another origin", () => {
  vi.stubGlobal("Worker", undefined);
  expect(() => workerOf("https://cdn.invalid/worker.js")).toThrow(expect.objectContaining({ code: "unsupported" }));
  const started: string[] = [];
  vi.stubGlobal("Worker", function Worker(url: string) {
    if (!url.startsWith("blob:")) throw new DOMException("cannot be accessed from origin", "SecurityError");
    started.push(url);
  });
  const scripts: Blob[] = [];
  vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => `blob:${scripts.push(blob as Blob)}`);
  workerOf("https://cdn.invalid/worker.js");
  expect(started).toEqual(["blob:1"]);
  return expect(scripts[0]!.text()).resolves.toBe('importScripts("https://cdn.invalid/worker.js");');
});

test.each([
  [{ contxt: 5 }, '"contxt" is no option of open; did you mean "context"?'],
  [{ seventeen: 5 }, '"seventeen" is no option of open.'],
])("an option that is not known: %j", async (options, message) => {
  await expect(open("/m/", { ...options, worker: "/worker.js" })).rejects.toMatchObject({ code: "usage", message });
});
