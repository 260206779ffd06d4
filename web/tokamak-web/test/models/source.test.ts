import { afterEach, describe, expect, it, vi } from "vitest";

import { Cache } from "../../src/models/cache.ts";
import type { Surroundings } from "../../src/models/source.ts";
import { placeOf, resolveIn } from "../../src/models/source.ts";
import type { DownloadProgress, ResolvedModel, ResolveOptions, StoredModel } from "../../src/models/types.ts";
import { FakeLocks, FakeServer, FakeStorage, hashOf, noise } from "./fakes.ts";

// Small parts, as the tests hash what they download.
const PART = 1 << 20;
vi.mock("../../src/models/parts.ts", async (original) => ({
  ...(await original<typeof import("../../src/models/parts.ts")>()), PART_BYTES: 1 << 20 }));

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const HUB = "https://hub.example";
const usual = noise(2 * PART + 1000), weights = usual, WEIGHTS_HASH = hashOf(usual);
const config = new TextEncoder().encode('{"model_type": "llama"}');

/** A browser with a hub of one model. */
function world(weights = usual) {
  const server = new FakeServer(), storage = new FakeStorage(), locks = new FakeLocks();
  const files = [
    { path: "config.json", bytes: config, sha256: null },
    { path: "model.safetensors", bytes: weights, sha256: weights === usual ? WEIGHTS_HASH : hashOf(weights) },
  ];
  const listing = `${HUB}/api/models/org/name/revision/main?blobs=true`;
  server.put(listing, new TextEncoder().encode(JSON.stringify({ sha: COMMIT, siblings: [] })));
  const at = (path: string) => `${HUB}/org/name/resolve/${COMMIT}/${path}`;
  for (const { path, bytes } of files) server.put(at(path), bytes, { etag: `"${path}"` });
  const progress: DownloadProgress[] = [], notices: string[] = [], asked: StoredModel[][] = [];
  const module = {
    call: async (verb: string, values: object) => {
      if (verb !== "hub_name") return { files: files.map(({ path, bytes, sha256 }) => ({ path, size: bytes.length, sha256 })) };
      const [, repo, revision = "main", file = ""] = /^([^@:]+)(?:@([^:]+))?(?::(.+))?$/.exec((values as { name: string }).name)!;
      return { repo, revision, file };
    },
  };
  const options = (more: Partial<ResolveOptions> = {}): ResolveOptions => ({
    module, signal: new AbortController().signal, cache: "opfs", endpoint: HUB,
    onProgress: (one) => progress.push(one), onNotice: (text) => notices.push(text),
    onEvict: async (models) => (asked.push(models), false), ...more,
  });
  const browser = (): Surroundings => ({ network: server.network(), storage, locks, base: "https://site.example/app/" });
  const open = (more?: Partial<ResolveOptions>, name = "org/name") => resolveIn(browser(), name, options(more));
  return { server, storage, locks, files, at, listing, progress, notices, asked, options, browser, open };
}

async function bytesOf(model: ResolvedModel, name = "model.safetensors"): Promise<Uint8Array> {
  const file = model.files.find((one) => one.name === name)!;
  const all = new Uint8Array(file.size);
  for (let at = 0; at < file.size; at += 1 << 22) await file.read(at, all.subarray(at, at + (1 << 22)));
  return all;
}

const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;
/** How often parts of the weights were asked for. */
const ranges = ({ server, at }: ReturnType<typeof world>) =>
  server.requests.filter(({ url }) => url === at("model.safetensors")).map(({ range }) => range);

afterEach(() => vi.useRealTimers());

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
    await first.complete?.catch(() => undefined);
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
});

