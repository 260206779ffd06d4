// The host that the page gives the module, as far as Node can tell.
import { expect, test } from "vitest";
import { Files } from "../src/host/file.ts";
import { Futures } from "../src/host/futures.ts";
import { gpuImports } from "../src/host/gpu.ts";
import { Handles } from "../src/host/handles.ts";
import { Memory, utf8 } from "../src/host/memory.ts";
import { type NoteFile, Notes } from "../src/host/notes.ts";
import { FINE, INVALID } from "../src/host/outcome.ts";
import { textImports, unicodeImports } from "../src/host/text.ts";
import { wasiImports } from "../src/host/wasi.ts";
import { plainWaiting } from "./fakes.ts";

function memoryWith(text: string) {
  const memory = new Memory();
  memory.attach({ buffer: new ArrayBuffer(4096) });
  const bytes = memory.write(text, 0, 1024);
  return { memory, bytes };
}

test("a number that was given back is used again, and stands for nothing meanwhile", () => {
  const handles = new Handles();
  const [first, second] = [handles.add({ a: 1 }), handles.add({ a: 2 })];
  expect(handles.add(null)).toBe(0);
  expect([first, second, handles.size]).toEqual([1, 2, 2]);
  handles.take(first);
  expect(() => handles.get(first)).toThrow("no object 1");
  expect(() => handles.take(first)).toThrow("no object 1");
  expect(handles.size).toBe(1);
  expect(handles.add({ a: 3 })).toBe(first);
  expect(handles.get(first)).toEqual({ a: 3 });
});

test("the number 0 stands for nothing", () => {
  expect(() => new Handles().get(0)).toThrow("no object 0");
});

test("a future is done when its promise is, and keeps why it failed", async () => {
  const futures = new Futures();
  const made = { made: true };
  const fine = futures.add(Promise.resolve(made), (future, value) => {
    future.result = value;
  });
  const failed = futures.add(Promise.reject(new Error("no memory")));
  expect(futures.get(fine).done).toBe(false);
  await futures.get(fine).promise;
  await futures.get(failed).promise;
  expect(futures.get(fine)).toMatchObject({ done: true, outcome: FINE, result: made });
  expect(futures.get(failed)).toMatchObject({ done: true, outcome: INVALID, message: "no memory" });
  futures.forget(fine);
  expect(() => futures.get(fine)).toThrow("no future 1");
});

test("matches are found by bytes, whatever the characters take", () => {
  const { memory, bytes } = memoryWith("\uFEFFaé 🙂b");
  const text = textImports(memory);
  const at = 2048;
  const size = memory.write("\\p{L}+", at, 100);
  const expression = text.regex_compile(at, size, 3000, 100);
  expect(text.regex_find_all(expression, 0, bytes, 1024, 10)).toBe(2);
  expect([...memory.numbers(1024, 4)]).toEqual([3, 6, 11, 12]);
  text.regex_release(expression);
  const broken = memory.write("(", at, 100);
  expect(text.regex_compile(at, broken, 3000, 100)).toBe(0);
  expect(memory.text(3000, 100)).toMatch("Unterminated group");
});

test("a normal form says how long it is where it does not fit", () => {
  const { memory, bytes } = memoryWith("é");
  const { normalize } = textImports(memory);
  const NFD = 1;
  expect(normalize(NFD, 0, bytes, 1024, 2)).toBe(3);
  expect(memory.bytes(1024, 1)[0]).toBe(0);
  expect(normalize(NFD, 0, bytes, 1024, 3)).toBe(3);
  expect([...memory.bytes(1024, 3)]).toEqual([...utf8("e\u0301")]);
});

test("facts of Unicode have utf8proc's numbers", () => {
  const { utf8proc_category, utf8proc_tolower } = unicodeImports();
  const point = (character: string) => character.codePointAt(0) ?? 0;
  const categories = ["A", "a", "5", "_", "-", " ", "\n", "\u0301", "\u{E000}", "\u0378"];
  expect(categories.map((c) => utf8proc_category(point(c)))).toEqual([
    1, 2, 9, 12, 13, 23, 26, 6, 29, 0,
  ]);
  const lower = (c: string) => String.fromCodePoint(utf8proc_tolower(point(c)));
  expect(["Ä", "ß", "İ", "Σ"].map(lower)).toEqual(["ä", "ß", "i", "σ"]);
});

