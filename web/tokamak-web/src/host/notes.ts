// Small texts that the engine keeps between visits: which kernels have failed, how many steps at a time
// this device survives. One of them is written just before what may end the tab, so that a note is in the
// file when `write` returns.
import type { Memory } from "./memory.ts";
import { utf8 } from "./memory.ts";

/** The place of the texts; both functions are synchronous. */
export interface NoteFile {
  read(): string;
  /** Replaces everything. */
  write(text: string): void;
  close(): void;
}

/** The part of a file's synchronous handle that is used; only Workers have them. */
interface SyncHandle {
  getSize(): number;
  read(into: Uint8Array, options: { at: number }): number;
  write(from: Uint8Array, options: { at: number }): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}

const kept: NoteFile = { read: () => "", write: () => {}, close: () => {} };

/**
 * A file of the browser's own. While another tab has it, this one reads what stands in it and keeps
 * what is new to itself; without such files, in some private windows, nothing is kept.
 */
export async function openNoteFile(name = "notes.json"): Promise<NoteFile> {
  try {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle("tokamak", { create: true });
    const file = await folder.getFileHandle(name, { create: true });
    try {
      return syncNoteFile(await (file as unknown as SyncFile).createSyncAccessHandle());
    } catch {
      const text = await (await file.getFile()).text();
      return { ...kept, read: () => text };
    }
  } catch {
    return kept;
  }
}

interface SyncFile {
  createSyncAccessHandle(): Promise<SyncHandle>;
}

function syncNoteFile(handle: SyncHandle): NoteFile {
  return {
    read: () => {
      const bytes = new Uint8Array(handle.getSize());
      handle.read(bytes, { at: 0 });
      return new TextDecoder().decode(bytes);
    },
    write: (text) => {
      const bytes = utf8(text);
      handle.truncate(0);
      handle.write(bytes, { at: 0 });
      handle.flush();
    },
    close: () => handle.close(),
  };
}

export class Notes {
  readonly #texts = new Map<string, string>();
  readonly #file: NoteFile;

  constructor(file: NoteFile = kept) {
    this.#file = file;
    try {
      const texts: unknown = JSON.parse(file.read() || "{}");
      for (const [name, text] of Object.entries(texts as object)) {
        if (typeof text === "string") this.#texts.set(name, text);
      }
    } catch {
      // The tab has ended while it was written: as if there had been no notes.
    }
  }

  read(name: string): string | undefined {
    return this.#texts.get(name);
  }

  write(name: string, text: string): void {
    this.#texts.set(name, text);
    this.#file.write(JSON.stringify(Object.fromEntries(this.#texts)));
  }

  close(): void {
    this.#file.close();
  }

  /** The imports host.note_read, which says the size at a capacity of 0, and host.note_write. */
  imports(memory: Memory) {
    return {
      note_read: (name: number, nameBytes: number, address: number, capacity: number) => {
        const text = this.read(memory.text(name, nameBytes));
        if (text === undefined) return -1;
        return capacity === 0 ? utf8(text).length : memory.write(text, address, capacity);
      },
      note_write: (name: number, nameBytes: number, text: number, bytes: number) => {
        try {
          this.write(memory.text(name, nameBytes), memory.text(text, bytes));
        } catch {
          // A note is worth nothing against the model that is being opened: a full disk loses it.
        }
      },
    };
  }
}