describe("without a cache", () => {
  const large = noise(20 << 20, 7);

  it("reads with a few requests and stores nothing", async () => {
    const it = world(large);
    const model = await it.open({ cache: "none" });
    expect(same(await bytesOf(model), large)).toBe(true);
    expect(ranges(it).length).toBeLessThanOrEqual(10);
    const file = model.files.find(({ name }) => name === "model.safetensors")!;
    const into = new Uint8Array(4096);
    const before = ranges(it).length;
    for (let at = 0; at < 1 << 20; at += 4096) await file.read(at, into);
    expect(ranges(it).length).toBe(before + 1);
    expect(it.storage.used()).toBe(0);
    await model.close();
  });

  it("reads headers only for a check, and tells what is stored", async () => {
    const it = world();
    const checked = await it.open({ headersOnly: true });
    const file = checked.files.find(({ name }) => name === "model.safetensors")!;
    await file.read(0, new Uint8Array(100));
    expect([checked.cachedBytes, it.storage.used(), ranges(it).length]).toEqual([0, 0, 1]);
    await checked.close();
    const model = await it.open();
    await model.complete;
    await model.close();
    const again = await it.open({ headersOnly: true });
    expect(again.cachedBytes).toBe(usual.length + config.length);
    await again.close();
  });

  it("takes over, with a notice, where the browser keeps no files", async () => {
    const it = world();
    const broken = { getDirectory: () => Promise.reject(new DOMException("no", "SecurityError")), estimate: async () => ({}) };
    const model = await resolveIn({ ...it.browser(), storage: broken }, "org/name", it.options());
    expect(it.notices).toEqual([expect.stringContaining("keeps no files")]);
    expect(same(await bytesOf(model), weights)).toBe(true);
    await model.close();
  });

  it("refuses a large file of a server without ranges", async () => {
    const it = world(large);
    it.server.files.get(it.at("model.safetensors"))!.answer = () => new Response(it.server.stream(large), { status: 200 });
    const model = await it.open({ cache: "none" });
    await expect(bytesOf(model)).rejects.toThrow(/only as a whole/);
    await model.close();
  });
});

describe("room", () => {
  it("is asked for first: an error with both numbers and a way out, before any download", async () => {
    const it = world();
    it.storage.quota = 3 << 20;
    await expect(it.open()).rejects.toMatchObject({
      code: "quota", message: expect.stringContaining('cache: "none"'),
      details: { needed: weights.length + config.length, free: 3 << 20 },
    });
    expect(ranges(it)).toEqual([]);
    expect(it.storage.open()).toEqual([]);
    expect(it.locks.isIdle()).toBe(true);
  });


  it("is made with consent only, from the model used longest ago", async () => {
    const it = world();
    it.server.put(`${HUB}/api/models/org/other/revision/main?blobs=true`, it.server.files.get(it.listing)!.bytes);
    const bytes = noise(1 << 20, 3);
    it.server.put(it.at("model.safetensors").replace("org/name", "org/other"), bytes);
    const { module } = it.options();
    const other = await it.open({ module: { call: async (verb, values) => verb === "hub_files"
      ? { files: [{ path: "model.safetensors", size: bytes.length, sha256: null }] } : module.call(verb, values) } }, "org/other");
    await other.complete;
    await other.close();
    it.storage.quota = weights.length + (5 << 20);
    await expect(it.open()).rejects.toMatchObject({ code: "quota" });
    expect(it.asked).toEqual([[expect.objectContaining({ name: `${HUB}/org/other`, size: 1 << 20, complete: true })]]);
    const model = await it.open({ onEvict: async () => true });
    expect(same(await bytesOf(model), weights)).toBe(true);
    await model.close();
  });

  it("that ends in the middle is an error that keeps what is there", async () => {
    const it = world();
    const honest = it.storage.estimate.bind(it.storage);
    it.storage.estimate = async () => ({ quota: Infinity, usage: 0 });
    it.storage.quota = 30 << 16;
    let model = await it.open();
    await expect(model.complete).rejects.toMatchObject({ code: "quota" });
    await model.close();
    it.storage.quota = Infinity;
    it.storage.estimate = honest;
    const before = ranges(it).length;
    model = await it.open();
    await model.complete;
    expect(ranges(it).length - before).toBeLessThan(4);
    expect(it.progress.filter(({ phase }) => phase === "download").some(({ loaded }) => loaded > 0)).toBe(true);
    expect(same(await bytesOf(model), weights)).toBe(true);
    await model.close();
  });

  it("is not made by removing a model that a tab has open", async () => {
    const it = world();
    const model = await it.open();
    await model.complete;
    const cache = (await Cache.open(it.storage, it.locks))!;
    expect(await cache.remove(`${HUB}/org/name`)).toBe(false);
    expect(await cache.list()).toMatchObject([{ name: `${HUB}/org/name`, complete: true }]);
    await model.close();
    expect(await cache.remove(`${HUB}/org/name`)).toBe(true);
    expect(await cache.list()).toEqual([]);
    expect(it.storage.used()).toBe(0);
  });
});

