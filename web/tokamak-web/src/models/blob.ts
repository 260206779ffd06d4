// One file of a model in the cache: who owns its handles and its lock, from the first byte to the last read.
//
// A blob in flight has an exclusive Web Lock and a handle for writing, a whole one a shared lock, so that
// several tabs read it and none removes it meanwhile.
import { TokamakError } from "../errors.ts";
import { blobLock, type Cache } from "./cache.ts";
import { Download, type RemoteFileInfo, type Target } from "./download.ts";
import { findFile, hold, removeFile, type SyncHandle } from "./opfs.ts";
import { readSlices } from "./local.ts";
import type { ModelFile } from "./types.ts";

export class CachedFile implements ModelFile {
  readonly name: string;
  readonly size: number;
  /** Undefined where the blob was whole. */
  download: Download | undefined;
  /** The blob, and while it is in flight its state. */
  #data: SyncHandle | undefined;
  #state: SyncHandle | undefined;
  /** In place of a handle, where a browser lets only one tab have one. */
  #file: Blob | undefined;
  #release: (() => void) | undefined;
  /** The handle for writing becomes one for reading; reads wait for it. */
  #exchange: Promise<void> | undefined;
  #isClosed = false;

  readonly cache: Cache;
  readonly info: RemoteFileInfo;
  readonly key: string;

  private constructor(cache: Cache, info: RemoteFileInfo, key: string) {
    this.cache = cache;
    this.info = info;
    this.key = key;
    this.name = info.name;
    this.size = info.size;
  }

  /**
   * Opens the blob, or begins its download, which `downloadAll` carries out. While another tab downloads it,
   * this waits. Whoever opens several does so in the order of their keys: else two tabs wait for each other.
   */
  static async open(cache: Cache, info: RemoteFileInfo, key: string, signal: AbortSignal, onWait: () => void):
    Promise<CachedFile> {
    const file = new CachedFile(cache, info, key);
    try {
      while (!((await file.#openWhole(signal, onWait)) || (await file.#begin(signal, onWait))));
      return file;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  async #lock(mode: "shared" | "exclusive", signal: AbortSignal, onWait: () => void): Promise<void> {
    const { locks } = this.cache;
    this.#release = await hold(locks, blobLock(this.key), mode, { ifAvailable: true });
    if (this.#release) return;
    onWait();
    this.#release = await hold(locks, blobLock(this.key), mode, { signal });
  }

  async #openWhole(signal: AbortSignal, onWait: () => void): Promise<boolean> {
    await this.#lock("shared", signal, onWait);
    if ((await this.cache.wholeSize(this.key)) === this.size) {
      await this.#openForReading();
      return true;
    }
    this.#unlock();
    return false;
  }

  async #openForReading(): Promise<void> {
    const entry = await this.cache.blobs.getFileHandle(this.key);
    // A browser that does not know the mode ignores it and gives the one handle that there is.
    try {
      this.#data = await entry.createSyncAccessHandle({ mode: "read-only" });
    } catch {
      this.#file = await entry.getFile();
    }
    if (this.#isClosed) this.close();
  }

  /** False where another tab has been faster. */
  async #begin(signal: AbortSignal, onWait: () => void): Promise<boolean> {
    const { blobs } = this.cache;
    await this.#lock("exclusive", signal, onWait);
    if ((await this.cache.wholeSize(this.key)) === this.size) {
      this.#unlock();
      return false;
    }
    const hasState = (await findFile(blobs, `${this.key}.state`)) !== undefined;
    this.#state = await (await blobs.getFileHandle(`${this.key}.state`, { create: true })).createSyncAccessHandle();
    this.#state.flush();
    this.#data = await (await blobs.getFileHandle(this.key, { create: true })).createSyncAccessHandle();
    // Bytes of another size, or without a state, are from something else.
    if (!hasState || this.#data.getSize() > this.size) this.#data.truncate(0);
    const text = new Uint8Array(this.#state.getSize());
    this.#state.read(text, { at: 0 });
    const target = this.#target(this.#data, this.#state);
    const state = new TextDecoder().decode(text);
    this.download = await Download.begin(this.info, target, state, this.#data.getSize());
    return true;
  }

  #target(data: SyncHandle, state: SyncHandle): Target {
    return {
      write: (bytes, at) => {
        this.#checkOpen();
        if (data.write(bytes, { at }) !== bytes.length) {
          throw new DOMException("The browser's storage is full.", "QuotaExceededError");
        }
      },
      read: (into, at) => {
        this.#checkOpen();
        fill(data, this.name, at, into);
      },
      save: (text) => {
        this.#checkOpen();
        data.flush();
        // The text is as long as the one before, but for a new version of the file: an end in between leaves no half.
        const bytes = new TextEncoder().encode(text);
        state.write(bytes, { at: 0 });
        state.truncate(bytes.length);
        state.flush();
      },
      finish: () => (this.#exchange = this.#finish().finally(() => (this.#exchange = undefined))),
      discard: async () => {
        this.#closeHandles();
        await removeFile(this.cache.blobs, this.key);
        await removeFile(this.cache.blobs, `${this.key}.state`);
        this.#unlock();
      },
    };
  }

  async #finish(): Promise<void> {
    this.#checkOpen();
    this.#data!.flush();
    this.#closeHandles();
    await removeFile(this.cache.blobs, `${this.key}.state`);
    // Asked for before the other is given back, so that nobody removes the blob in between.
    const shared = hold(this.cache.locks, blobLock(this.key), "shared", { ifAvailable: false });
    this.#unlock();
    this.#release = await shared;
    await this.#openForReading();
  }

  read(offset: number, into: Uint8Array): void | Promise<void> {
    this.#checkOpen();
    if (offset + into.length > this.size) {
      throw new TokamakError("invalid-input", `${this.name} has ${this.size} bytes; ${into.length} from ${offset} ` +
        "were asked for.");
    }
    const arrival = this.download?.wait({ begin: offset, end: offset + into.length }) ?? this.#exchange;
    if (arrival) return arrival.then(() => this.read(offset, into));
    if (this.#file) return readSlices(this.#file, this.name, offset, into);
    fill(this.#data!, this.name, offset, into);
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new TokamakError("cancelled", `${this.name} has been closed.`);
  }

  /** Gives handles and lock back. */
  close(): void {
    this.#isClosed = true;
    this.#closeHandles();
    this.#file = undefined;
    this.#unlock();
  }

  #closeHandles(): void {
    this.#data?.close();
    this.#state?.close();
    this.#data = this.#state = undefined;
  }

  #unlock(): void {
    this.#release?.();
    this.#release = undefined;
  }
}

function fill(handle: SyncHandle, name: string, at: number, into: Uint8Array): void {
  const count = handle.read(into, { at });
  if (count !== into.length) {
    throw new TokamakError("invalid-input", `${name}: ${count} of ${into.length} bytes from ${at} could be read; ` +
      "the browser may have removed the file. Open the model again.");
  }
}
