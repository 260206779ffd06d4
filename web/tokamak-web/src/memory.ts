// Memories, for those who have them: where SQLite's script and module lie, so that bundles of others do not have these.
import type { MemoryFiles } from "./api.ts";

export type * from "./memory_api.ts";

declare const TOKAMAK_SQLITE_URL: URL;
declare const TOKAMAK_SQLITE_WASM_URL: URL;

/** The option `memory` of `open`, for the files beside the package. */
export const memory: MemoryFiles = { script: TOKAMAK_SQLITE_URL, wasm: TOKAMAK_SQLITE_WASM_URL };