describe("a model at an address", () => {
  const FOLDER = "https://site.example/m/";
  const shards = [noise(3000, 5), noise(4000, 6)];

  function folder() {
    const it = world();
    it.server.put(`${FOLDER}config.json`, config, { etag: '"1"' });
    it.server.put(`${FOLDER}model.safetensors.index.json`, new TextEncoder().encode(JSON.stringify({
      weight_map: { a: "model-2.safetensors", b: "model-1.safetensors", c: "model-1.safetensors" } })));
    it.server.put(`${FOLDER}model-1.safetensors`, shards[0]!, { etag: '"a"' });
    it.server.put(`${FOLDER}model-2.safetensors`, shards[1]!, { etag: '"b"' });
    return it;
  }

  it("is found by the known names and the index of its shards", async () => {
    const it = folder();
    it.server.put(`${FOLDER}tokenizer.json`, new Uint8Array(0)); // and an empty file
    const model = await it.open({}, "/m");
    expect(model.files.map(({ name }) => name).sort()).toEqual(["config.json", "model-1.safetensors",
      "model-2.safetensors", "model.safetensors.index.json", "tokenizer.json"]);
    expect(same(await bytesOf(model, "model-2.safetensors"), shards[1]!)).toBe(true);
    expect(model.name).toBe("m");
    await model.complete;
    await model.close();
  });

  it("takes a web page for a file that may be missing, but not for config.json", async () => {
    const it = folder();
    const page = () => new Response("<html>", { headers: { "Content-Type": "text/html; charset=utf-8" } });
    it.server.put(`${FOLDER}tokenizer.json`, config, { answer: page });
    await (await it.open({}, FOLDER)).close();
    it.server.put(`${FOLDER}config.json`, config, { answer: page });
    await expect(it.open({ cache: "none" }, FOLDER)).rejects.toThrow(/a web page \(HTML\) instead of config.json/);
  });

  it("is fetched anew when its files have changed, and opens as it was when nobody answers", async () => {
    const it = folder();
    const first = await it.open({}, FOLDER);
    await first.complete;
    await first.close();
    it.server.put(`${FOLDER}model-1.safetensors`, shards[1]!, { etag: '"c"' });
    const second = await it.open({}, FOLDER);
    expect(same(await bytesOf(second, "model-1.safetensors"), shards[1]!)).toBe(true);
    await second.complete;
    await second.close();
    it.server.isReachable = false;
    const third = await it.open({}, FOLDER);
    expect(same(await bytesOf(third, "model-1.safetensors"), shards[1]!)).toBe(true);
    await third.close();
    expect([...it.storage.files().keys()].filter((path) => path.includes("/blobs/"))).toHaveLength(4);
  });

  it("begins anew when a file changes while it is downloaded", async () => {
    const it = world();
    const url = "https://site.example/a.gguf", newer = noise(weights.length, 9);
    let etag = '"1"';
    const served = it.server.put(url, weights, { etag, cut: (count) => {
      if (count === 1) Object.assign(served, { bytes: newer, etag: (etag = '"2"') });
      return undefined;
    } });
    const model = await it.open({}, url);
    await model.complete;
    expect(etag).toBe('"2"');
    expect(same(await bytesOf(model, "a.gguf"), newer)).toBe(true);
    await model.close();
  });

  it("is all parts of a .gguf file that is split", async () => {
    const it = world();
    for (const part of [1, 2]) it.server.put(`https://a.example/m-0000${part}-of-00002.gguf`, shards[part - 1]!);
    const model = await it.open({ cache: "none" }, "https://a.example/m-00002-of-00002.gguf");
    expect(model.files.map(({ name, size }) => [name, size])).toEqual([["m-00001-of-00002.gguf", 3000], ["m-00002-of-00002.gguf", 4000]]);
    await model.close();
  });
});

describe("files of the visitor's", () => {
  it("are read in place, of a chosen folder those of its uppermost level", async () => {
    const file = (path: string, text: string) =>
      Object.defineProperty(new File([text], path.split("/").at(-1)!), "webkitRelativePath", { value: path });
    const it = world();
    const model = await resolveIn(it.browser(), [file("m/config.json", "{}"), file("m/onnx/x.json", "1"),
      file("m/model.safetensors", "0123456789")], it.options());
    expect([model.name, ...model.files.map(({ name }) => name)]).toEqual(["m", "config.json", "model.safetensors"]);
    const into = new Uint8Array(3);
    await model.files[1]!.read(4, into);
    expect(new TextDecoder().decode(into)).toBe("456");
    await expect(model.files[1]!.read(8, into)).rejects.toThrow(/has 10 bytes/);
    expect(it.storage.used()).toBe(0);
  });

  it("say what is missing", async () => {
    const it = world();
    await expect(resolveIn(it.browser(), [new File(["x"], "a.txt")], it.options()))
      .rejects.toThrow("There is neither a config.json nor a .gguf file; found: a.txt.");
  });
});
