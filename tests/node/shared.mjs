// The package of this source tree, and the models that the tests open, on the processor.
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { open } from "../../node/dist/index.js";

export * from "../../node/dist/index.js";
export { openaiFetch } from "../../node/dist/openai.js";

export const SOURCE = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const DATA = join(SOURCE, "tests", "data");
export const STORYTELLER = join(SOURCE, "models", "storyteller");
export const TINY = join(DATA, "models", "qwen3_qknorm");
export const PROGRAM = process.env.TOKAMAK_PROGRAM ?? join(SOURCE, "build", "release", "bin", "tokamak");

export const ONCE = "Once upon a time";
export const GREEDY = { temperature: 0, maxTokens: 8 };
/** A text that does not end by itself. */
export const ENDLESS = { maxTokens: 2000, endIds: [] };

export const openStory = (options = {}) => open(STORYTELLER, { backend: "cpu", context: 512, sequences: 4, ...options });
export const openTiny = (options = {}) => open(TINY, { backend: "cpu", context: 64, ...options });

export const run = promisify(execFile);

/** Runs a program in a Node of its own, with the package as `t`. */
export function runNode(code, { flags = [], ...options } = {}) {
  const whole = `import * as t from ${JSON.stringify(import.meta.url)};\n${code}`;
  return run(process.execPath, [...flags, "--input-type=module", "-e", whole], { timeout: 60_000, ...options });
}

export async function all(iterable) {
  const found = [];
  for await (const one of iterable) found.push(one);
  return found;
}

export const seconds = (began) => (performance.now() - began) / 1000;
