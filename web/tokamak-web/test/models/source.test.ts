import { describe, expect, it, vi } from "vitest";

import { TokamakError } from "../../src/errors.ts";
import { placeOf, resolveIn } from "../../src/models/source.ts";
import { noise } from "./fakes.ts";
import { bytesOf, config, PART, ranges, same, usual as weights, WEIGHTS_HASH, world } from "./world.ts";

// Small parts, as the tests hash what they download.
vi.mock("../../src/models/parts.ts", async (original) => ({
  ...(await original<typeof import("../../src/models/parts.ts")>()), PART_BYTES: 1 << 20 }));

describe("placeOf", () => {
  it.each([
    ["org/name@v1:Q4_K_M", { kind: "hub", text: "org/name@v1:Q4_K_M" }],
    ["https://huggingface.co/org/name/resolve/main/a.gguf", { kind: "hub", text: "https://huggingface.co/org/name/resolve/main/a.gguf" }],
    ["hf.co/org/name:Q8_0", { kind: "hub", text: "hf.co/org/name:Q8_0" }],
    ["https://a.example/m", "folder https://a.example/m/"],
    ["https://a.example/m/config.json#x", "folder https://a.example/m/"],
    ["https://a.example/m/a.GGUF?key=1", "gguf https://a.example/m/a.GGUF?key=1"],
    ["/models/story", "folder https://site.example/models/story/"],
    ["../story/", "folder https://site.example/story/"],
  ])("%s", (text, expected) => {
    const place = placeOf(text, "https://site.example/app/");
    if (typeof expected === "string") expect(place.kind === "hub" ? "" : `${place.kind} ${place.url.href}`).toBe(expected);
    else expect(place).toEqual(expected);
  });

  it("refuses addresses that are not of the web", () => {
    expect(() => placeOf("ftp://a.example/m", "https://site.example/")).toThrow(/http: and https: addresses only/);
  });
});

