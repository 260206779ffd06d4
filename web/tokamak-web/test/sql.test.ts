// SQLite as the module's imports show it, over a fake of SQLite's own module.
import { expect, test } from "vitest";
import { Memory, utf8 } from "../src/host/memory.ts";
import { type Sqlite, Sql } from "../src/host/sql.ts";

test("SQLite's memory that is used up is SQLite's error, and no trap", () => {
  const memory = new Memory();
  memory.attach({ buffer: new ArrayBuffer(1024) });
  const text = utf8("SELECT 1");
  memory.bytes(64, text.length).set(text);
  const sql = new Sql();
  const released: number[] = [];
  sql.attach(
    {
      exports: {},
      heap: () => new Uint8Array(1024),
      alloc: (bytes: number) => {
        if (bytes > 8) throw new Error("Allocation failed.");
        return 16;
      },
      dealloc: (address: number) => void released.push(address),
    } as unknown as Sqlite,
    "a-longer-name",
  );
  const { run, open, bind_text: bind } = sql.imports(memory);
  const noMemory = 7; // SQLITE_NOMEM
  expect(run(1, 64, text.length)).toBe(noMemory);
  expect(bind(1, 1, 64, text.length)).toBe(noMemory);
  expect(open(64, 4, 128)).toBe(noMemory);
  expect(released).toEqual([16]); // the name, which had room
});
