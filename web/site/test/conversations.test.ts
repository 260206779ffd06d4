// Conversations in a storage that several tabs share, that is full or that is forbidden.
import { afterEach, beforeEach, expect, test, vi } from "vitest";

/** A tab: the module with its own knowledge of what is kept, over the storage of all. */
async function tab() {
  vi.resetModules();
  return import("../src/conversations.ts");
}

class FakeStorage {
  readonly texts = new Map<string, string>();
  isFull = false;
  get length() {
    return this.texts.size;
  }
  key(at: number) {
    return [...this.texts.keys()][at] ?? null;
  }
  getItem(key: string) {
    return this.texts.get(key) ?? null;
  }
  setItem(key: string, text: string) {
    if (this.isFull) throw new DOMException("full", "QuotaExceededError");
    this.texts.set(key, text);
  }
  removeItem(key: string) {
    this.texts.delete(key);
  }
}

let storage: FakeStorage;
beforeEach(() => {
  storage = new FakeStorage();
  vi.stubGlobal("localStorage", storage);
});
afterEach(() => vi.unstubAllGlobals());

const question = (content: string) => ({ role: "user" as const, content });

test("what another tab has added is not written over: the conversation becomes another one", async () => {
  const a = await tab();
  const own = a.create([question("first")]);
  expect(a.keep(own)).toBe(true);
  const b = await tab();
  const its = b.read(own.id)!;
  own.turns.push(question("second, in tab A"));
  a.keep(own);
  its.turns.push(question("in tab B"));
  expect(b.keep(its)).toBe(true);
  expect(its.id).not.toBe(own.id);
  const kept = (await tab()).all().map(({ turns }) => turns.map(({ content }) => content));
  expect(kept).toContainEqual(["first", "second, in tab A"]);
  expect(kept).toContainEqual(["first", "in tab B"]);
});

test("a tab that has read what another one added goes on with it", async () => {
  const a = await tab();
  const own = a.create([question("first")]);
  a.keep(own);
  const b = await tab();
  const its = b.read(own.id)!;
  its.turns.push(question("in tab B"));
  b.keep(its);
  expect(its.id).toBe(own.id);
  its.turns.pop(); // edited
  expect(b.keep(its)).toBe(true);
  expect(b.all()).toEqual([its]);
});

test("a full storage, one that throws and one that is not there keep nothing, and say so", async () => {
  const { create, keep, all, remove } = await tab();
  const own = create([question("first")]);
  storage.isFull = true;
  expect(keep(own)).toBe(false);
  for (const value of [undefined, null]) {
    vi.stubGlobal("localStorage", value);
    expect([keep(own), all()]).toEqual([false, []]);
  }
  Object.defineProperty(globalThis, "localStorage", { configurable: true, get: () => { throw new DOMException("denied", "SecurityError"); } });
  expect([keep(own), all()]).toEqual([false, []]);
  remove(own);
});
