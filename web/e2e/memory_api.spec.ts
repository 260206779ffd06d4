// Memories through the package, with the real module: what a native program has exported is found in the same order with
// the same scores, what is added here is what it would have made, tabs take turns, and nothing stays of what is forgotten.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import type { Recalled, SearchOptions } from "tokamak-web/memory";
import { expect, test } from "./pages.ts";
import { DATA } from "./pages_server.ts";

interface Recorded {
  documents: { source: string; text: string; meta: Record<string, string> }[];
  searches: { query: string; by: "both" | "words" | "vectors"; hits: [chunk: number, score: number][] }[];
  recall: { query: string; budget: number; result: Recalled };
}
interface Line {
  id: number;
  added?: number;
  chunks: { vector?: string }[];
}

const NOTES = readFileSync(join(DATA, "memory/notes.jsonl"), "utf8");
const RECORDED = JSON.parse(readFileSync(join(DATA, "memory/found.json"), "utf8")) as Recorded;
const given = (server: { address: string }) => ({ address: server.address, notes: NOTES, recorded: RECORDED });

async function blank(page: Page, address: string): Promise<Page> {
  await page.goto(`${address}tiny/config.json`);
  return page;
}

/** f16, little end first, in base64. */
function numbersOf(base64: string): number[] {
  const bytes = Buffer.from(base64, "base64");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / 2 }, (_, at) => {
    const half = view.getUint16(2 * at, true);
    const exponent = (half >> 10) & 31;
    const size = exponent === 0 ? (half & 1023) * 2 ** -24 : (1 + (half & 1023) / 1024) * 2 ** (exponent - 15);
    return half & 0x8000 ? -size : size;
  });
}

const linesOf = (text: string) => text.trim().split("\n").slice(1).map((line) => JSON.parse(line) as Line);

/** Without what differs from run to run: when, and vectors, which are compared as numbers. */
const plain = (lines: Line[]) => lines.map(({ added: _, chunks, ...rest }) => ({ ...rest, chunks: chunks.map(({ vector: __, ...more }) => more) }));

test("what a native program has exported is found as it finds it, and what is added here is what it would keep", async ({ context, server }) => {
  const page = await blank(await context.newPage(), server.address);
  const found = await page.evaluate(async ({ address, notes, recorded }) => {
    const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
    const { memory: files } = (await import(`${address}package/memory.js`)) as typeof import("tokamak-web/memory");
    const engine = await open(`${address}models/storyteller/`, { backend: "cpu", pooling: "mean", memory: files, cache: "none" });
    const imported = engine.memory("imported");
    const first = await imported.import(new Blob([notes]));
    const again = await imported.import(new Blob([notes]));
    const search = async (query: string, how: SearchOptions) =>
      (await imported.search(query, { limit: 5, ...how })).map(({ chunk, score }) => [chunk, score]);
    const searches = [];
    for (const { query, by } of recorded.searches) searches.push(await search(query, { by }));
    const { query, budget } = recorded.recall;
    const recalled = await imported.recall(query, { budget });
    const filtered = await imported.search("garden", { meta: { kind: "animals" }, by: "words" });

    const own = engine.memory("own");
    const kinds = [];
    for (const { text, ...more } of recorded.documents) kinds.push((await own.add(text, { ...more, chunkTokens: 32, overlap: 8 })).redacted);
    const exported = await (await own.export()).text();
    await engine.close();
    return { first, again, searches, recalled, filtered: filtered.map(({ source }) => source), kinds, exported };
  }, given(server));
  expect([found.first, found.again]).toEqual([{ added: 5, known: 0 }, { added: 0, known: 5 }]);
  for (const [at, { query, by, hits }] of RECORDED.searches.entries()) expect(found.searches[at], `${query}, ${by}`).toEqual(hits);
  expect(found.recalled).toEqual(RECORDED.recall.result);
  expect(found.filtered).toEqual(["fox.txt"]);
  expect(found.kinds.map(({ keys, email }) => [keys, email])).toEqual([[0, 0], [1, 0], [0, 1], [0, 0], [0, 0]]);

  const native = linesOf(NOTES);
  const own = linesOf(found.exported);
  expect(plain(own)).toEqual(plain(native));
  for (const [at, { chunks }] of own.entries()) {
    for (const [i, { vector }] of chunks.entries()) {
      const expected = numbersOf(native[at]!.chunks[i]!.vector!);
      const differences = numbersOf(vector!).map((value, k) => Math.abs(value - expected[k]!));
      expect(Math.max(...differences)).toBeLessThan(1e-3); // two steps of an f16 below 1
    }
  }
});

