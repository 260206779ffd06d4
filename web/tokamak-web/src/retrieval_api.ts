// Types of the API: texts as vectors, and documents by how well they answer.

export interface EmbedOptions {
  prompt?: string;
  dimensions?: number;
  normalize?: boolean;
  truncate?: boolean;
  signal?: AbortSignal;
}

export interface RerankOptions {
  /** The instruction on what makes a document a good one, for models that take one; as trained unless given. */
  instruction?: string;
  /** Cut documents that do not fit; true unless given. */
  truncate?: boolean;
  /** How many are given at most. */
  limit?: number;
  signal?: AbortSignal;
}

/** A document by its place in the list. */
export interface Ranked {
  index: number;
  score: number;
}
