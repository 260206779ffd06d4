// The imports "sql": the module's stores are files of SQLite's, which is a module beside it. What goes from one to the
// other is copied; databases and statements are addresses in SQLite's memory, which is all that is known of them.
import { type Memory, utf8 } from "./memory.ts";

/** A pool of the browser's files, whose handles only one tab has at a time. */
export interface Pool {
  readonly vfsName: string;
  getFileCount(): number;
  reserveMinimumCapacity(files: number): Promise<number>;
  pauseVfs(): unknown;
  unpauseVfs(): Promise<unknown>;
}

/** The functions of sqlite3.h that are called. */
interface SqliteExports {
  sqlite3_open_v2(name: number, out: number, flags: number, vfs: number): number;
  sqlite3_close_v2(database: number): number;
  sqlite3_errmsg(database: number): number;
  sqlite3_errstr(code: number): number;
  sqlite3_exec(database: number, sql: number, row: number, given: number, message: number): number;
  sqlite3_last_insert_rowid(database: number): bigint;
  sqlite3_total_changes(database: number): number;
  sqlite3_prepare_v2(database: number, sql: number, bytes: number, out: number, tail: number): number;
  sqlite3_finalize(statement: number): number;
  sqlite3_bind_parameter_count(statement: number): number;
  sqlite3_bind_int64(statement: number, index: number, value: bigint): number;
  sqlite3_bind_text(statement: number, index: number, text: number, bytes: number, destroy: number): number;
  sqlite3_bind_blob(statement: number, index: number, start: number, bytes: number, destroy: number): number;
  sqlite3_step(statement: number): number;
  sqlite3_reset(statement: number): number;
  sqlite3_column_int64(statement: number, column: number): bigint;
  sqlite3_column_blob(statement: number, column: number): number;
  sqlite3_column_bytes(statement: number, column: number): number;
}

/** SQLite's module; addresses are of its own memory. */
export interface Sqlite {
  readonly exports: SqliteExports;
  heap(): Uint8Array;
  /** Throws where SQLite's memory is used up. */
  alloc(bytes: number): number;
  dealloc(address: number): void;
  config(database: number, option: number, value: number): number;
  pool(options: object): Promise<Pool>;
  /** Why the browser's files last failed, once: SQLite itself knows only that they did. */
  takeFailure(): unknown;
}

const READ_WRITE_CREATE = 2 | 4;
const CANNOT_OPEN = 14; // SQLITE_CANTOPEN
const NO_MEMORY = 7; // SQLITE_NOMEM
const TRANSIENT = -1; // SQLite copies what it is given

export class Sql {
  #sqlite: Sqlite | null = null;
  #vfs = "";

  /** The module that stores are opened with from now on, and the file system of their files. */
  attach(sqlite: Sqlite, vfs: string): void {
    this.#sqlite = sqlite;
    this.#vfs = vfs;
  }

  imports(memory: Memory) {
    const sqlite = () => {
      if (!this.#sqlite) throw new Error("SQLite is not there yet.");
      return this.#sqlite;
    };
    /** Calls with a copy of the bytes, which ends with a zero; SQLite's code where there is no room for it. */
    const lend = (bytes: Uint8Array, use: (address: number) => number): number => {
      const { alloc, dealloc, heap } = sqlite();
      let address: number;
      try {
        address = alloc(bytes.length + 1);
      } catch {
        return NO_MEMORY;
      }
      try {
        heap().set(bytes, address);
        heap()[address + bytes.length] = 0;
        return use(address);
      } finally {
        dealloc(address);
      }
    };
    const lendText = (address: number, bytes: number, use: (address: number) => number) =>
      lend(memory.bytes(address, bytes), use);
    /** Calls with room for an address, which goes on to the module. */
    const addressTo = (out: number, make: (address: number) => number): number =>
      lend(new Uint8Array(4), (made) => {
        const code = make(made);
        memory.numbers(out, 1)[0] = new DataView(sqlite().heap().buffer).getUint32(made, true);
        return code;
      });
    return {
      open: (name: number, bytes: number, out: number) => {
        if (!this.#sqlite) return CANNOT_OPEN;
        const { exports } = this.#sqlite;
        return lend(utf8(`/${memory.text(name, bytes)}`), (path) =>
          lend(utf8(this.#vfs), (vfs) => addressTo(out, (made) => exports.sqlite3_open_v2(path, made, READ_WRITE_CREATE, vfs))),
        );
      },
      close: (database: number) => (database ? sqlite().exports.sqlite3_close_v2(database) : 0),
      config: (database: number, option: number, value: number) => sqlite().config(database, option, value),
      message: (database: number, out: number, capacity: number) => {
        if (!this.#sqlite) return 0;
        const { exports, heap } = this.#sqlite;
        const start = exports.sqlite3_errmsg(database);
        const end = heap().indexOf(0, start);
        const bytes = heap().subarray(start, Math.min(end, start + capacity));
        memory.bytes(out, bytes.length).set(bytes);
        return bytes.length;
      },
      run: (database: number, sql: number, bytes: number) =>
        lendText(sql, bytes, (text) => sqlite().exports.sqlite3_exec(database, text, 0, 0, 0)),
      last_id: (database: number) => sqlite().exports.sqlite3_last_insert_rowid(database),
      changes: (database: number) => sqlite().exports.sqlite3_total_changes(database),
      prepare: (database: number, sql: number, bytes: number, out: number) =>
        lendText(sql, bytes, (text) =>
          addressTo(out, (made) => sqlite().exports.sqlite3_prepare_v2(database, text, bytes, made, 0)),
        ),
      finalize: (statement: number) => sqlite().exports.sqlite3_finalize(statement),
      parameters: (statement: number) => sqlite().exports.sqlite3_bind_parameter_count(statement),
      bind_integer: (statement: number, index: number, value: bigint) =>
        sqlite().exports.sqlite3_bind_int64(statement, index, value),
      bind_text: (statement: number, index: number, text: number, bytes: number) =>
        lendText(text, bytes, (copy) => sqlite().exports.sqlite3_bind_text(statement, index, copy, bytes, TRANSIENT)),
      bind_blob: (statement: number, index: number, start: number, bytes: number) =>
        lendText(start, bytes, (copy) => sqlite().exports.sqlite3_bind_blob(statement, index, copy, bytes, TRANSIENT)),
      step: (statement: number) => sqlite().exports.sqlite3_step(statement),
      reset: (statement: number) => sqlite().exports.sqlite3_reset(statement),
      integer: (statement: number, column: number) => sqlite().exports.sqlite3_column_int64(statement, column),
      bytes: (statement: number, column: number) => sqlite().exports.sqlite3_column_bytes(statement, column),
      copy: (statement: number, column: number, out: number, bytes: number) => {
        const start = sqlite().exports.sqlite3_column_blob(statement, column);
        memory.bytes(out, bytes).set(sqlite().heap().subarray(start, start + bytes));
      },
    };
  }
}