test("two tabs take turns, and no byte of what is forgotten stays in the browser's files", async ({ context, server }) => {
  const pages = await Promise.all([1, 2].map(async () => blank(await context.newPage(), server.address)));
  const add = (page: Page, name: string) =>
    page.evaluate(async ({ address, name }) => {
      const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
      const { memory: files } = (await import(`${address}package/memory.js`)) as typeof import("tokamak-web/memory");
      const engine = await open(`${address}models/storyteller/`, { backend: "cpu", pooling: "mean", memory: files, cache: "none" });
      const memory = engine.memory();
      for (let i = 0; i < 3; i += 1) await memory.add(`Note ${i} of ${name}: the walrus whistles.`, { source: `${name}${i}` });
      await engine.close();
    }, { address: server.address, name });
  await Promise.all(pages.map((page, at) => add(page, `tab${at}`)));
  const [page] = pages;
  const found = await page!.evaluate(async (address) => {
    const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
    const { memory: files } = (await import(`${address}package/memory.js`)) as typeof import("tokamak-web/memory");
    const count = async (word: string) => {
      const bytes = new TextEncoder().encode(word);
      const folder = async (at: FileSystemDirectoryHandle): Promise<number> => {
        let sum = 0;
        for await (const entry of at.values()) {
          if (entry.kind === "directory") sum += await folder(entry);
          else if (entry.kind === "file") {
            const data = new Uint8Array(await (await entry.getFile()).arrayBuffer());
            for (let i = data.indexOf(bytes[0]!); i >= 0; i = data.indexOf(bytes[0]!, i + 1)) sum += Number(bytes.every((byte, k) => data[i + k] === byte));
          }
        }
        return sum;
      };
      return folder(await (await navigator.storage.getDirectory()).getDirectoryHandle("tokamak"));
    };
    const engine = await open(`${address}models/storyteller/`, { backend: "cpu", pooling: "mean", memory: files, cache: "none" });
    const memory = engine.memory();
    const { documents } = await memory.list();
    const before = await count("walrus");
    const forgotten = await memory.forget({ source: "tab*" });
    const after = [await count("walrus"), await count("whistles")];
    await engine.close();
    return { sources: documents.map(({ source }) => source).sort(), before, forgotten, after };
  }, server.address);
  expect(found.sources).toEqual(["tab00", "tab01", "tab02", "tab10", "tab11", "tab12"]);
  expect(found.before).toBeGreaterThan(0);
  expect([found.forgotten, found.after]).toEqual([6, [0, 0]]);
});

