// A browser's files, locks and network in memory, as far as src/models uses them.
import { createHash } from "node:crypto";

import type { FileEntry, Folder, Locks, Storage, SyncHandle } from "../../src/models/opfs.ts";
import type { Network } from "../../src/models/http.ts";

// Taken before any test replaces it: large answers take turns with other work, as they do in a browser.
const nextTurn = setImmediate;

const named = (name: string) => new DOMException(name, name);

/** The bytes of one file, and who has it open. */
class FakeFile implements FileEntry {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  writers = 0;
  readers = 0;

  readonly disk: FakeStorage;

  constructor(disk: FakeStorage) {
    this.disk = disk;
  }

  async getFile(): Promise<Blob> {
    const { bytes } = this; // a Blob of them would be a copy
    const { length: size } = bytes;
    const slice = (begin: number, end: number) => new Blob([bytes.subarray(begin, end)]);
    return { size, slice, text: async () => new TextDecoder().decode(bytes) } as Blob;
  }

  async createSyncAccessHandle(options?: { mode: "read-only" | "readwrite" }): Promise<SyncHandle> {
    const isReader = options?.mode === "read-only" && this.disk.knowsModes;
    if (this.writers > 0 || (!isReader && this.readers > 0)) throw named("NoModificationAllowedError");
    isReader ? ++this.readers : ++this.writers;
    let isOpen = true;
    const check = () => {
      if (!isOpen) throw named("InvalidStateError");
    };
    const resize = (size: number) => {
      if (this.disk.used() + size - this.bytes.length > this.disk.quota) throw named("QuotaExceededError");
      // With room to spare, so that growing by pieces does not copy all each time.
      const { buffer } = this.bytes, old = this.bytes.length;
      if (size > buffer.byteLength) {
        const bytes = new Uint8Array(2 * size);
        bytes.set(this.bytes);
        this.bytes = bytes.subarray(0, size);
      } else {
        this.bytes = new Uint8Array(buffer, 0, size);
        if (size > old) this.bytes.fill(0, old);
      }
    };
    return {
      read: (into, { at }) => {
        check();
        const part = this.bytes.subarray(at, at + into.length);
        into.set(part);
        return part.length;
      },
      write: (bytes, { at }) => {
        check();
        if (isReader) throw named("NoModificationAllowedError");
        if (at + bytes.length > this.bytes.length) resize(at + bytes.length);
        this.bytes.set(bytes, at);
        return bytes.length;
      },
      getSize: () => (check(), this.bytes.length),
      truncate: (size) => (check(), resize(size)),
      flush: check,
      close: () => {
        if (isOpen) isReader ? --this.readers : --this.writers;
        isOpen = false;
      },
    };
  }
}

class FakeFolder implements Folder {
  readonly entries = new Map<string, FakeFolder | FakeFile>();

  readonly disk: FakeStorage;

  constructor(disk: FakeStorage) {
    this.disk = disk;
  }

  async #get<T extends FakeFolder | FakeFile>(kind: new (disk: FakeStorage) => T, name: string, create = false) {
    let entry = this.entries.get(name);
    if (!entry && create) this.entries.set(name, (entry = new kind(this.disk)));
    if (!entry) throw named("NotFoundError");
    if (!(entry instanceof kind)) throw named("TypeMismatchError");
    return entry;
  }

  getDirectoryHandle(name: string, options?: { create: boolean }): Promise<FakeFolder> {
    return this.#get(FakeFolder, name, options?.create);
  }

  getFileHandle(name: string, options?: { create: boolean }): Promise<FakeFile> {
    return this.#get(FakeFile, name, options?.create);
  }

  async removeEntry(name: string): Promise<void> {
    const entry = this.entries.get(name);
    if (!entry) throw named("NotFoundError");
    if (entry instanceof FakeFile && entry.writers + entry.readers > 0) throw named("NoModificationAllowedError");
    this.entries.delete(name);
  }

  async *keys(): AsyncGenerator<string> {
    yield* [...this.entries.keys()];
  }
}

export class FakeStorage implements Storage {
  root: FakeFolder = new FakeFolder(this);
  quota = Infinity;
  /** Whether several may read a file at a time, with the mode "read-only". */
  knowsModes = true;

  async getDirectory(): Promise<FakeFolder> {
    return this.root;
  }

  async estimate(): Promise<{ quota: number; usage: number }> {
    return { quota: this.quota, usage: this.used() };
  }

