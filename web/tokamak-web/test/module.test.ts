// Calls of the module: their turns, their errors, and what comes after a trap.
import { expect, test } from "vitest";
import { moduleOver, soon } from "./fakes.ts";

test("a verb goes in as texts and comes back as data; its memory is given back", async () => {
  const { module, allocated } = moduleOver(async (verb, json) => [0, JSON.stringify({ verb, json })]);
  expect(await module.call("tokenize", { text: "é" })).toEqual({
    verb: "tokenize",
    json: '{"text":"é"}',
  });
  expect(allocated.size).toBe(0);
});

test("a call begins when the one before it has ended, also where that has failed", async () => {
  const log: string[] = [];
  const { module } = moduleOver(async (verb) => {
    log.push(`${verb} begins`);
    await soon();
    log.push(`${verb} ends`);
    return verb === "a" ? [-1, '{"code":"usage","message":"no"}'] : [0, "{}"];
  });
  const failed = expect(module.call("a", {})).rejects.toMatchObject({ code: "usage", message: "no" });
  await module.call("b", {});
  await failed;
  expect(log).toEqual(["a begins", "a ends", "b begins", "b ends"]);
});

test("after a trap every call fails, with what happened", async () => {
  let calls = 0;
  const { module } = moduleOver(async () => {
    calls += 1;
    throw new WebAssembly.RuntimeError("unreachable");
  });
  const message = "The engine has stopped: unreachable.";
  const first = module.call("open", {});
  const waiting = module.call("step", {});
  await expect(first).rejects.toMatchObject({ code: "crashed", message });
  await expect(waiting).rejects.toMatchObject({ code: "crashed", message });
  await expect(module.call("step", {})).rejects.toMatchObject({ code: "crashed" });
  expect(calls).toBe(1);
  expect(module.trap?.message).toBe(message);
});

test("values that the module has no memory for end their call only", async () => {
  const { module, allocated, limits } = moduleOver(async (verb) => [0, JSON.stringify({ verb })]);
  limits.bytes = 40;
  await expect(module.call("embed", { text: "a".repeat(99) })).rejects.toMatchObject({
    code: "out-of-memory",
    message: "embed: the module has no memory for 110 bytes of values.",
  });
  expect(module.trap).toBe(null);
  expect(allocated.size).toBe(0);
  expect(await module.call("embed", { text: "a" })).toEqual({ verb: "embed" });
});

test("values that have no JSON end their call only", async () => {
  const { module } = moduleOver(async () => [0, "{}"]);
  await expect(module.call("embed", { many: 1n })).rejects.toThrow("BigInt");
  expect(module.trap).toBe(null);
  expect(await module.call("embed", {})).toEqual({});
});

test("a signal is what the module asks for during its own call only", async () => {
  const asked: Record<string, boolean> = {};
  const { module } = moduleOver(async (verb, _json, cancelled) => {
    await soon();
    asked[verb] = cancelled();
    return [0, "{}"];
  });
  const abort = new AbortController();
  const bench = module.call("bench", {}, abort.signal);
  const embed = module.call("embed", {});
  await soon(1);
  abort.abort();
  await bench;
  await embed;
  expect(asked).toEqual({ bench: true, embed: false });
});

test("a call that is cancelled before its turn is not made", async () => {
  const verbs: string[] = [];
  const { module } = moduleOver(async (verb) => {
    verbs.push(verb);
    return [0, "{}"];
  });
  const abort = new AbortController();
  const first = module.call("a", {});
  const second = module.call("bench", {}, abort.signal);
  abort.abort();
  await first;
  await expect(second).rejects.toMatchObject({ code: "cancelled" });
  expect(verbs).toEqual(["a"]);
});

test("a code that is not known counts as a mistake of the engine", async () => {
  const { module } = moduleOver(async () => [-1, '{"code":"strange","message":"?"}']);
  await expect(module.call("a", {})).rejects.toMatchObject({ code: "internal", message: "?" });
});