test("a memory that the browser has no room for is told so, and keeps what it has", async ({ context, server }) => {
  const page = await blank(await context.newPage(), server.address);
  const session = await context.newCDPSession(page);
  const limit = (quotaSize?: number) =>
    session.send("Storage.overrideQuotaForOrigin", { origin: server.address.slice(0, -1), ...(quotaSize && { quotaSize }) });
  await page.exposeFunction("limit", limit);
  const [header, first] = NOTES.split("\n");
  const text = Array.from({ length: 20_000 }, (_, at) => `Sentence ${at}.`).join(" ");
  const one = JSON.parse(first!) as { chunks: object[] };
  const large = JSON.stringify({ ...one, id: 1000, source: "large", chunks: [{ ...one.chunks[0], id: 1000, text, stop: text.length }] });
  const found = await page.evaluate(async ({ address, notes, large }) => {
    const { limit } = globalThis as unknown as { limit(bytes?: number): Promise<void> };
    const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
    const { memory: files } = (await import(`${address}package/memory.js`)) as typeof import("tokamak-web/memory");
    const engine = await open(`${address}models/storyteller/`, { backend: "cpu", pooling: "mean", memory: files, cache: "none" });
    const memory = engine.memory("full");
    await memory.import(new Blob([notes]));
    const { usage = 0 } = await navigator.storage.estimate();
    await limit(usage + 65_536);
    const told = (error: { code: string; message: string; details: object }) => ({ code: error.code, message: error.message, details: error.details });
    const error = await memory.import(new Blob([large])).then(() => null, told);
    const before = (await memory.search("foxes", { by: "words" })).map(({ source }) => source);
    await limit();
    const later = await memory.import(new Blob([large]));
    const { documents } = await memory.list();
    await engine.close();
    return { error, before, later, count: documents.length };
  }, { address: server.address, notes: NOTES, large: `${header}\n${large}\n` });
  expect(found.error).toMatchObject({ code: "quota", message: expect.stringContaining("The memory cannot grow"), details: { quota: expect.any(Number) } });
  expect(found.before[0]).toBe("foxes.md");
  expect([found.later, found.count]).toEqual([{ added: 1, known: 0 }, 6]);
});

test("errors say what to do, and another model makes the vectors again (asyncify)", async ({ context, server }) => {
  const page = await blank(await context.newPage(), server.address);
  const found = await page.evaluate(async ({ address, notes }) => {
    const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
    const { memory: files } = (await import(`${address}package/memory.js`)) as typeof import("tokamak-web/memory");
    const openIt = (options: object) => open(`${address}models/storyteller/`, { backend: "cpu", cache: "none", wait: "asyncify", ...options });
    const told = (promise: Promise<unknown>) => promise.then(() => null, ({ code, message }: { code: string; message: string }) => [code, message]);
    const without = await openIt({ pooling: "mean" });
    const texts = await openIt({ memory: files });
    const errors = [
      await told(openIt({ memory: true })),
      await told(without.memory().list()),
      await told(texts.memory().search("x")),
      await told(texts.memory().forget({})),
      await told(texts.memory().import(new Blob(["{}\n"]))),
      await told(texts.memory().add(new Blob([new Uint8Array([0xff, 0xc0])]))),
      await told((async () => texts.memory("../x"))()),
    ];
    const quoted = await without.quote([{ id: 1, chunk: 1, score: 1, source: "a", title: "", text: "One. Two.", start: 0, stop: 9 }]);
    await without.close();
    await texts.close();
    const other = await openIt({ memory: files, pooling: "last" });
    const memory = other.memory("rebuilt");
    await memory.import(new Blob([notes]));
    errors.push(await told(memory.search("foxes")));
    const seen: number[] = [];
    await memory.rebuild({ onProgress: ({ done }) => seen.push(done) });
    const hits = await memory.search("foxes", { limit: 1 });
    const list = await memory.list();
    await other.close();
    return { errors, quoted: quoted.context, seen, best: hits[0]?.source, pooling: list.pooling, ids: list.documents.map(({ id }) => id) };
  }, given(server));
  expect(found.errors).toEqual([
    ["usage", expect.stringContaining('import { memory } from "tokamak-web/memory"')],
    ["usage", expect.stringContaining("without `memory`")],
    ["unsupported", expect.stringContaining("storyteller writes texts.")],
    ["usage", expect.stringContaining("What to forget")],
    ["invalid-input", expect.stringContaining("line 1")],
    ["invalid-input", "The file is no text in UTF-8."],
    ["usage", expect.stringContaining("is no name of a memory")],
    ["invalid-input", expect.stringMatching(/storyteller.*Open that model, or make all vectors again: `rebuild\(\)`/)],
  ]);
  expect(found.quoted).toContain("> One. Two.");
  expect(found.seen).toEqual([0, 1, 2, 3, 4, 5]);
  expect([found.best, found.pooling, found.ids]).toEqual(["foxes.md", "last", [1, 2, 3, 4, 5]]);
});
