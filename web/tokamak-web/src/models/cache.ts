// Models that are kept between visits, in the origin private file system:
//
//   tokamak/blobs/KEY          the bytes of a file; KEY is their SHA-256, or one of where they are from
//   tokamak/blobs/KEY.state    beside them while some are missing (parts.ts): it comes first and goes last,
//                              so that no blob without it is in the middle of something
//   tokamak/models/NAME.json   a model's files
//
// The browser may delete all of it at any time; a file that is not there or has another size is fetched again.
import { findFile, type Folder, hold, type Locks, removeFile, type Storage, writeText } from "./opfs.ts";
import { parseState } from "./parts.ts";
import type { StoredModel } from "./types.ts";

export interface KeptFile {
  name: string;
  /** The name of its blob. */
  blob: string;
  url: string;
  /** Bytes. */
  size: number;
  sha256: string | null;
  version: string;
}

/** A model's description as it is stored. */
export interface KeptModel {
  format: 1;
  name: string;
  revision: string;
  /** Milliseconds since 1970. */
  lastUsed: number;
  files: KeptFile[];
}

export const blobLock = (key: string) => `tokamak:blob:${key}`;
const MODELS_LOCK = "tokamak:models";
const LONGEST_NAME = 200; // file names may have 255 bytes

export class Cache {
  readonly blobs: Folder;
  readonly models: Folder;
  readonly storage: Storage;
  readonly locks: Locks;

  private constructor(blobs: Folder, models: Folder, storage: Storage, locks: Locks) {
    this.blobs = blobs;
    this.models = models;
    this.storage = storage;
    this.locks = locks;
  }

  /** Undefined where the browser keeps no files: private windows, pages without TLS, old browsers. */
  static async open(storage: Storage | undefined, locks: Locks | undefined): Promise<Cache | undefined> {
    if (!storage?.getDirectory || !locks) return undefined;
    try {
      const root = await (await storage.getDirectory()).getDirectoryHandle("tokamak", { create: true });
      const blobs = await root.getDirectoryHandle("blobs", { create: true });
      const cache = new Cache(blobs, await root.getDirectoryHandle("models", { create: true }), storage, locks);
      // Some private windows have folders, but no files.
      await blobs.getFileHandle("probe", { create: true });
      await removeFile(blobs, "probe");
      return cache;
    } catch {
      return undefined;
    }
  }

  /** Bytes of a blob that is whole. */
  async wholeSize(key: string): Promise<number | undefined> {
    if (await findFile(this.blobs, `${key}.state`)) return undefined;
    return this.#sizeOf(key);
  }

  async #sizeOf(key: string): Promise<number | undefined> {
    const file = await findFile(this.blobs, key);
    return file && (await file.getFile()).size;
  }

  /** Bytes of a file that are still to be stored. */
  async missing({ blob, size }: KeptFile): Promise<number> {
    const state = await findFile(this.blobs, `${blob}.state`);
    if (!state) return (await this.#sizeOf(blob)) === size ? 0 : size;
    return size - (parseState(await (await state.getFile()).text(), size)?.parts.total() ?? 0);
  }

  async isComplete(model: KeptModel): Promise<boolean> {
    const sizes = await Promise.all(model.files.map(({ blob }) => this.wholeSize(blob)));
    return sizes.every((size, i) => size === model.files[i]!.size);
  }

  /** The model stored under that name, whole or not. */
  async find(name: string): Promise<KeptModel | undefined> {
    return this.#read(await fileName(name));
  }

  async #read(file: string): Promise<KeptModel | undefined> {
    const entry = await findFile(this.models, file);
    if (!entry) return undefined;
    try {
      const model = JSON.parse(await (await entry.getFile()).text()) as KeptModel;
      return model.format === 1 && Array.isArray(model.files) ? model : undefined;
    } catch {
      return undefined; // written by a tab that was killed meanwhile
    }
  }

  async #all(): Promise<KeptModel[]> {
    const files: string[] = [];
    for await (const file of this.models.keys()) files.push(file);
    return (await Promise.all(files.map((file) => this.#read(file)))).filter((model) => model !== undefined);
  }

  /** Stores the description; what only the one before it needed goes away. */
  keep(model: KeptModel): Promise<void> {
    return this.#alone(async () => {
      const before = await this.find(model.name);
      await writeText(this.models, await fileName(model.name), JSON.stringify(model));
      if (before) await this.#removeBlobs(before.files.map(({ blob }) => blob), await this.#all());
    });
  }

  /** Those used longest ago first. */
  async list(): Promise<StoredModel[]> {
    const models = await Promise.all((await this.#all()).map(async (model): Promise<StoredModel> => ({
      name: model.name,
      revision: model.revision,
      size: model.files.reduce((sum, { size }) => sum + size, 0),
      complete: await this.isComplete(model),
      lastUsed: model.lastUsed,
    })));
    return models.sort((a, b) => a.lastUsed - b.lastUsed);
  }

  /** False, and the model stays, while a tab has it open. */
  remove(name: string): Promise<boolean> {
    return this.#alone(async () => {
      const model = await this.find(name);
      const others = (await this.#all()).filter((one) => one.name !== name);
      if (model && !(await this.#removeBlobs(model.files.map(({ blob }) => blob), others))) return false;
      return removeFile(this.models, await fileName(name));
    });
  }

  /** Everything that no tab is reading. */
  async clear(): Promise<void> {
    for (const { name } of await this.#all()) await this.remove(name);
    await this.#alone(async () => {
      const keys = new Set<string>();
      for await (const file of this.blobs.keys()) keys.add(file.replace(/\.state$/, ""));
      await this.#removeBlobs(keys, await this.#all());
    });
  }

  /** Removes those that none of `users` needs; false where a tab has one open. */
  async #removeBlobs(keys: Iterable<string>, users: KeptModel[]): Promise<boolean> {
    const used = new Set(users.flatMap(({ files }) => files.map(({ blob }) => blob)));
    let isGone = true;
    for (const key of keys) {
      if (!used.has(key)) isGone = (await this.removeBlob(key)) && isGone;
    }
    return isGone;
  }

  /** False while a tab has it open. */
  async removeBlob(key: string): Promise<boolean> {
    const release = await hold(this.locks, blobLock(key), "exclusive", { ifAvailable: true });
    if (!release) return false;
    try {
      // The state goes last: what is left by an end in between is no whole blob.
      return (await removeFile(this.blobs, key)) && (await removeFile(this.blobs, `${key}.state`));
    } finally {
      release();
    }
  }

  /** Descriptions are read and written by one tab at a time. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const release = await hold(this.locks, MODELS_LOCK, "exclusive", { ifAvailable: false });
    try {
      return await work();
    } finally {
      release!();
    }
  }
}

// Web Crypto instead of hash-wasm: the page lists models as well, and its script is to stay small.
async function sha256(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function fileName(name: string): Promise<string> {
  const encoded = encodeURIComponent(name);
  return `${encoded.length > LONGEST_NAME ? await sha256(name) : encoded}.json`;
}

/** The name of a file's blob: its hash, else one that changes when the file on the server does. */
export async function blobKey(file: { url: string; size: number; sha256: string | null; version: string }):
  Promise<string> {
  return file.sha256 ?? `url-${await sha256(JSON.stringify([file.url, file.size, file.version]))}`;
}
