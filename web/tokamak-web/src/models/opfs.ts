// The part of the origin private file system, of Web Locks and of the network that this folder uses, so
// that tests can stand in for a browser. Only `createSyncAccessHandle` writes: `createWritable` fails on iOS.

export interface SyncHandle {
  read(into: Uint8Array, options: { at: number }): number;
  write(bytes: Uint8Array, options: { at: number }): number;
  getSize(): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}

export interface FileEntry {
  getFile(): Promise<Blob>;
  createSyncAccessHandle(options?: { mode: "read-only" | "readwrite" }): Promise<SyncHandle>;
}

export interface Folder {
  getDirectoryHandle(name: string, options?: { create: boolean }): Promise<Folder>;
  getFileHandle(name: string, options?: { create: boolean }): Promise<FileEntry>;
  removeEntry(name: string, options?: { recursive: boolean }): Promise<void>;
  keys(): AsyncIterable<string>;
}

export interface Storage {
  getDirectory(): Promise<Folder>;
  /** Bytes, as far as the browser tells. */
  estimate(): Promise<{ quota?: number; usage?: number }>;
}

export interface Locks {
  request(
    name: string,
    options: { mode: "shared" | "exclusive"; ifAvailable?: boolean; signal?: AbortSignal },
    held: (lock: unknown) => Promise<unknown>,
  ): Promise<unknown>;
}

/** Holds a lock until what comes back is called; undefined where `ifAvailable` and it is not. */
export function hold(
  locks: Locks,
  name: string,
  mode: "shared" | "exclusive",
  how: { ifAvailable: boolean } | { signal: AbortSignal },
): Promise<(() => void) | undefined> {
  return new Promise((resolve, reject) => {
    const held = (lock: unknown) =>
      lock === null ? Promise.resolve(resolve(undefined)) : new Promise<void>((release) => resolve(release));
    locks.request(name, { mode, ...how }, held).catch(reject);
  });
}

const isNamed = (error: unknown, name: string) => error instanceof Error && error.name === name;
export const isMissing = (error: unknown) => isNamed(error, "NotFoundError");
export const isFull = (error: unknown) => isNamed(error, "QuotaExceededError");

/** The file, or undefined where there is none. */
export async function findFile(folder: Folder, name: string): Promise<FileEntry | undefined> {
  try {
    return await folder.getFileHandle(name);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Removes a file; one that is not there counts as removed. False where another tab has it open. */
export async function removeFile(folder: Folder, name: string): Promise<boolean> {
  try {
    await folder.removeEntry(name);
  } catch (error) {
    if (isNamed(error, "NoModificationAllowedError")) return false;
    if (!isMissing(error)) throw error;
  }
  return true;
}

/** Replaces the file's text. */
export async function writeText(folder: Folder, name: string, text: string): Promise<void> {
  const file = await folder.getFileHandle(name, { create: true });
  const handle = await file.createSyncAccessHandle();
  try {
    const bytes = new TextEncoder().encode(text);
    handle.write(bytes, { at: 0 });
    handle.truncate(bytes.length);
    handle.flush();
  } finally {
    handle.close();
  }
}
