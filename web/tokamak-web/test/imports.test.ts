// The imports of a built module against what the page gives it; CTest names the module.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Files } from "../src/host/file.ts";
import { Memory } from "../src/host/memory.ts";
import { hostImports } from "../src/host/module.ts";
import { Sql } from "../src/host/sql.ts";
import { Notes } from "../src/host/notes.ts";
import { plainWaiting } from "./fakes.ts";

const built = process.env["TOKAMAK_WEB_MODULE"];

test.runIf(built)("every import of the module is there, and none of WebGPU's is left over", () => {
  const host = {
    gpu: undefined,
    waiting: plainWaiting,
    notes: new Notes(),
    tell() {},
    event() {},
    play() {},
    device: { lost() {}, restored() {} },
  };
  const given = hostImports(host, new Memory(), new Files(), new Sql(), () => false);
  const asked = WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(built ?? "")));
  const missing = asked.filter(({ module, name }) => typeof given[module]?.[name] !== "function");
  expect(missing).toEqual([]);
  const used = asked.filter(({ module }) => module === "gpu").map(({ name }) => name);
  expect(Object.keys(given["gpu"] ?? {}).sort()).toEqual(used.sort());
});
