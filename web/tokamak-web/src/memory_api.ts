// Types of the API: documents that are found again, and passages of them for a prompt.

/** All that is given must hold; nothing is given for every document. */
export interface MemoryFilter {
  ids?: number[];
  /** With * and ? as in a shell. */
  source?: string;
  /** Seconds of 1970 when it was added: from, and until then. */
  since?: number;
  before?: number;
  meta?: Record<string, string>;
}

type WithSignal = { signal?: AbortSignal };

export interface ChunkOptions {
  /** Most tokens of a chunk, which is what is found as one; 256 unless given. */
  chunkTokens?: number;
  /** Most tokens that it has of the one before it; 32 unless given. */
  overlap?: number;
}

export interface MemoryProgress {
  done: number;
  total: number;
}

export interface AddOptions extends ChunkOptions, WithSignal {
  /** The source of the text; the name of a file unless given. A text of the same source takes the older one's place. */
  source?: string;
  meta?: Record<string, string>;
  /** Regular expressions of what is secret besides what is known to be; the store remembers them. */
  redact?: string[];
  /** Kinds of secrets that stay in the text. */
  keep?: ("keys" | "email" | "cards")[];
  /** Chunks. */
  onProgress?(progress: MemoryProgress): void;
}

export interface Added {
  id: number;
  status: "new" | "replaced" | "unchanged";
  chunks: number;
  /** How many secrets of each kind became [REDACTED]. */
  redacted: { keys: number; email: number; cards: number; own: number };
}

export interface SearchOptions extends MemoryFilter, WithSignal {
  limit?: number;
  /** Words need no vectors; both unless given. */
  by?: "both" | "words" | "vectors";
}

/** A chunk that was found; places are bytes of the document's text. */
export interface Hit {
  id: number;
  chunk: number;
  score: number;
  source: string;
  title: string;
  text: string;
  start: number;
  stop: number;
}

export interface QuoteOptions {
  /** Most tokens of the whole text; 1024 unless given. */
  budget?: number;
}

/** Passages with their sources, quoted line by line, as they stand before a message. */
export interface Recalled {
  context: string;
  records: { id: number; chunks: number[]; score: number; source: string; title: string; start: number; stop: number }[];
  tokens: number;
}

/** Counts tokens and quotes as the model does that will read the text; every engine is one. */
export interface Quoter {
  quote(hits: Hit[], options?: QuoteOptions): Promise<Recalled>;
}

export interface RecallOptions extends Omit<SearchOptions, "limit">, QuoteOptions {
  /** The engine that will read it, whose tokens count; the memory's own unless given. */
  for?: Quoter;
}

export interface MemoryDocument {
  id: number;
  source: string;
  title: string;
  /** Seconds of 1970. */
  added: number;
  chunks: number;
  bytes: number;
  meta: Record<string, string>;
}

export interface MemoryList {
  documents: MemoryDocument[];
  /** The model that has made the vectors; absent in a store that never had a document. */
  model?: string;
  pooling?: string;
}

export interface RebuildOptions extends ChunkOptions, WithSignal {
  /** Documents. */
  onProgress?(progress: MemoryProgress): void;
}

/** A store of memories: a file of this browser's, the same as `tokamak memory` has. */
export interface DocumentMemory {
  readonly name: string;
  add(text: string | Blob, options?: AddOptions): Promise<Added>;
  /** Best first; near copies are left out. */
  search(query: string, options?: SearchOptions): Promise<Hit[]>;
  recall(query: string, options?: RecallOptions): Promise<Recalled>;
  list(filter?: MemoryFilter): Promise<MemoryList>;
  /** How many were deleted: no byte of their texts stays in the file. */
  forget(which: MemoryFilter | { all: true }): Promise<number>;
  /** Lines of JSON with texts and vectors, as `tokamak memory export` writes and `tokamak memory import` reads them. */
  export(filter?: MemoryFilter): Promise<Blob>;
  /** All of it or nothing; what is there already stays as it is. */
  import(file: Blob): Promise<{ added: number; known: number }>;
  /** Makes all chunks and vectors again by this engine's model; an interrupted one goes on. */
  rebuild(options?: RebuildOptions): Promise<void>;
}
