// The options of `open` by name: a misspelt one would otherwise be ignored.
import type { LookOptions } from "./api.ts";
import { TokamakError } from "./errors.ts";

const KNOWN: Record<keyof LookOptions, true> = {
  backend: true, context: true, kv: true, sequences: true, quantize: true, pooling: true, codec: true, megapixels: true, memory: true,
  chunk: true, cache: true, cacheTokens: true, selfTest: true, alter: true, defaultLimits: true, submitDispatches: true, f16: true, subgroups: true, token: true,
  endpoint: true, signal: true, worker: true, wasm: true, wait: true, share: true, onProgress: true, onNotice: true, onCheck: true, onEvict: true,
  device: true,
};

/** The number of letters that have to be changed to make one word of the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = row[j - 1]! + Number(from[i - 1] !== to[j - 1]);
      next.push(Math.min(same, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}

/** Fails with `usage` where an option has a name that `open`, `check` and `look` do not know. */
export function checkNames(options: object): void {
  const wrong = Object.keys(options).find((name) => !(name in KNOWN));
  if (wrong === undefined) return;
  const [near] = Object.keys(KNOWN).sort((a, b) => distance(wrong, a) - distance(wrong, b));
  const isNear = near !== undefined && distance(wrong, near) <= 2;
  throw new TokamakError("usage", `"${wrong}" is no option of open${isNear ? `; did you mean "${near}"?` : "."}`);
}
