import { describe, expect, it, vi } from "vitest";

import { Cache } from "../../src/models/cache.ts";
import { resolveIn } from "../../src/models/source.ts";
import { noise } from "./fakes.ts";
import { bytesOf, config, HUB, ranges, same, usual, usual as weights, world } from "./world.ts";

// Small parts, as the tests hash what they download.
vi.mock("../../src/models/parts.ts", async (original) => ({
  ...(await original<typeof import("../../src/models/parts.ts")>()), PART_BYTES: 1 << 20 }));

describe("without a cache", () => {
  const large = noise(20 << 20, 7);

  it("reads with a few requests and stores nothing", async () => {
    const it = world(large);
    const model = await it.open({ cache: "none" });
    expect(same(await bytesOf(model), large)).toBe(true);
    expect(ranges(it).length).toBeLessThanOrEqual(10);
    const file = model.files.find(({ name }) => name === "model.safetensors")!;
    const into = new Uint8Array(1 << 16);
    const before = ranges(it).length;
    for (let at = 0; at < large.length; at += into.length) await file.read(at, into);
    expect(ranges(it).length - before).toBeLessThanOrEqual(8);
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

  it("is made with consent in the middle, too, where the browser had promised more", async () => {
    const it = world();
    it.server.put("https://site.example/other.gguf", noise(8 << 20, 3), { etag: '"1"' });
    const other = await it.open({}, "https://site.example/other.gguf");
    await other.complete;
    await other.close();
    it.storage.estimate = async () => ({ quota: 1e12, usage: 0 });
    it.storage.quota = (8 << 20) + usual.length / 2;
    const refused = await it.open();
    await expect(refused.complete).rejects.toMatchObject({ code: "quota", message: expect.stringContaining("stores no more") });
    await refused.close();
    expect(it.asked).toMatchObject([[{ name: "https://site.example/other.gguf" }]]);
    const model = await it.open({ onEvict: async () => true });
    await model.complete;
    expect(same(await bytesOf(model), usual)).toBe(true);
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

  it("is asked for what its config.json makes likely, since each file that is not there is an error in the console", async () => {
    const it = folder();
    const asked = () => it.server.requests.splice(0).map(({ url }) => url.split("/").at(-1)!);
    it.server.put(`${FOLDER}model.safetensors`, shards[0]!, { etag: '"c"' });
    await (await it.open({}, FOLDER)).close();
    const [text, sees] = [asked(), '{"vision_config": {}}'];
    for (const name of ["model.safetensors.index.json", "preprocessor_config.json", "processor_config.json", "chat_template.json"]) expect(text).not.toContain(name);
    it.server.put(`${FOLDER}config.json`, new TextEncoder().encode(sees), { etag: '"2"' });
    await (await it.open({}, FOLDER)).close();
    expect(asked()).toEqual(expect.arrayContaining(["preprocessor_config.json", "processor_config.json", "chat_template.json"]));
    it.server.put(`${FOLDER}chat_template.json`, new TextEncoder().encode('{"chat_template": "a"}'));
    const model = await it.open({}, FOLDER);
    expect(model.files.map(({ name }) => name)).toContain("chat_template.json");
    await model.close();
    it.server.put(`${FOLDER}chat_template.jinja`, new TextEncoder().encode("b"));
    asked();
    await (await it.open({}, FOLDER)).close();
    expect(asked()).not.toContain("chat_template.json"); // that one counts
  });

  it("is asked for the tokens of old tokenizers where its tokenizer_config.json has none", async () => {
    const it = folder();
    const open = async (tokenizer: string) => {
      it.server.put(`${FOLDER}tokenizer_config.json`, new TextEncoder().encode(tokenizer), { etag: `"${tokenizer.length}"` });
      it.server.requests.splice(0);
      const model = await it.open({}, FOLDER);
      await model.close();
      const asked = it.server.requests.map(({ url }) => url.split("/").at(-1)!).filter((name) => /^(special_tokens_map|added_tokens)/.test(name));
      return { asked: [...new Set(asked)].sort(), has: model.files.map(({ name }) => name).includes("added_tokens.json") };
    };
    const legacy = ["added_tokens.json", "special_tokens_map.json"];
    expect(await open('{"eos_token": "<eos>"}')).toEqual({ asked: legacy, has: false });
    it.server.put(`${FOLDER}added_tokens.json`, new TextEncoder().encode('{"<u>": 1}'));
    expect(await open('{"eos_token": "</s>"}')).toEqual({ asked: legacy, has: true });
    expect(await open('{"added_tokens_decoder": {}}')).toEqual({ asked: [], has: false });
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
