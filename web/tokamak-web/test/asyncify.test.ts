// The driver of Asyncify on a small module, which Binaryen assembles and transforms.
import binaryen from "binaryen";
import { expect, test } from "vitest";
import { Asyncify } from "../src/host/asyncify.ts";
import { chooseWaiting, type SuspendingImport } from "../src/host/waiting.ts";

// sum(n) adds up what wait(0) to wait(n - 1) give, with two functions on the stack; deep(n) waits at
// the end of n calls.
const TEXT = `(module
  (import "gpu" "wait" (func $wait (param i32) (result i32)))
  (memory (export "memory") 16)
  (func (export "tokamak_memory") (param i32) (result i32) (i32.const 65536))
  (func $pair (param i32) (result i32)
    (i32.add (call $wait (local.get 0)) (call $wait (i32.add (local.get 0) (i32.const 1)))))
  (func (export "sum") (param $n i32) (result i32) (local $i i32) (local $sum i32)
    (loop $again
      (local.set $sum (i32.add (local.get $sum) (call $pair (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 2)))
      (br_if $again (i32.lt_u (local.get $i) (local.get $n))))
    (local.get $sum))
  (func $deep (export "deep") (param $n i32) (result i32) (local $wide v128)
    (local.set $wide (i32x4.splat (local.get $n)))
    (if (result i32) (local.get $n)
      (then (i32.add
        (call $deep (i32.sub (local.get $n) (i32.const 1)))
        (i32.ne (i32x4.extract_lane 3 (local.get $wide)) (i32.const 0))))
      (else (call $wait (i32.const 0)))))
  (func (export "trap") (param i32) (result i32) (drop (call $wait (i32.const 0))) unreachable))`;

function assembled(): WebAssembly.Module {
  const module = binaryen.parseText(TEXT);
  module.setFeatures(binaryen.Features.SIMD128);
  binaryen.setOptimizeLevel(2);
  binaryen.setPassArgument("asyncify-imports", "gpu.wait");
  module.runPasses(["asyncify"]);
  return new WebAssembly.Module(module.emitBinary() as BufferSource);
}
const compiled = assembled();

interface Exports extends Record<string, (n: number) => number> {
  sum(n: number): number;
}

/** The exports of a module whose import is `wait`; `promising` makes promises of them. */
function start(wait: SuspendingImport) {
  const asyncify = new Asyncify();
  const { exports } = new WebAssembly.Instance(compiled, { gpu: { wait: asyncify.suspending(wait) } });
  asyncify.attach(exports);
  const functions = exports as unknown as Exports;
  return {
    exports: functions,
    promising: (name: "sum" | "deep" | "trap") => asyncify.promising(functions[name] ?? functions.sum),
  };
}
const soon = (value: number) => new Promise<number>((resolve) => setTimeout(resolve, 1, value));

test("the module goes on with what a promise brings", async () => {
  const asked: number[] = [];
  const { promising } = start((n = 0) => {
    asked.push(n);
    return soon(10 * n);
  });
  const sum = promising("sum");
  expect(await sum(6)).toBe(150);
  expect(asked, "the host is asked once for each wait").toEqual([0, 1, 2, 3, 4, 5]);
  expect(await sum(2), "a second call begins anew").toBe(10);
});

test("a number is there at once, between promises or without any", async () => {
  const { promising } = start((n = 0) => (n % 2 ? soon(n) : n));
  expect(await promising("sum")(6)).toBe(15);
  const direct = start((n = 0) => n);
  expect(direct.exports.sum(6)).toBe(15);
  expect(await direct.promising("sum")(6)).toBe(15);
});

test("what a promise rejects with comes out of the call", async () => {
  const { promising } = start((n = 0) => (n === 3 ? Promise.reject(new Error("lost")) : soon(n)));
  await expect(promising("sum")(6)).rejects.toThrow(/^lost$/);
  expect(await promising("sum")(2), "the driver is in the middle of nothing").toBe(1);
});

test("what an import throws and a trap come out of the call", async () => {
  const throwing = start(() => {
    throw new Error("no future 7");
  });
  await expect(throwing.promising("sum")(2)).rejects.toThrow("no future 7");
  const { promising } = start(() => soon(1));
  await expect(promising("trap")(0)).rejects.toThrow(WebAssembly.RuntimeError);
  expect(await promising("sum")(2)).toBe(2);
});

test("a second call is refused while one is in flight", async () => {
  const { promising } = start((n = 0) => soon(n));
  const first = promising("sum")(4);
  await expect(promising("sum")(4)).rejects.toThrow("in the middle of another call");
  expect(await first).toBe(6);
});

test("a plain call cannot suspend", () => {
  const { exports } = start(() => soon(1));
  expect(() => exports.sum(2)).toThrow("Only a call that gives a promise");
});

test("a stack that is too deep for the buffer is a trap", async () => {
  const { promising } = start(() => soon(7));
  expect(await promising("deep")(1000)).toBe(1007);
  await expect(promising("deep")(10000)).rejects.toThrow(WebAssembly.RuntimeError);
  expect(await promising("deep")(1000)).toBe(1007);
});

test("a module that is not there, or is another one, is refused", async () => {
  const asyncify = new Asyncify();
  expect(() => asyncify.suspending(() => 1)()).toThrow("has no module yet");
  await expect(asyncify.promising(() => 1)()).rejects.toThrow("has no module yet");
  expect(() => asyncify.attach({})).toThrow("it is not the one for Asyncify");
});

test("Asyncify is taken where it is asked for, and where there is nothing else", () => {
  expect(chooseWaiting("asyncify").kind).toBe("asyncify");
  const { Suspending } = WebAssembly as { Suspending?: unknown };
  expect(chooseWaiting().kind).toBe(Suspending ? "jspi" : "asyncify");
});
