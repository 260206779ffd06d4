// SQLite's own WebAssembly build, as a script of its own that the Worker loads once somebody has a memory: dist/sqlite.js.
import init from "@sqlite.org/sqlite-wasm";
import type { Pool, Sqlite } from "./host/sql.ts";

/** The part of it that is used; its types know it only as a whole. */
interface Api {
  capi: { sqlite3_db_config(database: number, option: number, value: number, out: number): number };
  wasm: { exports: Sqlite["exports"]; heap8u(): Uint8Array; alloc(bytes: number): number; dealloc(address: number): void };
  installOpfsSAHPoolVfs(options: object): Promise<Pool>;
}

const quiet = { warn: () => {}, log: () => {}, debug: () => {} };
let failure: unknown;
/** The pool tells here what its files have thrown. */
const error = (...told: unknown[]) => (failure = told.at(-1));
// Files by way of another Worker need headers that a plain host does not send; the pool needs none.
const disable = { vfs: { kvvfs: true, opfs: true, "opfs-vfs": true, "opfs-wl": true } };

/** `wasm`: where sqlite3.wasm is. */
export async function load(wasm: string): Promise<Sqlite> {
  Object.assign(globalThis, { sqlite3ApiConfig: { ...quiet, error, disable } });
  const start = init as unknown as (options: object) => Promise<Api>;
  const { capi, wasm: own, installOpfsSAHPoolVfs } = await start({ locateFile: () => wasm, printErr: () => {} });
  return {
    exports: own.exports,
    heap: () => own.heap8u(),
    alloc: (bytes) => own.alloc(bytes),
    dealloc: (address) => own.dealloc(address),
    config: (database, option, value) => capi.sqlite3_db_config(database, option, value, 0),
    pool: (options) => installOpfsSAHPoolVfs(options),
    takeFailure: () => {
      const taken = failure;
      failure = undefined;
      return taken;
    },
  };
}
