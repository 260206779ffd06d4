// A memory, as the page has it: every call is a verb of the module, in the Worker of the engine that embeds.
import type { Doing } from "./api.ts";
import { TokamakError } from "./errors.ts";
import type {
  AddOptions,
  Added,
  DocumentMemory,
  Hit,
  MemoryFilter,
  MemoryList,
  MemoryProgress,
  Quoter,
  RebuildOptions,
  RecallOptions,
  Recalled,
  SearchOptions,
} from "./memory_api.ts";
import type { MemoryCall } from "./protocol.ts";

/** Has the Worker answer a call. */
export type Ask = (call: MemoryCall, signal?: AbortSignal, doing?: (doing: Doing) => void) => Promise<unknown>;

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u;

export class WorkerMemory implements DocumentMemory {
  readonly name: string;
  readonly #ask: Ask;
  readonly #own: Quoter;

  constructor(name: string, ask: Ask, own: Quoter) {
    if (!NAME.test(name)) {
      throw new TokamakError("usage", `"${name}" is no name of a memory: expected letters, digits, spaces, ".", "_" and "-", ` +
        "64 at most.");
    }
    this.name = name;
    this.#ask = ask;
    this.#own = own;
  }

  async add(text: string | Blob, { signal, onProgress, ...options }: AddOptions = {}): Promise<Added> {
    const source = options.source ?? (text instanceof File ? text.name : "");
    const values = { ...options, source, text: typeof text === "string" ? text : await textOf(text), added: now() };
    return (await this.#verb("add", values, { signal, onProgress })) as Added;
  }

  async search(query: string, { signal, ...options }: SearchOptions = {}): Promise<Hit[]> {
    return ((await this.#verb("search", { limit: 10, ...options, query }, { signal })) as { hits: Hit[] }).hits;
  }

  async recall(query: string, { budget, for: reader = this.#own, signal, ...options }: RecallOptions = {}): Promise<Recalled> {
    const { hits } = (await this.#verb("search", { ...options, query }, { signal })) as { hits: Hit[] };
    return reader.quote(hits, budget === undefined ? {} : { budget });
  }

  async list(filter: MemoryFilter = {}): Promise<MemoryList> {
    return (await this.#verb("list", filter)) as MemoryList;
  }

  async forget(which: MemoryFilter | { all: true }): Promise<number> {
    return ((await this.#verb("forget", which)) as { forgotten: number }).forgotten;
  }

  async export(filter: MemoryFilter = {}): Promise<Blob> {
    return (await this.#verb("export", filter)) as Blob;
  }

  async import(file: Blob): Promise<{ added: number; known: number }> {
    return (await this.#verb("import", {}, { file })) as { added: number; known: number };
  }

  async rebuild({ signal, onProgress, ...options }: RebuildOptions = {}): Promise<void> {
    await this.#verb("rebuild", options, { signal, onProgress });
  }

  #verb(
    verb: MemoryCall["verb"],
    values: object,
    how: { file?: Blob; signal?: AbortSignal | undefined; onProgress?: ((progress: MemoryProgress) => void) | undefined } = {},
  ): Promise<unknown> {
    const { file, signal, onProgress } = how;
    const call: MemoryCall = { kind: "memory", verb, values: { ...values, store: this.name }, ...(file && { file }) };
    return this.#ask(call, signal, ({ done = 0, total = 0 }) => onProgress?.({ done, total }));
  }
}

const now = () => Math.floor(Date.now() / 1000);

/** UTF-8 or UTF-16 with its mark; other bytes are no text. */
async function textOf(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const isWide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  const encoding = isWide ? (bytes[0] === 0xff ? "utf-16le" : "utf-16be") : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new TokamakError("invalid-input", `${file instanceof File ? file.name : "The file"} is no text in UTF-8.`);
  }
}
