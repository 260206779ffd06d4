// host_test.mjs MODULE: what web/host gives the module, as far as Node can tell.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { Futures } from "../../web/host/futures.js";
import { Handles } from "../../web/host/handles.js";
import { Memory, utf8 } from "../../web/host/memory.js";
import { hostImports } from "../../web/host/module.js";
import { FINE, INVALID } from "../../web/host/outcome.js";
import { textImports, unicodeImports } from "../../web/host/text.js";

const module = new WebAssembly.Module(readFileSync(process.argv[2]));

function memoryWith(text) {
  const memory = new Memory();
  memory.attach({ buffer: new ArrayBuffer(4096) });
  const bytes = memory.write(text, 0, 1024);
  return { memory, bytes };
}

test("every import of the module is there, and none of WebGPU's is left over", () => {
  const given = hostImports({ gpu: null, memory: new Memory(), tell() {}, suspending: (f) => f });
  const asked = WebAssembly.Module.imports(module);
  for (const { module: from, name } of asked) {
    assert.equal(typeof given[from]?.[name], "function", `${from}.${name}`);
  }
  const names = asked.filter((one) => one.module === "gpu").map((one) => one.name);
  assert.deepEqual(Object.keys(given.gpu).sort(), names.sort());
});

test("a number that was given back is used again, and stands for nothing meanwhile", () => {
  const handles = new Handles();
  const [first, second] = [handles.add({ a: 1 }), handles.add({ a: 2 })];
  assert.equal(handles.add(null), 0);
  assert.deepEqual([first, second, handles.size], [1, 2, 2]);
  handles.take(first);
  assert.throws(() => handles.get(first), /no object 1/);
  assert.throws(() => handles.take(first), /no object 1/);
  assert.equal(handles.add({ a: 3 }), first);
  assert.deepEqual(handles.get(first), { a: 3 });
});

test("a future is done when its promise is, and keeps why it failed", async () => {
  const futures = new Futures();
  const fine = futures.add(Promise.resolve(5), (future, value) => (future.result = value));
  const failed = futures.add(Promise.reject(new Error("no memory")));
  assert.equal(futures.get(fine).done, false);
  await futures.get(fine).promise;
  await futures.get(failed).promise;
  assert.deepEqual([futures.get(fine).outcome, futures.get(fine).result], [FINE, 5]);
  assert.deepEqual([futures.get(failed).outcome, futures.get(failed).message], [INVALID, "no memory"]);
  futures.forget(fine);
  assert.throws(() => futures.get(fine), /no future 1/);
});

test("matches are found by bytes, whatever the characters take", () => {
  const { memory, bytes } = memoryWith("\uFEFFaé 🙂b");
  const text = textImports(memory);
  const at = 2048;
  const size = memory.write("\\p{L}+", at, 100);
  const expression = text.regex_compile(at, size, 3000, 100);
  const count = text.regex_find_all(expression, 0, bytes, 1024, 10);
  assert.equal(count, 2);
  assert.deepEqual([...memory.numbers(1024, 4)], [3, 6, 11, 12]);
  text.regex_release(expression);
  const broken = memory.write("(", at, 100);
  assert.equal(text.regex_compile(at, broken, 3000, 100), 0);
  assert.match(memory.text(3000, 100), /Unterminated group/);
});

test("a normal form says how long it is where it does not fit", () => {
  const { memory, bytes } = memoryWith("é");
  const { normalize } = textImports(memory);
  const NFD = 1;
  assert.equal(normalize(NFD, 0, bytes, 1024, 2), 3);
  assert.equal(memory.bytes(1024, 1)[0], 0);
  assert.equal(normalize(NFD, 0, bytes, 1024, 3), 3);
  assert.deepEqual([...memory.bytes(1024, 3)], [...utf8("e\u0301")]);
});

test("facts of Unicode have utf8proc's numbers", () => {
  const { utf8proc_category, utf8proc_tolower } = unicodeImports();
  const categories = ["A", "a", "5", "_", "-", " ", "\n", "\u0301", "\u{E000}", "\u0378"];
  assert.deepEqual(
    categories.map((c) => utf8proc_category(c.codePointAt(0))),
    [1, 2, 9, 12, 13, 23, 26, 6, 29, 0],
  );
  const lower = (c) => String.fromCodePoint(utf8proc_tolower(c.codePointAt(0)));
  assert.deepEqual(["Ä", "ß", "İ", "Σ"].map(lower), ["ä", "ß", "i", "σ"]);
});
