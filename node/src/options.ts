// Options as the addon takes them: names and values in turns, in the names of the C interface.
import type { Pairs } from "./addon.ts";
import { TokamakError } from "./errors.ts";

/** The name of an option in C: maxTokens is max_tokens. */
function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The texts of one option; of a list each member is set, and undefined leaves it as it is. */
function texts(name: string, value: unknown): string[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.map(String);
  if (["string", "number", "boolean", "bigint"].includes(typeof value)) return [String(value)];
  throw new TokamakError("usage", `${name} is ${value === null ? "null" : `of the type ${typeof value}`}, expected a text, a number or a list.`);
}

export function pairsOf(options: object): Pairs {
  return Object.entries(options).flatMap(([name, value]) => texts(name, value).flatMap((text) => [snake(name), text]));
}

/** Token ids as the addon takes them. */
export function idsOf(ids: Iterable<number>): Uint32Array {
  if (ids instanceof Uint32Array) return ids;
  return Uint32Array.from(ids, (id) => {
    if (Number.isInteger(id) && id >= 0 && id < 2 ** 32) return id;
    throw new TokamakError("usage", `${id} is no token id.`);
  });
}
