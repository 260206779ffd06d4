// How far the download of a file has come: what is there survives whatever ends the tab, and the next one
// goes on from there. The text is the one of src/hub/parts.h, with two more lines:
//
//   tokamak-parts 1 SIZE PART        bytes of the file and of a part
//   COUNT                            bytes of the first part that are there, from its beginning
//   ...                              all numbers have 20 digits, so that it is written in place
//   version TEXT                     the server's mark of this version of the file, as JSON
//   hash POSITION STATE              of SHA-256 over the bytes before POSITION, where a hash is known

export const PART_BYTES = 16 << 20;

/** Bytes from `begin` up to `end`. */
export interface Span {
  begin: number;
  end: number;
}

export class Parts {
  readonly done: number[];

  readonly size: number;
  readonly partBytes: number;

  constructor(size: number, partBytes: number) {
    this.size = size;
    this.partBytes = partBytes;
    this.done = new Array<number>(Math.ceil(size / partBytes)).fill(0);
  }

  begin(part: number): number {
    return part * this.partBytes;
  }

  end(part: number): number {
    return Math.min(this.size, this.begin(part + 1));
  }

  isDone(part: number): boolean {
    return this.begin(part) + this.done[part]! >= this.end(part);
  }

  /** Bytes that are there. */
  total(): number {
    return this.done.reduce((sum, count) => sum + count, 0);
  }

  isWhole(): boolean {
    return this.total() === this.size;
  }

  /** The first byte that is missing; the size where none is. */
  frontier(): number {
    const part = this.done.findIndex((_, i) => !this.isDone(i));
    return part < 0 ? this.size : this.begin(part) + this.done[part]!;
  }

  /** The end of the last byte that is there. */
  extent(): number {
    const part = this.done.findLastIndex((count) => count > 0);
    return part < 0 ? 0 : this.begin(part) + this.done[part]!;
  }

  has({ begin, end }: Span): boolean {
    if (begin >= end) return true;
    for (let part = Math.floor(begin / this.partBytes); part < this.done.length && this.begin(part) < end; ++part) {
      if (this.begin(part) + this.done[part]! < Math.min(end, this.end(part))) return false;
    }
    return true;
  }

  /** The part to fetch next: one that somebody waits for, else the first that is missing and not taken. */
  next(taken: ReadonlySet<number>, wanted: Iterable<Span> = []): number | undefined {
    const isFree = (part: number) => !taken.has(part) && !this.isDone(part);
    for (const { begin, end } of wanted) {
      for (let part = Math.floor(begin / this.partBytes); part < this.done.length && this.begin(part) < end; ++part) {
        if (isFree(part)) return part;
      }
    }
    const part = this.done.findIndex((_, i) => isFree(i));
    return part < 0 ? undefined : part;
  }

  clear(): void {
    this.done.fill(0);
  }
}

export interface DownloadState {
  parts: Parts;
  /** ETag or date of the file on the server; "" where there is none. */
  version: string;
  hash?: { position: number; state: Uint8Array };
}

const digits = (count: number) => String(count).padStart(20, "0");
const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

export function formatState({ parts, version, hash }: DownloadState): string {
  const lines = [`tokamak-parts 1 ${digits(parts.size)} ${digits(parts.partBytes)}`, ...parts.done.map(digits)];
  lines.push(`version ${JSON.stringify(version)}`);
  if (hash) lines.push(`hash ${digits(hash.position)} ${hex(hash.state)}`);
  return lines.join("\n") + "\n";
}

/** Nothing unless `text` is the whole state of a file of `size` bytes: the download begins anew then. */
export function parseState(text: string, size: number): DownloadState | undefined {
  const lines = text.split("\n");
  const head = /^tokamak-parts 1 (\d{20}) (\d{20})$/.exec(lines.shift() ?? "");
  if (!head || Number(head[1]) !== size || Number(head[2]) < 1 || lines.pop() !== "") return undefined;
  const parts = new Parts(size, Number(head[2]));
  for (let part = 0; part < parts.done.length; ++part) {
    const line = lines.shift() ?? "";
    if (!/^\d{20}$/.test(line) || Number(line) > parts.end(part) - parts.begin(part)) return undefined;
    parts.done[part] = Number(line);
  }
  const version = /^version (".*")$/.exec(lines.shift() ?? "");
  const hash = /^hash (\d{20}) ((?:[0-9a-f]{2})+)$/.exec(lines[0] ?? "");
  if (!version || lines.length > 1 || (lines.length === 1 && !hash)) return undefined;
  try {
    const state: DownloadState = { parts, version: String(JSON.parse(version[1]!)) };
    if (!hash) return state;
    const position = Number(hash[1]);
    if (position > parts.frontier()) return undefined;
    const bytes = Uint8Array.from(hash[2]!.match(/../g)!, (byte) => Number.parseInt(byte, 16));
    return { ...state, hash: { position, state: bytes } };
  } catch {
    return undefined;
  }
}
