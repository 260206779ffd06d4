// Which embedding model the memory's pages open: the one that was opened last.
import type { OpenOptions } from "tokamak-web";
import { memory } from "tokamak-web/memory";
import { keep, kept } from "./kept.ts";
import { BUILTIN } from "./asked.ts";

const MODEL = "tokamak.memory.model";

export const memoryModel = () => kept(MODEL) ?? BUILTIN;
export const rememberModel = (name: string) => keep(MODEL, name);

/** The built-in model writes texts; the mean of what it makes of their tokens tells some apart. */
export const withMemory = (name: string): OpenOptions => ({ memory, ...(name === BUILTIN && { pooling: "mean" }) });
