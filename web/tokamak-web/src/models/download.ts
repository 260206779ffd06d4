// Downloads of a model's files: three ranges at a time, which of them first is up to who waits for bytes.
// A file goes on from its saved state; SHA-256 follows the bytes that are there without a gap.
import { createSHA256, type IHasher } from "hash-wasm";

import { TokamakError } from "../errors.ts";
import { get, NetworkError, type Network, pieces, type Request, retry, throwIfCancelled } from "./http.ts";
import { formatState, parseState, PART_BYTES, Parts, type Span } from "./parts.ts";

const AT_A_TIME = 3;
const SAVE_MS = 1000;
const HASH_BYTES = 1 << 20;

/** A file of a model on a server. */
export interface RemoteFileInfo {
  name: string;
  url: string;
  /** Bytes. */
  size: number;
  sha256: string | null;
  /** ETag or date; "" where it is not known. */
  version: string;
  token?: string;
}

/** The destination of the bytes. Writing may fail with QuotaExceededError. */
export interface Target {
  write(bytes: Uint8Array, at: number): void;
  /** Bytes that were written before. */
  read(into: Uint8Array, at: number): void;
  /** Puts the bytes written by now on the disk, then this text. */
  save(state: string): void;
  /** All bytes are there and right. */
  finish(): Promise<void>;
  /** The bytes are wrong: nothing of them is kept. */
  discard(): Promise<void>;
}

/** The file begins anew: the server sends another version of it, or does not know ranges. */
class Restart extends Error {}

export class Download {
  parts: Parts;
  /** The server sends the file in one piece only. */
  inOnePiece = false;
  readonly taken = new Set<number>();
  isFinishing = false;
  #version: string;
  #hasher: IHasher | undefined;
  #hashed = 0;
  #savedAt = 0;
  #waiting = new Set<{ span: Span; resolve(): void; reject(error: unknown): void }>();
  #error: unknown;
  #isFinished = false;
  /** Ends the requests of an abandoned beginning. */
  #attempt = new AbortController();

  readonly info: RemoteFileInfo;
  readonly target: Target;

  private constructor(info: RemoteFileInfo, target: Target) {
    this.info = info;
    this.target = target;
    this.parts = new Parts(info.size, PART_BYTES);
    this.#version = info.version;
  }

  /** `state`: what `save` was last given; `stored`: the size that the file has by now. */
  static async begin(info: RemoteFileInfo, target: Target, state: string, stored: number): Promise<Download> {
    const download = new Download(info, target);
    if (info.sha256) download.#hasher = (await createSHA256()).init();
    const saved = parseState(state, info.size);
    if (saved && saved.parts.extent() > stored) return download; // the browser has taken bytes away
    // A known hash tells whether the bytes belong together; else the version has to be the same.
    if (saved && (info.sha256 !== null || (saved.version !== "" && saved.version === info.version))) {
      download.parts = saved.parts;
      download.#version = saved.version;
      if (download.#hasher && saved.hash) download.#loadHash(saved.hash.position, saved.hash.state);
    }
    return download;
  }

  #loadHash(position: number, state: Uint8Array): void {
    try {
      this.#hasher!.load(state);
      this.#hashed = position;
    } catch {
      this.#hasher!.init(); // saved by another version of hash-wasm: hashed again from the beginning
    }
  }

  /** All bytes are there, and no request is about to save so. */
  isArrived(): boolean {
    return this.parts.isWhole() && this.taken.size === 0;
  }

