// The built module for Asyncify, on the CPU: small models whose every byte comes by a promise, so that the
// module suspends wherever it reads. CTest names the module.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Asyncify } from "../src/host/asyncify.ts";
import { Module } from "../src/host/module.ts";

const built = process.env["TOKAMAK_WEB_MODULE"] ?? "";
const isTwin = built.includes("asyncify");
const data = new URL("../../../tests/data/", import.meta.url);

interface Golden {
  prompts: { ids: number[]; greedy: { ids: number[] } }[];
}
interface Step {
  more: boolean;
  events: { ids?: number[]; done?: { finish: string }; error?: { message: string } }[];
}

/** The files of a model, and what it answers. */
function modelAt(folder: URL, names: string[], golden: string) {
  return {
    files: names.map((name) => ({ name, bytes: readFileSync(new URL(name, folder)) })),
    golden: JSON.parse(readFileSync(new URL(golden, folder), "utf8")) as Golden,
  };
}

const models = new Map<string, () => ReturnType<typeof modelAt>>();
for (const name of readdirSync(new URL("models/", data))) {
  const folder = new URL(`models/${name}/`, data);
  if (!existsSync(new URL("golden.json", folder))) continue;
  const names = readdirSync(folder).filter((file) => !file.startsWith("golden."));
  models.set(name, () => modelAt(folder, names, "golden.json"));
}
for (const name of readdirSync(new URL("gguf/", data)).filter((file) => file.endsWith(".gguf"))) {
  const golden = name.replace(".gguf", ".golden.json");
  models.set(name, () => modelAt(new URL("gguf/", data), [name], golden));
}

async function started(gpu?: GPU) {
  const compiled = await WebAssembly.compile(readFileSync(built));
  return Module.start(compiled, { gpu, waiting: new Asyncify(), tell() {} });
}

test.runIf(isTwin)("it waits for the browser's GPU in the middle of the C++", async () => {
  let asked = 0;
  const requestAdapter = async () => {
    asked += 1;
    await new Promise((resolve) => setTimeout(resolve, 1));
    return null;
  };
  const module = await started({ requestAdapter } as unknown as GPU);
  for (let i = 1; i <= 2; i += 1) {
    await expect(module.call("adapter", { backend: "webgpu" })).rejects.toMatchObject({ code: "device" });
    expect(asked).toBe(i);
  }
  const processor = { backend: "cpu", driver: "WebAssembly SIMD, 1 thread" };
  expect(await module.call("adapter", {})).toMatchObject(processor);
  expect(asked).toBe(3);
});

test.runIf(isTwin).each([...models.keys()])("%s", { timeout: 120_000 }, async (name) => {
  const { files, golden } = models.get(name)!();
  const module = await started();
  let reads = 0;
  const given = files.map((file) => {
    const read = async (offset: number, into: Uint8Array) => {
      reads += 1;
      into.set(file.bytes.subarray(offset, offset + into.length));
    };
    return { name: file.name, size: file.bytes.length, id: module.files.add(read) };
  });
  await module.call("open", { name, files: given, backend: "cpu" });
  expect(reads).toBeGreaterThan(1);
  for (const { ids, greedy } of golden.prompts) {
    await module.call("generate", { ids, maxTokens: greedy.ids.length, temperature: 0 });
    const found: number[] = [];
    let finish = "";
    for (let more = true; more; ) {
      const step = await module.call<Step>("step", {});
      more = step.more;
      for (const event of step.events) {
        expect(event.error).toBeUndefined();
        found.push(...(event.ids ?? []));
        finish = event.done?.finish ?? finish;
      }
    }
    // The recorded ones go on after a token that ends a text.
    const count = finish === "length" ? greedy.ids.length : found.length;
    expect(found).toEqual(greedy.ids.slice(0, count));
  }
});