test("letters have one upper case, and a fold that all their forms share", () => {
  const { utf8proc_toupper } = unicodeImports();
  const upper = (c: string) => String.fromCodePoint(utf8proc_toupper(c.codePointAt(0) ?? 0));
  expect(["a", "ß", "ŉ", "ᾀ", "ᾈ", "ᾳ", "ǆ", "7"].map(upper)).toEqual([
    "A", "ẞ", "ŉ", "ᾈ", "ᾈ", "ᾼ", "Ǆ", "7",
  ]);
  const { memory } = memoryWith("");
  const { fold } = textImports(memory);
  const folded = (c: string) => memory.text(0, fold(c.codePointAt(0) ?? 0, 0));
  expect(["A", "ß", "ẞ", "ς", "ſ", "İ", "ı", "ΐ", "ᾈ", "K", "ꭰ", "Ꭰ"].map(folded)).toEqual([
    "a", "ss", "ss", "σ", "s", "i\u0307", "ı", "ι\u0308\u0301", "ἀι", "k", "Ꭰ", "Ꭰ",
  ]);
});

test("lines that the module writes are told whole", () => {
  const { memory, bytes } = memoryWith("one\ntwo\nthr");
  const lines: string[] = [];
  const { fd_write } = wasiImports(memory, (line) => lines.push(line));
  memory.numbers(2048, 2).set([0, bytes]);
  fd_write(1, 2048, 1, 2060);
  expect(memory.numbers(2060, 1)[0]).toBe(bytes);
  expect(lines).toEqual(["one", "two"]);
});

test("a read is a number at once or a promise, and keeps why it failed", async () => {
  const { memory } = memoryWith("");
  const files = new Files();
  const imports = files.imports(memory, plainWaiting);
  const read = imports.read as unknown as (...values: number[]) => number | Promise<number>;
  const here = files.add((offset, into) => void into.fill(offset));
  const far = files.add(async (offset, into) => void into.fill(offset));
  const gone = files.add(async () => {
    throw new Error("model.safetensors: the network is gone");
  });
  expect(read(here, 7, 100, 3)).toBe(0);
  expect([...memory.bytes(99, 5)]).toEqual([0, 7, 7, 7, 0]);
  expect(await read(far, 8, 100, 3)).toBe(0);
  expect(memory.bytes(100, 1)[0]).toBe(8);
  expect(await read(gone, 0, 100, 3)).toBe(-1);
  const bytes = imports.trouble(200, 100);
  expect(memory.text(200, bytes)).toBe("model.safetensors: the network is gone");
  files.remove(here);
  expect(read(here, 0, 100, 3)).toBe(-1);
  expect(files.trouble).toBe(`There is no file ${here}.`);
});

test("notes are in the file when they are written, and one that is cut off counts as none", () => {
  let stored = '{"probe":"1","cut';
  const file: NoteFile = {
    read: () => stored,
    write: (text) => {
      stored = text;
    },
    close: () => {},
  };
  const notes = new Notes(file);
  expect(notes.read("probe")).toBeUndefined();
  const { memory } = memoryWith("probeäß");
  const imports = notes.imports(memory);
  expect(imports.note_read(0, 5, 1024, 0)).toBe(-1);
  imports.note_write(0, 5, 5, 4);
  expect(JSON.parse(stored)).toEqual({ probe: "äß" });
  const again = new Notes(file).imports(memory);
  expect(again.note_read(0, 5, 1024, 0)).toBe(4);
  expect(again.note_read(0, 5, 1024, 4)).toBe(4);
  expect(memory.text(1024, 4)).toBe("äß");
});

test("pipelines are counted while they are compiled, and those that fail as well", async () => {
  const told: [number, number][] = [];
  const made = [Promise.withResolvers<object>(), Promise.withResolvers<object>()];
  let next = 0;
  const device = { createComputePipelineAsync: () => made[next++]!.promise, createPipelineLayout: () => ({}), lost: new Promise(() => {}), addEventListener() {} };
  const gpu = { requestAdapter: async () => ({ requestDevice: async () => device }) };
  const { memory, bytes } = memoryWith("main");
  const watch = { lost() {}, restored() {}, compiling: (done: number, asked: number) => told.push([done, asked]) };
  const { imports, wait } = gpuImports(gpu as never, memory, watch);
  const call = (name: string, ...values: number[]) => (imports[name] as (...all: number[]) => number)(...values);
  const arrived = async (future: number) => (await wait(future), call("object", future));
  const own = await arrived(call("request_device", await arrived(call("request_adapter")), 0, bytes));
  const layout = await arrived(call("request_adapter")); // any object
  for (let at = 0; at < 2; at += 1) call("compute_pipeline", own, layout, layout, 0, bytes, 0, bytes);
  made[0]!.resolve({});
  made[1]!.reject(new Error("wrong"));
  await new Promise((resolve) => setTimeout(resolve));
  expect(told).toEqual([[0, 1], [0, 2], [1, 2], [2, 2]]);
});