  wanted(): Span[] {
    return [...this.#waiting].map(({ span }) => span);
  }

  /** Settles when the bytes are there; at once, with nothing, where they are. */
  wait(span: Span): void | Promise<void> {
    if (this.#error !== undefined) throw this.#error;
    if (this.#isFinished || this.parts.has(span)) return;
    return new Promise((resolve, reject) => this.#waiting.add({ span, resolve, reject }));
  }

  fail(error: unknown): void {
    if (this.#isFinished) return;
    this.#error ??= error;
    for (const { reject } of this.#waiting) reject(this.#error);
    this.#waiting.clear();
  }

  #tell(): void {
    for (const one of this.#waiting) {
      if (!this.parts.has(one.span)) continue;
      this.#waiting.delete(one);
      one.resolve();
    }
  }

  save(): void {
    this.#hashTo(this.parts.frontier());
    this.#savedAt = Date.now();
    const hash = this.#hasher && { position: this.#hashed, state: this.#hasher.save() };
    this.target.save(formatState({ parts: this.parts, version: this.#version, ...(hash && { hash }) }));
  }

  #hashTo(end: number): void {
    if (!this.#hasher) return;
    const buffer = new Uint8Array(Math.min(HASH_BYTES, Math.max(0, end - this.#hashed)));
    while (this.#hashed < end) {
      const bytes = buffer.subarray(0, Math.min(buffer.length, end - this.#hashed));
      this.target.read(bytes, this.#hashed);
      this.#hasher.update(bytes);
      this.#hashed += bytes.length;
    }
  }

  #restart(version: string): never {
    this.#attempt.abort(new TokamakError("network", `${this.info.name} begins anew.`));
    this.#attempt = new AbortController();
    this.#version = version;
    this.parts.clear();
    this.#hasher?.init();
    this.#hashed = 0;
    throw new Restart();
  }

  /** One request for what is missing of a part. False when the file has begun anew. */
  async fetchPart(network: Network, signal: AbortSignal, part: number, onBytes: () => void): Promise<boolean> {
    const attempt = this.#attempt.signal;
    let before = this.parts.done[part]!;
    try {
      const both = AbortSignal.any([signal, attempt]);
      await retry(network, both, () => this.#fetch(network, both, part, onBytes), () => {
        const done = this.parts.done[part]!;
        const moved = done > before && !this.inOnePiece;
        before = done;
        return moved;
      });
      return true;
    } catch (error) {
      if (!(error instanceof Restart) && (signal.aborted || !attempt.aborted)) throw error;
      return false;
    }
  }

  async #fetch(network: Network, signal: AbortSignal, part: number, onBytes: () => void): Promise<void> {
    const { url, name: what, size, token } = this.info;
    if (this.inOnePiece) this.parts.clear();
    const begin = this.inOnePiece ? 0 : this.parts.begin(part) + this.parts.done[part]!;
    const end = this.inOnePiece ? size : this.parts.end(part);
    const request: Request = { url, what, signal, range: { begin, end }, ...(token && { token }) };
    // Other sites rarely allow If-Range; there the versions are compared below.
    if (this.#version && this.info.sha256 === null && isOwnSite(url)) request.version = this.#version;
    const answer = await get(network, request);
    const drop = async () => answer.body?.cancel().catch(() => undefined);
    if (answer.size !== undefined && answer.size !== size) {
      await drop();
      throw new TokamakError("network", `${what} has ${answer.size} bytes on the server, expected are ${size}; it ` +
        "has changed. Open the model again.", { found: answer.size, expected: size });
    }
    const hasChanged = this.info.sha256 === null && this.#version !== "" && answer.version !== this.#version;
    if (hasChanged || (answer.isWhole && !this.inOnePiece && end - begin < size)) {
      await drop();
      this.inOnePiece ||= answer.isWhole && !hasChanged;
      this.#restart(answer.version);
    }
    this.#version ||= answer.version;
    let at = begin;
    for await (const piece of pieces(network, request, answer)) {
      const bytes = piece.subarray(0, end - at);
      this.target.write(bytes, at);
      this.#count(at, (at += bytes.length));
      onBytes();
      this.#tell();
      if (Date.now() - this.#savedAt >= SAVE_MS) this.save();
    }
    if (at < end) throw new NetworkError(`The server ended ${what} after ${at} of ${end} bytes.`, true);
    this.save();
  }

  /** Bytes from `begin` up to `end` are there: of one part, or of several where the file comes in one piece. */
  #count(begin: number, end: number): void {
    const { partBytes, done } = this.parts;
    for (let part = Math.floor(begin / partBytes); part < done.length && this.parts.begin(part) < end; ++part) {
      done[part] = Math.min(end, this.parts.end(part)) - this.parts.begin(part);
    }
  }

  /** Compares the hash and hands the file over. */
  async finish(): Promise<void> {
    this.#hashTo(this.info.size);
    const found = this.#hasher?.digest();
    if (found !== undefined && found !== this.info.sha256) {
      await this.target.discard();
      throw new TokamakError("hash", `${this.info.name} arrived with the SHA-256 ${found}, expected is ` +
        `${this.info.sha256}. It has been deleted; open the model again to fetch it anew.`,
        { file: this.info.name, found, expected: this.info.sha256 });
    }
    this.#isFinished = true;
    await this.target.finish();
  }
}

/**
 * Brings all files; ends when they are whole and right. What is there when it fails, or when the signal
 * ends it, stays for the next time.
 */
export async function downloadAll(
  downloads: readonly Download[],
  network: Network,
  signal: AbortSignal,
  onChange: (file: Download, phase: "download" | "verify") => void,
): Promise<void> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const worker = async (): Promise<void> => {
    for (;;) {
      const next = choose(downloads);
      if (!next) return;
      const { download, part } = next;
      if (part !== undefined) {
        download.taken.add(part);
        try {
          await download.fetchPart(network, either, part, () => onChange(download, "download"));
        } finally {
          download.taken.delete(part);
        }
      }
      if (download.isArrived() && !download.isFinishing) {
        download.isFinishing = true;
        onChange(download, "verify");
        await download.finish();
      }
    }
  };
  const workers = Array.from({ length: AT_A_TIME }, () => worker().catch((error: unknown) => {
    failed.abort(error);
    throw error;
  }));
  const outcomes = await Promise.allSettled(workers);
  if (outcomes.every(({ status }) => status === "fulfilled")) return;
  for (const download of downloads) {
    if (!download.isFinishing) trySave(download);
  }
  throwIfCancelled(signal);
  throw failed.signal.reason;
}

/** Waited-for bytes before others, files in their order. */
function choose(downloads: readonly Download[]): { download: Download; part: number | undefined } | undefined {
  const open = downloads.filter(({ isFinishing }) => !isFinishing);
  for (const download of [...open.filter((one) => one.wanted().length > 0), ...open]) {
    if (download.isArrived()) return { download, part: undefined };
    if (download.inOnePiece && download.taken.size > 0) continue;
    const part = download.parts.next(download.taken, download.wanted());
    if (part !== undefined) return { download, part };
  }
  return undefined;
}

function trySave(download: Download): void {
  try {
    download.save();
  } catch {
    // The state saved before is still true: it counts fewer bytes.
  }
}

const isOwnSite = (url: string) => typeof location !== "undefined" && new URL(url).origin === location.origin;
