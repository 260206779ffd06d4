// The Worker's part in memories: SQLite and its files while a verb runs, the lines that come out, the file that goes in.
import { TokamakError } from "./errors.ts";
import type { Pool, Sql, Sqlite } from "./host/sql.ts";
import { readSlices } from "./models/local.ts";
import { type Locks, hold } from "./models/opfs.ts";
import type { MemoryCall, PostedOptions } from "./protocol.ts";
import type { SessionModule } from "./session_host.ts";

/** Files of a pool are open in one tab at a time: whoever has the lock has them. */
const LOCK = "tokamak-memory";
const POOL = {
  name: LOCK,
  directory: "/tokamak/memory",
  // A pool that cannot be opened has other people's memories in it.
  preserveOnInitFailure: true,
  forceReinitIfPreviouslyFailed: true,
};
/** Beside the stores: journals and what SQLite puts aside. */
const SPARE_FILES = 4;

export type Places = NonNullable<PostedOptions["memory"]>;
export type UseStores = <T>(sql: Sql, places: Places, signal: AbortSignal, use: () => Promise<T>) => Promise<T>;

/** Stores of this browser's files; `load` is called once. */
export function storesOf(load: (places: Places) => Promise<Sqlite>): UseStores {
  let sqlite: Promise<Sqlite> | undefined;
  let pool: Pool | undefined;
  const open = async (sql: Sql, places: Places) => {
    const loaded = await (sqlite ??= load(places));
    try {
      if (pool) await pool.unpauseVfs();
      pool ??= await loaded.pool(POOL);
      await pool.reserveMinimumCapacity(pool.getFileCount() + SPARE_FILES);
    } catch (error) {
      if (isQuota(error)) throw await storageIsFull();
      throw new TokamakError("unsupported", `The browser has no files for memories, as in some private windows (${String(error)}).`);
    }
    sql.attach(loaded, pool.vfsName);
  };
  return async (sql, places, signal, use) => {
    const release = await hold(navigator.locks as Locks, LOCK, "exclusive", { signal });
    const end = () => {
      pool?.pauseVfs();
      release?.();
    };
    try {
      await open(sql, places);
      (await sqlite)?.takeFailure(); // of an earlier call
      const result = await use();
      end();
      return result;
    } catch (error) {
      // After a trap the store is still open: files and lock go with the Worker.
      const isTrap = error instanceof TokamakError && error.code === "crashed";
      if (!isTrap) end();
      throw !isTrap && isQuota((await sqlite)?.takeFailure()) ? await storageIsFull() : error;
    }
  };
}

/** Some browsers throw; Chromium writes as much as there is room for, which the pool calls a failure of write(). */
function isQuota(error: unknown): boolean {
  return error instanceof Error && (error.name === "QuotaExceededError" || error.message.includes("write()"));
}

/** In place of what SQLite says then, which is that a file could not be written. */
async function storageIsFull(): Promise<TokamakError> {
  const { quota = 0, usage = 0 } = await navigator.storage.estimate();
  const message = `The memory cannot grow: the browser stores no more (${usage} bytes are in use; it allows ${quota}, but the ` +
    "disk may be full). Forget some of its documents, or remove models.";
  return new TokamakError("quota", message, { free: Math.max(0, quota - usage), quota, usage });
}

export class Memories {
  readonly #stores: UseStores;
  /** The lines that the export in progress has written. */
  #lines: string[] = [];

  constructor(stores: UseStores) {
    this.#stores = stores;
  }

  line(text: string): void {
    this.#lines.push(text, "\n");
  }

  run(module: SessionModule, places: Places | undefined, { verb, values, file }: MemoryCall, signal: AbortSignal): Promise<unknown> {
    if (!places) {
      throw new TokamakError("usage", 'The model was opened without `memory`. Open it with what "tokamak-web/memory" exports: open(source, { memory }).');
    }
    return this.#stores(module.sql, places, signal, async () => {
      if (file) return this.#import(module, values, file, signal);
      this.#lines = [];
      const reply = await module.call(`memory_${verb}`, values, signal);
      return verb === "export" ? new Blob(this.#lines.splice(0), { type: "application/jsonl" }) : reply;
    });
  }

  async #import(module: SessionModule, values: object, file: Blob, signal: AbortSignal): Promise<unknown> {
    const id = module.files.add((offset, into) => readSlices(file, "The file", offset, into));
    try {
      return await module.call("memory_import", { ...values, id, size: file.size }, signal);
    } finally {
      module.files.remove(id);
    }
  }
}
