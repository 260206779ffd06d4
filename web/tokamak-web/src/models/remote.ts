// A file that stays on its server: each read asks for a range and for some bytes after it, since the next read
// is mostly there. A model of 2 GB so never lies in memory.
import { TokamakError } from "../errors.ts";
import type { RemoteFileInfo } from "./download.ts";
import { get, type Network, NetworkError, pieces, type Request, retry } from "./http.ts";
import type { ModelFile } from "./types.ts";

const FIRST_BYTES = 1 << 20, MOST_BYTES = 4 << 20;
const BLOCKS = 4; // 16 MiB at most, of all files together
const LARGEST_WITHOUT_RANGES = 16 << 20;

interface Block {
  url: string;
  begin: number;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The blocks that were read ahead of a model's files, used longest ago first. */
export class ReadAhead {
  #blocks: Block[] = [];
  readonly network: Network;
  readonly signal: AbortSignal;
  readonly onBytes: (count: number) => void;

  constructor(network: Network, signal: AbortSignal, onBytes: (count: number) => void) {
    this.network = network;
    this.signal = signal;
    this.onBytes = onBytes;
  }

  find(url: string, offset: number): Block | undefined {
    const at = this.#blocks.findIndex((block) => block.url === url && block.begin <= offset &&
      offset < block.begin + block.bytes.length);
    if (at < 0) return undefined;
    const [block] = this.#blocks.splice(at, 1);
    this.#blocks.push(block!);
    return block;
  }

  /** Memory for a block, of the one used longest ago once there are enough. */
  take(): ArrayBuffer {
    const oldest = this.#blocks.length === BLOCKS ? this.#blocks.shift() : undefined;
    return oldest?.bytes.buffer ?? new ArrayBuffer(MOST_BYTES);
  }

  add(block: Block): void {
    this.#blocks.push(block);
  }

  clear(): void {
    this.#blocks = [];
  }
}

export class RemoteFile implements ModelFile {
  readonly name: string;
  readonly size: number;
  #version: string;
  /** The end of the last request, and how much it wanted. */
  #end = 0;
  #ahead = FIRST_BYTES;

  readonly info: RemoteFileInfo;
  readonly shared: ReadAhead;

  constructor(info: RemoteFileInfo, shared: ReadAhead) {
    this.info = info;
    this.shared = shared;
    this.name = info.name;
    this.size = info.size;
    this.#version = info.version;
  }

  read(offset: number, into: Uint8Array): void | Promise<void> {
    if (offset + into.length > this.size) {
      throw new TokamakError("invalid-input", `${this.name} has ${this.size} bytes; ${into.length} from ${offset} ` +
        "were asked for.");
    }
    const missing = this.#copy(offset, into);
    if (missing.length > 0) return this.#fetch(offset + into.length - missing.length, missing);
  }

  /** Copies what was read ahead; the rest of `into`. */
  #copy(offset: number, into: Uint8Array): Uint8Array {
    let rest = into;
    for (let at = offset; rest.length > 0; ) {
      const block = this.shared.find(this.info.url, at);
      if (!block) break;
      const bytes = block.bytes.subarray(at - block.begin, at - block.begin + rest.length);
      rest.set(bytes);
      rest = rest.subarray(bytes.length);
      at += bytes.length;
    }
    return rest;
  }

  async #fetch(offset: number, into: Uint8Array): Promise<void> {
    // Further ahead while one read follows the other; after a jump little of it may be asked for.
    this.#ahead = offset === this.#end ? Math.min(2 * this.#ahead, MOST_BYTES) : FIRST_BYTES;
    const end = Math.min(this.size, offset + Math.max(into.length, this.#ahead));
    const count = Math.max(0, end - offset - into.length);
    const ahead = count > 0 ? new Uint8Array(this.shared.take(), 0, count) : new Uint8Array(0);
    await retry(this.shared.network, this.shared.signal, () => this.#get(offset, into, ahead));
    this.#end = end;
    if (ahead.length > 0) this.shared.add({ url: this.info.url, begin: offset + into.length, bytes: ahead });
  }

  async #get(offset: number, into: Uint8Array, ahead: Uint8Array): Promise<void> {
    const { url, name, token } = this.info;
    const { network, signal } = this.shared;
    const end = offset + into.length + ahead.length;
    const request: Request = { url, what: name, signal, range: { begin: offset, end }, ...(token && { token }) };
    const answer = await get(network, request);
    const isOther = this.#version !== "" && answer.version !== "" && answer.version !== this.#version;
    if (isOther || (answer.size !== undefined && answer.size !== this.size)) {
      await answer.body?.cancel().catch(() => undefined);
      throw new TokamakError("network", `${name} has changed on the server while it was read. Open the model again.`);
    }
    if (answer.isWhole && this.size > LARGEST_WITHOUT_RANGES && end - offset < this.size) {
      await answer.body?.cancel().catch(() => undefined);
      throw new TokamakError("network", `${new URL(url).host} sends ${name} only as a whole, which is too large ` +
        `without a cache (${this.size} bytes). Open it with cache: "opfs".`);
    }
    this.#version ||= answer.version;
    let at = answer.isWhole ? 0 : offset;
    for await (const piece of pieces(network, request, answer)) {
      put(piece, at, offset, into);
      put(piece, at, offset + into.length, ahead);
      at += piece.length;
      this.shared.onBytes(piece.length);
      if (at >= end) return;
    }
    throw new NetworkError(`The server ended ${name} after ${at} of ${end} bytes.`, true);
  }
}

/** Copies what of `piece`, which begins at `at`, belongs into `into`, which begins at `offset`. */
function put(piece: Uint8Array, at: number, offset: number, into: Uint8Array): void {
  const begin = Math.max(at, offset), end = Math.min(at + piece.length, offset + into.length);
  if (begin < end) into.set(piece.subarray(begin - at, end - at), begin - offset);
}