describe("a model of the hub", () => {
  it("is downloaded in three ranges, with the right bytes, and leaves no state", async () => {
    const it = world();
    const model = await it.open();
    expect(same(await bytesOf(model), weights)).toBe(true);
    await model.complete;
    expect(ranges(it)).toEqual([`bytes=0-${PART - 1}`, `bytes=${PART}-${2 * PART - 1}`, `bytes=${2 * PART}-${weights.length - 1}`]);
    expect([...it.storage.files().keys()].filter((path) => path.endsWith(".state"))).toEqual([]);
    expect(it.progress.at(-1)).toMatchObject({ loaded: weights.length + config.length, total: weights.length + config.length });
    await model.close();
    expect(it.storage.open()).toEqual([]);
    expect(it.locks.isIdle()).toBe(true);
  });

  it("opens without a request once it is whole, and reads at once", async () => {
    const it = world();
    const first = await it.open();
    await first.complete;
    await first.close();
    it.server.isReachable = false;
    const before = it.server.requests.length;
    const model = await it.open();
    const into = new Uint8Array(100);
    expect(model.files.find(({ name }) => name === "model.safetensors")!.read(PART, into)).toBeUndefined();
    expect(same(into, weights.subarray(PART, PART + 100))).toBe(true);
    expect(it.server.requests.length).toBe(before);
    expect(it.progress.at(-1)).toMatchObject({ cached: true });
    await model.close();
  });

  it("goes on where it was cut off, also after the process has died", async () => {
    const it = world();
    it.server.files.get(it.at("model.safetensors"))!.cut = (count) => (count < 3 ? 5 << 16 : 0);
    const first = await it.open();
    await expect(first.complete).rejects.toMatchObject({ code: "network" });
    await expect(bytesOf(first)).rejects.toMatchObject({ code: "network" });
    it.storage.crash(); // without close
    const again = { ...world(), storage: it.storage };
    const model = await resolveIn({ ...again.browser(), storage: it.storage }, "org/name", again.options());
    await model.complete;
    expect(again.progress[1]!.loaded).toBeGreaterThanOrEqual(10 << 16);
    expect(ranges(again)[0]).toBe(`bytes=${5 << 16}-${PART - 1}`);
    expect(same(await bytesOf(model), weights)).toBe(true);
    await model.close();
  });

  it("keeps its parts when it is cancelled", async () => {
    const it = world(), controller = new AbortController();
    const model = await it.open({
      signal: controller.signal,
      onProgress: ({ loaded }) => loaded > 0 && controller.abort(),
    });
    await expect(model.complete).rejects.toMatchObject({ code: "cancelled" });
    await model.close();
    expect([...it.storage.files().keys()].some((path) => path.endsWith(".state"))).toBe(true);
    expect(it.storage.open()).toEqual([]);
    const next = await it.open();
    expect(same(await bytesOf(next), weights)).toBe(true);
    await next.close();
  });

  it("is an error with the file's name when the hash is wrong, and the blob is gone", async () => {
    const it = world();
    it.server.put(it.at("model.safetensors"), noise(weights.length, 2));
    const model = await it.open();
    await expect(model.complete).rejects.toMatchObject({ code: "hash", message: expect.stringContaining("model.safetensors") });
    expect(it.storage.blob(WEIGHTS_HASH)).toBeUndefined();
    expect(it.storage.blob(`${WEIGHTS_HASH}.state`)).toBeUndefined();
    await expect(bytesOf(model)).rejects.toMatchObject({ code: "hash" });
    await model.close();
    it.server.put(it.at("model.safetensors"), weights);
    const next = await it.open();
    await next.complete;
    await next.close();
  });

  it("is fetched in one piece where the server knows no ranges, anew after a cut", async () => {
    const it = world();
    it.server.files.get(it.at("model.safetensors"))!.answer = ({ count }) =>
      new Response(it.server.stream(weights, count === 4 ? 20 << 16 : undefined), { headers: { "Content-Length": String(weights.length) } });
    const model = await it.open();
    expect(same(await bytesOf(model), weights)).toBe(true);
    await model.complete;
    await model.close();
    expect(it.locks.isIdle()).toBe(true);
  });

  it("is fetched again where the browser has removed or cut a file", async () => {
    const it = world();
    const first = await it.open();
    await first.complete;
    await first.close();
    it.storage.blob(WEIGHTS_HASH)!.bytes = weights.slice(0, 1000) as Uint8Array<ArrayBuffer>;
    const second = await it.open();
    expect(same(await bytesOf(second), weights)).toBe(true);
    await second.close();
  });

  it("is fetched again where bytes are missing that the state counts", async () => {
    const it = world();
    it.server.files.get(it.at("model.safetensors"))!.cut = (count) => (count < 3 ? 5 << 16 : 0);
    const first = await it.open();
    await Promise.resolve(first.complete).catch(() => undefined);
    await first.close();
    delete it.server.files.get(it.at("model.safetensors"))!.cut;
    const blob = it.storage.blob(WEIGHTS_HASH)!;
    blob.bytes = blob.bytes.slice(0, 1 << 16);
    const second = await it.open();
    expect(same(await bytesOf(second), weights)).toBe(true);
    await second.close();
  });

  it("waits for another tab that downloads it, then reads the same bytes", async () => {
    const it = world();
    const [first, second] = await Promise.all([it.open(), it.open()]);
    expect(same(await bytesOf(first), weights)).toBe(true);
    expect(same(await bytesOf(second), weights)).toBe(true);
    expect(ranges(it)).toHaveLength(3);
    expect(it.notices).toEqual([expect.stringContaining("Another tab")]);
    await first.close();
    await second.close();
  });

  it("is read, with a pause, while its handle changes from writing to reading", async () => {
    const it = world();
    const model = await it.open();
    const file = model.files.find(({ name }) => name === "model.safetensors")!;
    const blobs = await (await it.storage.root.getDirectoryHandle("tokamak")).getDirectoryHandle("blobs");
    const remove = blobs.removeEntry.bind(blobs), into = new Uint8Array(8);
    let reading: void | Promise<void> = undefined;
    blobs.removeEntry = async (name) => {
      await undefined; // as a browser, which never calls back at once
      if (name === `${WEIGHTS_HASH}.state`) reading = file.read(PART, into);
      await remove(name);
    };
    await model.complete;
    expect(reading).toBeInstanceOf(Promise);
    await reading;
    expect(same(into, weights.subarray(PART, PART + 8))).toBe(true);
    await model.close();
  });

  it("does not make two tabs wait for each other, in whichever order they have its files", async () => {
    const it = world();
    const { module } = it.options();
    const reversed = { call: async (verb: string, values: object) => {
      const reply = (await module.call(verb, values)) as { files?: unknown[] };
      return reply.files ? { files: reply.files.toReversed() } : reply;
    } };
    const [first, second] = await Promise.all([it.open(), it.open({ module: reversed })]);
    expect(same(await bytesOf(second), weights)).toBe(true);
    await first.close();
    await second.close();
  });

  it("is read by two tabs also where only one handle is given", async () => {
    const it = world();
    it.storage.knowsModes = false;
    const [first, second] = await Promise.all([it.open(), it.open()]);
    expect(same(await bytesOf(second), weights)).toBe(true);
    expect(same(await bytesOf(first), weights)).toBe(true);
    await first.close();
    await second.close();
  });

  it("sends the token to the hub", async () => {
    const it = world();
    const model = await it.open({ token: "secret" });
    await model.complete;
    expect(it.server.requests.every(({ headers }) => headers.get("Authorization") === "Bearer secret")).toBe(true);
    await model.close();
  });

  it("reads what has to be looked up before its files are chosen", async () => {
    const it = world();
    const calls: object[] = [];
    const { module } = it.options();
    it.server.put(it.at("a/index.json"), new TextEncoder().encode("{}"));
    const asking = { call: async (verb: string, values: object) => {
      calls.push(values);
      return calls.length === 2 ? { files: [], lookUp: ["a/index.json"] } : module.call(verb, values);
    } };
    const model = await it.open({ module: asking });
    expect(calls[2]).toMatchObject({ name: "org/name", texts: { "a/index.json": "{}" } });
    await model.close();
  });

  it("has a wrong name in its error, and not the module's verb", async () => {
    const it = world();
    const refusing = { call: async () => {
      throw new TokamakError("usage", 'hub_name: "what is this" names no model.');
    } };
    await expect(it.open({ module: refusing })).rejects.toMatchObject({ code: "usage", message: '"what is this" names no model.' });
  });

  it("tells of a pause before it tries again", async () => {
    const it = world();
    it.server.files.get(it.at("model.safetensors"))!.answer = ({ count }) => (count === 1 ? new Response("", { status: 503 }) : undefined);
    const model = await it.open();
    await model.complete;
    await model.close();
    expect(it.notices).toEqual([expect.stringMatching(/503.* It is tried again in \d+ s\.$/)]);
  });
});