  *#files(folder: FakeFolder, path: string): Generator<[string, FakeFile]> {
    for (const [name, entry] of folder.entries) {
      if (entry instanceof FakeFile) yield [`${path}${name}`, entry];
      else yield* this.#files(entry, `${path}${name}/`);
    }
  }

  /** By path from the root, "tokamak/blobs/...". */
  files(): Map<string, FakeFile> {
    return new Map(this.#files(this.root, ""));
  }

  used(): number {
    return [...this.files().values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  blob(key: string): FakeFile | undefined {
    return this.files().get(`tokamak/blobs/${key}`);
  }

  /** Handles that nobody has closed. */
  open(): string[] {
    return [...this.files()].filter(([, file]) => file.readers + file.writers > 0).map(([path]) => path);
  }

  /** Ends like a browser's process: handles are gone, bytes stay. */
  crash(): void {
    for (const file of this.files().values()) file.readers = file.writers = 0;
  }
}

type Waiting = { mode: string; run(): void };

export class FakeLocks implements Locks {
  #held = new Map<string, string[]>();
  #queues = new Map<string, Waiting[]>();

  async request(
    name: string,
    { mode, ifAvailable, signal }: { mode: "shared" | "exclusive"; ifAvailable?: boolean; signal?: AbortSignal },
    work: (lock: unknown) => Promise<unknown>,
  ): Promise<unknown> {
    if (ifAvailable && signal) throw named("NotSupportedError");
    const held = this.#held.get(name) ?? [];
    const queue = this.#queues.get(name) ?? [];
    this.#held.set(name, held);
    this.#queues.set(name, queue);
    const isFree = () => held.length === 0 || (mode === "shared" && held.every((one) => one === "shared"));
    if (queue.length > 0 || !isFree()) {
      if (ifAvailable) return work(null);
      await new Promise<void>((resolve, reject) => {
        const waiting = { mode, run: resolve };
        queue.push(waiting);
        signal?.addEventListener("abort", () => {
          queue.splice(queue.indexOf(waiting), 1);
          reject(signal.reason);
        });
      });
    }
    held.push(mode);
    try {
      return await work({ name, mode });
    } finally {
      held.splice(held.indexOf(mode), 1);
      this.#wake(held, queue);
    }
  }

  #wake(held: string[], queue: Waiting[]): void {
    // Granted ones push themselves only later, so that they are counted here.
    const granted = [...held];
    while (queue[0] && (granted.length === 0 || (queue[0].mode === "shared" && granted.every((m) => m === "shared")))) {
      granted.push(queue[0].mode);
      queue.shift()!.run();
    }
  }

  isIdle(): boolean {
    return [...this.#held.values(), ...this.#queues.values()].every((list) => list.length === 0);
  }
}

export interface Served {
  bytes: Uint8Array;
  etag?: string;
  /** Answers in place of the usual ones; undefined: the usual one. */
  answer?(request: { headers: Headers; count: number }): Response | undefined | Promise<Response>;
  /** Bytes after which an answer breaks off, by the how manieth request it is. */
  cut?(count: number): number | undefined;
}

/** A server of files by their addresses, with ranges, and a list of what was asked for. */
export class FakeServer {
  readonly files = new Map<string, Served>();
  readonly requests: { url: string; range: string; headers: Headers }[] = [];
  isReachable = true;
  chunk = 1 << 16;

  put(url: string, bytes: Uint8Array, more: Omit<Served, "bytes"> = {}): Served {
    const served = { bytes, ...more };
    this.files.set(url, served);
    return served;
  }

  network(more: Partial<Network> = {}): Network {
    return {
      fetch: (url, init) => this.#fetch(url, init),
      isOnline: () => this.isReachable,
      random: () => 0.5,
      waitsMs: [0, 0, 0],
      ...more,
    };
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    init.signal?.throwIfAborted();
    const headers = new Headers(init.headers);
    const range = headers.get("Range") ?? "";
    const count = this.requests.filter((one) => one.url === url).length;
    this.requests.push({ url, range, headers });
    if (!this.isReachable) throw new TypeError("Failed to fetch");
    const file = this.files.get(url);
    if (!file) return new Response("no such file", { status: 404 });
    const special = await file.answer?.({ headers, count });
    if (special) return special;
    const { bytes, etag } = file;
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range)!;
    const isOther = headers.has("If-Range") && headers.get("If-Range") !== etag;
    const begin = isOther ? 0 : Number(from), end = isOther || to === "" ? bytes.length : Math.min(Number(to) + 1, bytes.length);
    if (begin >= bytes.length) return new Response(null, { status: 416 });
    const reply = new Headers({ "Content-Length": String(end - begin), ...(etag && { ETag: etag }) });
    if (!isOther) reply.set("Content-Range", `bytes ${begin}-${end - 1}/${bytes.length}`);
    return new Response(this.stream(bytes.subarray(begin, end), file.cut?.(count), init.signal ?? undefined), {
      status: isOther ? 200 : 206, headers: reply });
  }

  stream(bytes: Uint8Array, cut = Infinity, signal?: AbortSignal): ReadableStream<Uint8Array> {
    let at = 0;
    return new ReadableStream({
      pull: async (controller) => {
        if (bytes.length > this.chunk) await new Promise((resolve) => nextTurn(resolve));
        if (signal?.aborted) return controller.error(signal.reason);
        if (at >= cut) return controller.error(new TypeError("network error"));
        if (at >= bytes.length) return controller.close();
        const end = Math.min(at + this.chunk, cut, bytes.length);
        controller.enqueue(bytes.slice(at, end));
        at = end;
      },
    }, { highWaterMark: 0 });
  }
}

/** Bytes that differ everywhere, the same for the same seed. */
export function noise(size: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(size);
  let state = seed >>> 0;
  for (let i = 0; i < size; ++i) bytes[i] = (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 24;
  return bytes;
}

export const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
